"""Looking for skills, nearest first, within bounds; whatever is not taken is named."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from itertools import chain, islice
from pathlib import Path

from steward.skills.catalog import Catalog, Shadow
from steward.skills.contain import Leaves, NotRegular, Place
from steward.skills.linked import NAMES
from steward.skills.places import SHELF, Places, Root
from steward.skills.skill import Broken, Mark, Skill, mark_at, mark_of, read_skill
from steward.skills.stray import is_stray
from steward.visible import line

STOPPED = "Looking for skills was stopped before its end; /skills looks again."
_PASSED = frozenset({"node_modules", "__pycache__"})


def discover(
    places: Places,
    focus: str = ".",
    known: Catalog | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Catalog:
    """Every skill that a conversation starting at ``focus`` can load; never raises for what is on the disk.

    Skills of ``known`` whose files have not changed are not read again. Once ``stop`` says so, what was found by then
    is all, and a note says that.
    """
    search = _Search(places, known, stop)
    roots = list(places.project(focus))
    if places.trusted:
        search.look(roots)
    elif any(root.place.path.is_dir() for root in roots):
        search.notes.append("Skills of this repository are not read, because it is not trusted.")
    search.look(chain(places.personal(), places.own()))
    if places.trusted:
        search.notice(places.elsewhere())
    return search.catalog()


class _Search:
    """One run of discovery: what was found, and how much of the bounds is used up."""

    def __init__(self, places: Places, known: Catalog | None, stop: Callable[[], bool]) -> None:
        self.notes: list[str] = []
        self._given_up = stop
        self._places = places
        self._known = {(skill.location, skill.place): skill for skill in known.skills} if known else {}
        self._found: dict[str, Skill] = {}
        self._broken: list[Broken] = []
        self._shadows: list[Shadow] = []
        self._shadowed: list[Skill] = []
        self._seen: set[tuple[int, int]] = set()
        self._folders = 0
        self._marks: dict[Path, Mark | None] = {}
        self._bytes = 0
        self._full = ""

    def notice(self, folders: Iterable[Place]) -> None:
        """Name folders of skills that other programs look in and the steward does not, where a skill is missed."""
        for place in folders:
            if self._misses(place.path):
                self.notes.append(
                    f"{self._places.shown(place)} is not looked in; skills.directories in your settings can name it."
                )

    def _misses(self, folder: Path) -> bool:
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in self._seen:
                return False
            with os.scandir(folder) as entries:
                names = [entry.name for entry in islice(entries, self._places.limits.skills)]
            return any(name not in self._found and (folder / name / NAMES[0]).is_file() for name in names)
        except (OSError, ValueError):
            return False

    def catalog(self) -> Catalog:
        skills = list(self._found.values())
        described = [skill for skill in skills if skill.description]
        silent = [skill for skill in skills if not skill.description]
        return Catalog(
            (*described, *silent),
            tuple(self._broken),
            tuple(self._shadows),
            tuple(self.notes),
            tuple(self._shadowed),
            tuple(self._marks.items()),
        )

    def look(self, roots: Iterable[Root]) -> None:
        for root in roots:
            if self._full:
                return
            self._folder(root, root.place, root.shown, "", 0)

    def _folder(self, root: Root, place: Place, shown: str, reached_as: str, depth: int) -> None:
        """Take the folder's own skill, or else look into the folders in it."""
        if self._given_up():
            self._stop(STOPPED)
            return
        try:
            with root.container.directory(place) as (descriptor, real):
                status = os.fstat(descriptor)
                names = os.listdir(descriptor)
        except (FileNotFoundError, NotADirectoryError, NotRegular):
            self._marks[place.path] = mark_at(place.path)
            if root.named and not depth:
                self.notes.append(f"{shown}, which skills.directories names, is no folder.")
            return
        except Leaves:
            self.notes.append(f"{shown} is a link that leads outside; it was not followed.{_instead(root)}")
            return
        except OSError:
            self._marks[place.path] = mark_at(place.path)
            self.notes.append(f"{shown} cannot be read.")
            return
        if (status.st_dev, status.st_ino) in self._seen:
            return
        self._seen.add((status.st_dev, status.st_ino))
        # Taken before the folder was listed: a change since then shows the next time.
        self._marks[real.path] = mark_of(status)
        self._folders += 1
        if self._folders > self._places.limits.folders:
            self._stop(f"Only the first {self._places.limits.folders} folders were searched for skills.")
            return
        file = next((name for name in NAMES if name in names), None)
        if file is not None:
            self._skill(root, real, shown, reached_as, file)
            if depth or real.path.name != SHELF:
                return
            self.notes.append(
                f"{shown}/{file} lies beside the folders of other skills; give it a folder of its own."
            )
        for name in sorted(names):
            if name in NAMES:
                continue
            if name.lower() in ("skill.md", "skills.md"):
                self.notes.append(f"{shown}/{_safe(name)} is not read; the file must be called SKILL.md.")
            elif not depth and is_stray(root.container, real.child(name), self._places.limits.skill_bytes):
                self.notes.append(
                    f"{shown}/{_safe(name)} is not read; a skill is a folder with a SKILL.md in it."
                )
        if depth >= self._places.limits.depth:
            return
        for name in sorted(names):
            if name.startswith(".") or name in _PASSED or self._full:
                continue
            if self._may_be_folder(root, real.child(name)):
                self._folder(root, real.child(name), f"{shown}/{_safe(name)}", name, depth + 1)

    def _may_be_folder(self, root: Root, place: Place) -> bool:
        try:
            mode = os.lstat(place.path).st_mode
        except (OSError, ValueError):
            return False
        return stat.S_ISDIR(mode) or stat.S_ISLNK(mode)

    def _skill(self, root: Root, real: Place, shown: str, reached_as: str, file: str) -> None:
        limits = self._places.limits
        if len(self._found) >= limits.skills:
            self._stop(f"Only the first {limits.skills} skills were read.")
            return
        if self._bytes >= limits.total_bytes:
            self._stop(f"Skills past {limits.total_bytes // 1024} KiB in all were not read.")
            return
        mark = self._marks[real.path / file] = mark_at(real.path / file)
        earlier = self._known.get((f"{shown}/{file}", real))
        if earlier is not None and earlier.mark == mark:
            self._take(earlier)
            return
        skill = read_skill(
            root.container,
            real,
            shown=shown,
            source=root.source,
            file=file,
            readable=self._places.readable(real),
            folder=reached_as,
            limit=limits.skill_bytes,
        )
        if isinstance(skill, Broken):
            self._broken.append(skill)
        else:
            self._take(skill)

    def _take(self, skill: Skill) -> None:
        self._bytes += skill.mark[2]
        if not self._places.allows(skill.source, skill.location, skill.digest):
            self.notes.append(
                f"{skill.location} is not used: it is new or has changed since you trusted this repository."
            )
            return
        nearer = self._found.get(skill.name)
        if nearer is None:
            self._found[skill.name] = skill
        else:
            self._shadows.append(Shadow(skill.name, nearer.location, skill.location))
            self._shadowed.append(skill)

    def _stop(self, sentence: str) -> None:
        if not self._full:
            self._full = sentence
            self.notes.append(sentence)


def _instead(root: Root) -> str:
    if root.source != "user":
        return ""
    return " Here a link may lead to the folder of one skill; skills.directories names whole folders of them."


def _safe(name: str) -> str:
    """A file name that can be shown in one line: bytes that are no text become U+FFFD, hidden characters are drawn."""
    return line(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
