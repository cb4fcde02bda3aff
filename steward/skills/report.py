"""Skills in words and in JSON, for the command line, for ``/skills`` and for authors."""

from __future__ import annotations

from collections.abc import Collection

from steward.conversation import JsonObject
from steward.skills.catalog import Catalog
from steward.skills.check import Checked
from steward.skills.diagnostic import Diagnostic
from steward.skills.skill import Broken, Skill


def shape(skill: Skill | Broken, loaded: Collection[str] = (), shadows: Collection[str] = ()) -> JsonObject:
    """One skill as ``steward skills --json`` gives it; ``shadows`` are files that it hides."""
    usable = skill if isinstance(skill, Skill) else None
    return {
        "name": skill.name,
        "description": usable.description if usable else "",
        "location": skill.location,
        "source": skill.source,
        "allowed_tools": None if usable is None or usable.rules is None else list(usable.allowed_tools),
        "unavailable_tools": list(usable.unavailable) if usable else [],
        "by_hand": usable is not None and usable.by_hand,
        "loadable": usable is not None,
        "valid": skill.valid,
        "loaded": usable is not None and skill.name in loaded,
        "shadows": list(shadows),
        "license": usable.license if usable else "",
        "compatibility": usable.compatibility if usable else "",
        "metadata": dict(usable.metadata) if usable else {},
        "characters": usable.body_characters if usable else 0,
        "sha256": usable.digest if usable else None,
        "diagnostics": [_diagnostic(found) for found in skill.diagnostics],
    }


def catalog_shape(catalog: Catalog, loaded: Collection[str] = ()) -> list[JsonObject]:
    """All that discovery found, as ``steward skills --json`` gives it."""
    return [
        *(shape(skill, loaded, _hidden(catalog, skill)) for skill in catalog.skills),
        *(shape(broken) for broken in catalog.broken),
    ]


def checked_shape(checked: Checked) -> JsonObject:
    """All that checking found, as ``steward skills check --json`` gives it."""
    return {
        "valid": checked.valid,
        "errors": len(checked.errors),
        "warnings": len(checked.warnings),
        "skills": [_checked(skill) for skill in checked.skills],
        "notes": list(checked.notes),
    }


def catalog_lines(catalog: Catalog, loaded: Collection[str] = ()) -> list[str]:
    """All that discovery found, in lines for a person; to be passed through ``visible``."""
    lines: list[str] = []
    for skill in catalog.skills:
        state = ", loaded" if skill.name in loaded else ""
        lines.append(f"{skill.name}  ({skill.source}, {skill.location}{state})")
        lines.append(f"    {skill.description or '(no description)'}")
        if skill.by_hand:
            lines.append(f"    only loaded by hand: /skill {skill.name}")
        if skill.rules is not None:
            lines.append(f"    locks the turn to: {' '.join(skill.allowed_tools) or 'no tool'}")
        lines += [f"    shadows {path}" for path in _hidden(catalog, skill)]
        lines += _findings(skill.diagnostics)
    for broken in catalog.broken:
        lines.append(f"{broken.name}  (cannot be loaded, {broken.location})")
        lines += _findings(broken.diagnostics)
    lines += catalog.notes
    return lines or ["There are no skills."]


def checked_lines(checked: Checked) -> list[str]:
    """All that checking found, errors before warnings, in lines for a person; to be passed through ``visible``."""
    lines = [_located(path, found) for path, found in (*checked.errors, *checked.warnings)]
    lines += checked.notes
    invalid = sum(not skill.valid for skill in checked.skills)
    lines.append(
        f"{_count(len(checked.skills), 'skill')} checked, {invalid} invalid: "
        f"{_count(len(checked.errors), 'error')}, {_count(len(checked.warnings), 'warning')}."
    )
    return lines


def _located(path: str, found: Diagnostic) -> str:
    at = f"{path}:{found.line}" if found.line else path
    return f"{at}: {_word(found)}: {found.sentence} [{found.code}]"


def _findings(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [
        f"    {_word(d)}{f' on line {d.line}' if d.line else ''}: {d.sentence} [{d.code}]"
        for d in diagnostics
    ]


def _word(found: Diagnostic) -> str:
    return "error" if found.error else "warning"


def _hidden(catalog: Catalog, skill: Skill) -> list[str]:
    return [s.hidden for s in catalog.shadows if (s.name, s.used) == (skill.name, skill.location)]


def _checked(skill: Skill | Broken) -> JsonObject:
    return {
        "name": skill.name,
        "location": skill.location,
        "valid": skill.valid,
        "loadable": isinstance(skill, Skill),
        "diagnostics": [_diagnostic(found) for found in skill.diagnostics],
    }


def _diagnostic(found: Diagnostic) -> JsonObject:
    return {"code": found.code, "level": found.level, "line": found.line or None, "sentence": found.sentence}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
