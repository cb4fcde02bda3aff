"""``propose``: a unified diff from git, or from another agent, becomes a pending change."""

from __future__ import annotations

from pathlib import Path

import click

from steward.cli import output, shapes
from steward.cli.house import rooms
from steward.cli.named_file import read_named, read_standard_input
from steward.cli.options import GivenPath, Options, global_options
from steward.cli.recovery import recovered


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

    data = read_standard_input(MAX_BYTES) if str(patch) == "-" else read_named(patch, MAX_BYTES)
    name = "standard input" if str(patch) == "-" else patch.name
    with rooms(options) as house:
        with recovered(house):
            made = import_patch(house, data, title=title, name=name)
        view = next(view for view in house.changes.listed() if view.proposal.id == made.id)
    if as_json:
        output.say_json(shapes.change(view))
    else:
        output.say(
            f"{made.id} is pending ({output.plural(len(made.files), 'file')}, +{view.added} -{view.removed}); "
            f"read and apply it with: steward apply-change {made.id}"
        )
