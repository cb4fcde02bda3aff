"""Skills over the length of a conversation: those of directories reached later, and changes on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from steward.skills.catalog import Catalog, line
from steward.skills.discover import discover
from steward.skills.places import Places
from steward.skills.skill import Skill, mark_of

MAX_ANNOUNCED = 2_000
"""Characters of one announcement; past them names stand alone."""


class Reach:
    """The catalog of one conversation as it grows; what was announced once is not announced again."""

    def __init__(self, catalog: Catalog, places: Places | None) -> None:
        self.catalog = catalog
        self._places = places
        self._seen: tuple[object, ...] = ()

    def allows(self, skill: Skill, digest: str) -> bool:
        """Whether the skill may be loaded as it is on disk now."""
        return self._places is None or self._places.allows(skill.source, skill.location, digest)

    def announce(self, path: str, loaded: tuple[str, ...]) -> str:
        """Lines about skills that are new, changed or gone now that a tool touched ``path``; empty for none."""
        if self._places is None:
            return ""
        state = self._look(path)
        if state == self._seen:
            return ""
        before = self.catalog
        found = discover(self._places, path, before)
        known = {skill.name: skill for skill in before.skills}
        fresh = [s for s in found.skills if s.name not in known]
        changed = [s for s in found.skills if s.name in known and _differs(known[s.name], s)]
        names = {skill.name for skill in found.skills}
        kept = [s for s in before.skills if s.name not in names and _mark(s) is not None]
        gone = [s for s in before.skills if s.name not in names and _mark(s) is None]
        described = [s for s in (*found.skills, *kept) if s.description]
        silent = [s for s in (*found.skills, *kept) if not s.description]
        self.catalog = Catalog((*described, *silent), found.broken, found.shadows, found.notes, found.folders)
        self._seen = self._look(path)
        return _words(fresh, changed, gone, loaded)

    def _look(self, path: str) -> tuple[object, ...]:
        """What must differ for a new look at the folders to find anything new."""
        assert self._places is not None
        roots = [*self._places.project(path), *self._places.personal()]
        there = tuple((root.shown, mark) for root in roots if (mark := _folder_mark(root.place.path)))
        below = tuple(_folder_mark(folder) for folder in self.catalog.folders)
        return (there, below, tuple((skill.location, _mark(skill)) for skill in self.catalog.skills))


def _differs(old: Skill, new: Skill) -> bool:
    return (old.location, old.digest) != (new.location, new.digest)


def _mark(skill: Skill) -> tuple[int, ...] | None:
    if skill.place is None:
        return ()
    try:
        return mark_of(os.stat(skill.place.path / skill.file))
    except OSError:
        return None


def _folder_mark(path: Path) -> tuple[int, ...] | None:
    try:
        return mark_of(os.stat(path))
    except OSError:
        return None


def _words(fresh: list[Skill], changed: list[Skill], gone: list[Skill], loaded: tuple[str, ...]) -> str:
    lines: list[str] = []
    if fresh:
        lines.append("More skills can be loaded from here on:")
        lines += _listed(fresh)
    for skill in changed:
        again = "; load it again before you follow it" if skill.name in loaded else ""
        lines.append(f"The skill {skill.name!r} is now the one in {skill.location}{again}.")
    for skill in gone:
        lines.append(f"The skill {skill.name!r} is gone.")
    return "\n".join(lines)


def _listed(skills: list[Skill]) -> list[str]:
    full = [line(skill) for skill in skills]
    if sum(map(len, full)) <= MAX_ANNOUNCED:
        return full
    names = ", ".join(skill.name for skill in skills)
    return [names if len(names) <= MAX_ANNOUNCED else names[:MAX_ANNOUNCED] + "…"]
