"""``changes`` and ``show-change``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from steward.cli import output, shapes
from steward.cli.completing import change_ids
from steward.cli.diff_text import review_text
from steward.cli.house import rooms
from steward.cli.options import Options, global_options
from steward.cli.recovery import recovered
from steward.proposals import short
from steward.visible import line

if TYPE_CHECKING:
    from steward.service.views import ChangeView, Happening


@click.command()
@click.option(
    "--all", "everything", is_flag=True, help="Applied, discarded and undone changes too, with their history."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@global_options
def changes(options: Options, everything: bool, as_json: bool) -> None:
    """List the pending changes, newest first."""
    with rooms(options) as house, recovered(house):
        views = house.changes.listed(everything)
        history = house.changes.history() if everything else None
    for warning in history.warnings if history else ():
        output.note(f"Warning: {line(warning)}")
    happened: dict[str, list[Happening]] = {}
    for logged in history.lines if history else ():
        happened.setdefault(logged.change, []).append(logged)
    if as_json:
        output.say_json(
            [
                shapes.change(view)
                | ({"history": shapes.history(happened.get(view.proposal.id, []))} if history else {})
                for view in views
            ]
        )
    elif not views:
        output.say("There are no changes." if everything else "No change is pending.")
    else:
        output.say(output.table([row for view in views for row in _rows(view, happened)]))


def _rows(view: ChangeView, happened: dict[str, list[Happening]]) -> Iterator[list[str]]:
    proposal = view.proposal
    state = "stale" if view.stale else proposal.status
    count = f"+{view.added} −{view.removed}"
    yield [proposal.id, proposal.short_stamp, state, count, proposal.title or "(no title)"]
    for file, counted in zip(proposal.files, view.counts, strict=True):
        name = file.path if file.old_path is None else f"{file.old_path} → {file.path}"
        yield ["", "", "", f"+{counted.added} −{counted.removed}", f"{file.action} {name}"]
    for logged in happened.get(proposal.id, []):
        yield ["", short(logged.stamp), logged.kind, "", logged.at]


@click.command("show-change")
@click.argument("change", required=False, metavar="[ID]", shell_complete=change_ids())
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the patch as `diff`.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "patch"]),
    default="text",
    help="A text for people, or a patch that git apply takes.",
)
@global_options
def show_change(options: Options, change: str | None, as_json: bool, form: str) -> None:
    """Show a change as a diff; without ID the newest pending one."""
    from steward.proposals import patch_text

    with rooms(options) as house:
        review = house.changes.review(change)
        house.changes.shown(review.proposal)
    if as_json:
        patch = patch_text(review.proposal)
        shape = shapes.change(review)
        shape["diff"] = patch.decode("utf-8", "surrogateescape")
        output.say_json(shape)
    elif form == "patch":
        output.say_bytes(patch_text(review.proposal))
    else:
        output.say_diff(review_text(review))
