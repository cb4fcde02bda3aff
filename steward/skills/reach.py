"""Skills over the length of a conversation: those of directories reached later, and changes on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from steward.skills.catalog import Catalog, line, listed
from steward.skills.discover import discover
from steward.skills.places import Places
from steward.skills.skill import Skill, mark_at

MAX_ANNOUNCED = 2_000
"""Characters of one announcement; past them names stand alone."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a look at the disk found."""

    catalog: Catalog
    path: str
    """From where it was looked."""
    folders: tuple[Path, ...]
    """The repository's folders of skills that were there for that path."""


class Reach:
    """The catalog of one conversation as it grows, and what of it the model has been told.

    ``look`` reads the disk and changes nothing, so that it can run in a thread and be given up; ``take`` and ``news``
    are quick.
    """

    def __init__(self, catalog: Catalog, places: Places | None, listing: str = "") -> None:
        """``catalog`` is what the model is told of from the start, or ``listing``, when it was made of another one."""
        self.catalog = catalog
        self._places = places
        self._path = "."
        self._folders: tuple[Path, ...] | None = None
        self._told = {skill.name: _which(skill) for skill in catalog.offered}
        if listing:
            same = listed(listing, catalog)
            self._told = {name: self._told.get(name, _NOWHERE) if same[name] else _NOWHERE for name in same}

    def move(self, places: Places) -> None:
        """Look in other places from now on: what may be used has changed."""
        self._places, self._folders = places, None

    def allows(self, skill: Skill, digest: str) -> bool:
        """Whether the skill may be loaded as it is on disk now."""
        return self._places is None or self._places.allows(skill.source, skill.location, digest)

    def look(self, *paths: str, stop: Callable[[], bool] = lambda: False) -> Sight | None:
        """What there is once ``paths`` (none: the last one again) were touched; ``None`` for nothing new.

        What comes after ``stop`` has said so is of no use.
        """
        if self._places is None:
            return None
        places, sight = self._places, Sight(self.catalog, self._path, self._folders or ())
        looked = self._folders is not None
        for path in paths or (self._path,):
            folders = tuple(r.place.path for r in places.project(path) if mark_at(r.place.path) is not None)
            if looked and folders == sight.folders and not _changed(sight.catalog):
                sight = replace(sight, path=path)
                continue
            found = discover(places, path, sight.catalog, stop)
            looked, sight = True, Sight(self._joined(found, sight.catalog), path, folders)
        return sight

    def take(self, sight: Sight | None) -> None:
        """Go on with what ``look`` found."""
        if sight is not None:
            self.catalog, self._path, self._folders = sight.catalog, sight.path, sight.folders

    def news(self, loaded: tuple[str, ...]) -> str:
        """Lines for the model about skills that are new, changed or gone since it was told; empty for none."""
        skills = self.catalog.offered
        here = {skill.name: _which(skill) for skill in skills}
        if here == self._told:
            return ""
        told, self._told = self._told, here
        fresh = [skill for skill in skills if skill.name not in told]
        changed = [s for s in skills if s.name in told and told[s.name] != here[s.name]]
        return _words(fresh, changed, [name for name in told if name not in here], loaded)

    def _joined(self, found: Catalog, before: Catalog) -> Catalog:
        """``found``, with the skills of directories that were reached earlier and are still there."""
        names, looked = {skill.name for skill in found.skills}, {path for path, _ in found.marks}
        kept = [s for s in before.skills if s.name not in names and self._stays(s, looked)]
        if not kept:
            return found
        whole = (*found.skills, *kept)
        described = tuple(skill for skill in whole if skill.description)
        silent = tuple(skill for skill in whole if not skill.description)
        files = (s.place.path / s.file for s in kept if s.place is not None)
        marks = ((file, mark_at(file)) for file in files)
        return replace(found, skills=(*described, *silent), marks=(*found.marks, *marks))

    def _stays(self, skill: Skill, looked: set[Path]) -> bool:
        """Whether a skill that was not found from here is only out of sight, and not gone, broken or withdrawn."""
        if skill.place is None:
            return True
        file = skill.place.path / skill.file
        return file not in looked and mark_at(file) is not None and self.allows(skill, skill.digest)


_NOWHERE = ("", "")


def _which(skill: Skill) -> tuple[str, str]:
    return skill.location, skill.digest


def _changed(catalog: Catalog) -> bool:
    return any(mark_at(path) != mark for path, mark in catalog.marks)


def _words(
    fresh: Iterable[Skill], changed: Iterable[Skill], gone: Iterable[str], loaded: tuple[str, ...]
) -> str:
    lines: list[str] = []
    if new := list(fresh):
        lines.append("More skills can be loaded from here on:")
        lines += _listed(new)
    for skill in changed:
        again = "; load it again before you follow it" if skill.name in loaded else ""
        lines.append(f"The skill {skill.name!r} is now the one in {skill.location}{again}.")
    lines += [f"The skill {name!r} is gone." for name in gone]
    return "\n".join(lines)


def _listed(skills: list[Skill]) -> list[str]:
    full = [line(skill) for skill in skills]
    if sum(map(len, full)) <= MAX_ANNOUNCED:
        return full
    names = ", ".join(skill.name for skill in skills)
    return [names if len(names) <= MAX_ANNOUNCED else names[:MAX_ANNOUNCED] + "…"]
