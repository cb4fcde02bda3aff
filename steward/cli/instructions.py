"""``instructions``: which documents govern a path, in order, and what was left out and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.completing import paths
from steward.cli.house import rooms, target_in
from steward.cli.options import GivenPath, Options, further_texts, global_options
from steward.visible import line

if TYPE_CHECKING:
    from steward.agents_md import Resolution


@click.command()
@click.argument("path", required=False, shell_complete=paths)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--read",
    "reads",
    metavar="FILE",
    multiple=True,
    type=GivenPath(),
    callback=further_texts,
    help="A further document; a directory means its files. May be repeated.",
)
@global_options
def instructions(options: Options, path: str | None, as_json: bool, reads: tuple[Path, ...]) -> None:
    """Show which AGENTS.md documents govern PATH, broadest first.

    PATH need not exist. It is relative to the current directory, or to the workspace when --workspace is given.
    """
    with rooms(options, reads) as house:
        found = house.resolver.resolve(target_in(house.workspace.root, options, path))
        notices = house.notices
    if as_json:
        output.say_json(found.to_json())
    else:
        output.say(explain(found))
    for sentence in notices:
        output.note(sentence)


def explain(found: Resolution) -> str:
    """The resolution in words."""
    if not found.enabled:
        return "Instructions are switched off in the configuration; no document is loaded."
    rows = [f"Target {line(found.target)}, boundary {line(found.boundary)}, outcome {found.outcome}."]
    if found.documents:
        cells = [
            [
                f"{number}.",
                document.path,
                document.kind,
                f"governs {document.scope}",
                _size(document.bytes, document.tokens),
            ]
            for number, document in enumerate(found.documents, 1)
        ]
        rows += [
            output.table(cells, indent="  "),
            f"The closest wins. Together {_size(found.size, found.tokens)}.",
        ]
    else:
        rows.append("No document governs it.")
    for limit in found.limits:
        rows.append(
            f"Limit: {limit.outcome} of {limit.limit}; {output.plural(limit.accepted, 'document')} kept."
        )
    rows += [line(f"Left out: {skipped.path}: {skipped.reason}") for skipped in found.skipped]
    rows += [line(f"Note: {note.path}: {note.text}") for note in found.notes]
    return "\n".join(rows)


def _size(size: int, tokens: int) -> str:
    return f"{output.plural(size, 'byte')}, about {output.plural(tokens, 'token')}"
