"""``skills``: what there is, where from, and what is wrong with any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.conversation import JsonObject

if TYPE_CHECKING:
    from steward.skills import Broken, Catalog, Diagnostic, Skill


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@global_options
def skills(options: Options, as_json: bool) -> None:
    """List the skills, nearest first, with what is wrong with any of them."""
    from steward.cli.house import rooms
    from steward.skills import discover

    with rooms(options) as house:
        catalog = discover(house.skill_places())
    if as_json:
        output.say_json([*map(_skill, catalog.skills), *map(_broken, catalog.broken)])
    else:
        output.say(_text(catalog))


def _skill(skill: Skill) -> JsonObject:
    return {
        "name": skill.name,
        "description": skill.description,
        "location": skill.location,
        "source": skill.source,
        "allowed_tools": None if skill.rules is None else list(skill.allowed_tools),
        "loadable": True,
        "valid": skill.valid,
        "diagnostics": _findings(skill.diagnostics),
    }


def _broken(broken: Broken) -> JsonObject:
    return {
        "name": broken.name,
        "description": "",
        "location": broken.location,
        "source": broken.source,
        "allowed_tools": None,
        "loadable": False,
        "valid": False,
        "diagnostics": _findings(broken.diagnostics),
    }


def _findings(diagnostics: tuple[Diagnostic, ...]) -> list[JsonObject]:
    return [{"code": d.code, "level": d.level, "sentence": d.sentence} for d in diagnostics]


def _text(catalog: Catalog) -> str:
    rows: list[str] = []
    for skill in catalog.skills:
        lock = "" if skill.rules is None else f" [only {', '.join(skill.allowed_tools) or 'no tools'}]"
        rows.append(f"{skill.name}{lock}: {skill.description or '(no description)'}")
        rows.append(f"  {skill.location}")
        rows += [f"  {d.level}: {d.sentence}" for d in skill.diagnostics]
    for broken in catalog.broken:
        rows.append(f"{broken.name}: cannot be loaded")
        rows.append(f"  {broken.location}")
        rows += [f"  {d.level}: {d.sentence}" for d in broken.diagnostics]
    rows += [shadow.sentence for shadow in catalog.shadows]
    rows += catalog.notes
    return "\n".join(rows) or "There are no skills."
