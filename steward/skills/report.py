"""Skills in words and in JSON, for the command line and for ``/skills``."""

from __future__ import annotations

from collections.abc import Collection

from steward.conversation import JsonObject
from steward.skills.catalog import Catalog
from steward.skills.check import Checked
from steward.skills.diagnostic import Diagnostic
from steward.skills.skill import Broken, Skill

_MARKS = {"fatal": "✗", "fault": "!", "note": "·"}


def shape(skill: Skill | Broken, loaded: Collection[str] = ()) -> JsonObject:
    """One skill as ``steward skills --json`` gives it."""
    if isinstance(skill, Broken):
        return {
            "name": skill.name,
            "source": skill.source,
            "location": skill.location,
            "description": "",
            "loadable": False,
            "valid": False,
            "diagnostics": _diagnostics(skill.diagnostics),
        }
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source,
        "location": skill.location,
        "loadable": True,
        "valid": skill.valid,
        "loaded": skill.name in loaded,
        "allowed_tools": None if skill.rules is None else list(skill.allowed_tools),
        "unavailable_tools": list(skill.unavailable),
        "license": skill.license,
        "compatibility": skill.compatibility,
        "metadata": dict(skill.metadata),
        "characters": skill.body_characters,
        "sha256": skill.digest,
        "diagnostics": _diagnostics(skill.diagnostics),
    }


def catalog_shape(catalog: Catalog, loaded: Collection[str] = ()) -> JsonObject:
    """All that discovery found, as ``steward skills --json`` gives it."""
    return {
        "skills": [shape(skill, loaded) for skill in catalog.skills],
        "broken": [shape(broken) for broken in catalog.broken],
        "shadows": [{"name": s.name, "used": s.used, "hidden": s.hidden} for s in catalog.shadows],
        "notes": list(catalog.notes),
    }


def checked_shape(checked: Checked) -> JsonObject:
    """All that checking found, as ``steward skills check --json`` gives it."""
    return {
        "valid": checked.valid,
        "skills": [shape(skill) for skill in checked.skills],
        "notes": list(checked.notes),
    }


def catalog_lines(catalog: Catalog, loaded: Collection[str] = ()) -> list[str]:
    """All that discovery found, in lines for a person; to be passed through ``visible``."""
    lines: list[str] = []
    for skill in catalog.skills:
        state = ", loaded" if skill.name in loaded else ""
        lines.append(f"{skill.name}  ({skill.source}, {skill.location}{state})")
        lines.append(f"    {skill.description or '(no description)'}")
        if skill.rules is not None:
            lines.append(f"    locks the turn to: {' '.join(skill.allowed_tools) or 'no tool'}")
        lines += _findings(skill.diagnostics)
    for broken in catalog.broken:
        lines.append(f"{broken.name}  (not loaded, {broken.location})")
        lines += _findings(broken.diagnostics)
    lines += [shadow.sentence for shadow in catalog.shadows]
    lines += catalog.notes
    return lines or ["There are no skills."]


def checked_lines(checked: Checked) -> list[str]:
    """All that checking found, in lines for a person; to be passed through ``visible``."""
    lines: list[str] = []
    for skill in checked.skills:
        lines.append(f"{'valid  ' if skill.valid else 'INVALID'}  {skill.location}")
        lines += _findings(skill.diagnostics)
    lines += checked.notes
    invalid = sum(not skill.valid for skill in checked.skills)
    lines.append(f"{len(checked.skills)} skills checked, {invalid} invalid.")
    return lines


def _findings(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [f"    {_MARKS[d.level]} {d.sentence} [{d.code}]" for d in diagnostics]


def _diagnostics(diagnostics: tuple[Diagnostic, ...]) -> list[JsonObject]:
    return [{"code": d.code, "level": d.level, "sentence": d.sentence} for d in diagnostics]
