"""``skills``: what there is, where from, and what is wrong with any; and the check for those who write them."""

from __future__ import annotations

from pathlib import Path

import click

from steward.cli import output
from steward.cli.completing import session_ids
from steward.cli.options import GivenPath, Options, global_options
from steward.errors import NoSuchThing, NothingYet, UsageError


@click.command()
@click.argument("action", required=False, type=click.Choice(["list", "check"]), default="list")
@click.argument("directory", required=False, metavar="[DIR]", type=GivenPath())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="With check: warnings fail too.")
@click.option(
    "--session",
    metavar="SESSION",
    shell_complete=session_ids,
    help="Mark the skills that this session has loaded; its id may be shortened.",
)
@global_options
def skills(
    options: Options, action: str, directory: Path | None, as_json: bool, strict: bool, session: str | None
) -> int:
    """List the skills, nearest first, with what is wrong with any of them; or check those in a directory.

    check reads every SKILL.md in DIR (the current directory) and below: a skill's folder, a folder of skills or a
    whole repository, trusted or not. Each finding is one line, PATH:LINE: error or warning, errors first. Exit codes:
    0 every skill is valid, 1 one is not (or, with --strict, has a warning), 2 wrong usage, 4 no such directory, or no
    SKILL.md in it.
    """
    if action == "check":
        if session is not None:
            raise UsageError("check takes no --session.")
        return _check(directory or options.workspace or Path(), as_json, strict)
    if directory is not None or strict:
        raise UsageError("Only check takes a directory or --strict; see steward skills --help")
    _list(options, as_json, session)
    return 0


def _list(options: Options, as_json: bool, session: str | None) -> None:
    from steward.cli.house import rooms
    from steward.skills import discover
    from steward.skills.report import catalog_lines, catalog_shape

    with rooms(options) as house:
        catalog = discover(house.skill_places())
        state = house.sessions.find(session).state if session is not None else {}
        notices = house.notices
    loaded = tuple(state.get("skill", {}).get("loaded", {}))
    if as_json:
        output.say_json(catalog_shape(catalog, loaded))
        notices = (*notices, *catalog.notes)
    else:
        output.say("\n".join(catalog_lines(catalog, loaded)))
    for sentence in notices:
        output.note(sentence)


def _check(directory: Path, as_json: bool, strict: bool) -> int:
    from steward.skills.check import check
    from steward.skills.report import checked_lines, checked_shape

    if not _is_there(directory):
        raise NoSuchThing("directory", directory.name or str(directory))
    checked = check(directory)
    if as_json:
        output.say_json(checked_shape(checked))
    else:
        output.say("\n".join(checked_lines(checked)))
    if not checked.skills:
        where = directory.resolve().name or "this directory"
        raise NothingYet("SKILL.md", f"There is no SKILL.md in {where} or below.")
    return 0 if checked.valid and not (strict and checked.warnings) else 1


def _is_there(path: Path) -> bool:
    """Whether there is such a directory, or the file of a skill; a name that is too long is neither."""
    from steward.skills.linked import NAMES

    try:
        return path.is_dir() or (path.name in NAMES and path.is_file())
    except OSError:
        return False
