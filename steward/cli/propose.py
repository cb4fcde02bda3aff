"""``propose``: a unified diff from git, or from another agent, becomes a pending change."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from steward.cli import output, shapes
from steward.cli.house import rooms
from steward.cli.named_file import read_named
from steward.cli.options import GivenPath, Options, global_options
from steward.errors import UsageError


@click.command()
@click.option(
    "--patch",
    metavar="FILE",
    required=True,
    type=GivenPath(dash=True),
    help="A unified diff; - reads standard input.",
)
@click.option("--title", default="", metavar="TEXT", help="What the change is called.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@global_options
def propose(options: Options, patch: Path, title: str, as_json: bool) -> None:
    """Turn a patch into a pending change, to be read and applied like any other.

    Nothing is written to the repository. All of the patch must fit the files as they are, or nothing is proposed.
    """
    from steward.service.importing import MAX_BYTES, import_patch

    data = _read(patch, MAX_BYTES)
    name = "standard input" if str(patch) == "-" else patch.name
    with rooms(options) as house:
        for note in house.changes.recover():
            output.note(f"Warning: {note}")
        made = import_patch(house, data, title=title, name=name)
        view = next(view for view in house.changes.listed() if view.proposal.id == made.id)
    if as_json:
        output.say_json(shapes.change(view))
    else:
        output.say(
            f"{made.id} is pending ({output.plural(len(made.files), 'file')}, +{view.added} -{view.removed}); "
            f"read and apply it with: steward apply-change {made.id}"
        )


def _read(patch: Path, limit: int) -> bytes:
    if str(patch) != "-":
        return read_named(patch, limit)
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise UsageError(f"The patch cannot be read: {(error.strerror or 'error').lower()}.") from None
    if len(data) > limit:
        raise UsageError(f"The patch is larger than {limit} bytes.")
    return data
