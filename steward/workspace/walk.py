"""Walking a tree by descriptors; what is ignored or out of bounds is left out and counted."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from steward.workspace.engine import OPEN_DIRECTORY, Engine
from steward.workspace.git import Git
from steward.workspace.ignore import Chain
from steward.workspace.path import RepoPath, is_text
from steward.workspace.place import Decision, Place, place_of
from steward.workspace.policy import Area, looks_secret
from steward.workspace.values import Kind

MAX_UNNAMED = 100


class Bounds(Protocol):
    """What a walk asks the workspace."""

    def area(self, path: RepoPath) -> Area | None:
        """Whether the path is out of bounds by its name."""
        ...

    def plain(self, above: tuple[str, ...], names: str) -> bool:
        """Whether no name in the directory ``above`` can be out of bounds but by ``denied``; see ``all_plain``."""
        ...

    @property
    def denied(self) -> Chain:
        """Rules that put whatever they match out of bounds."""
        ...


@dataclass(slots=True)
class LeftOut:
    """How many entries a walk did not give, by reason; of a directory left out only the directory counts."""

    ignored: int = 0
    protected: int = 0
    secret: int = 0
    other_mounts: int = 0
    unreadable: int = 0
    unnamed: int = 0
    """Names that are not UTF-8; they cannot be addressed."""
    not_applied: int = 0
    """Ignore files that are links, too large or unreadable; git does not follow links there either."""
    vanished: int = 0
    """Directories that went away or became something else meanwhile."""

    @property
    def total(self) -> int:
        """All of them."""
        return (
            self.ignored
            + self.protected
            + self.secret
            + self.other_mounts
            + self.unreadable
            + self.unnamed
            + self.vanished
        )


@dataclass(slots=True)
class WalkOptions:
    """How far a walk goes. ``depth`` 1 is the directory itself; ``stop`` is asked before each directory."""

    depth: int | None = None
    ignore: bool = True
    secrets: bool = False
    stop: Callable[[], bool] | None = None


Run = tuple[str, list[str], Kind, bool]
"""Where the entries stand (empty, or with a slash at its end), their names, their kind, and whether noted."""


_Step = tuple[Run, Place | None]
"""A run, and of a directory its place."""


class TreeWalk:
    """An iterator over ``(path, kind)`` in order of names, each directory before what it holds; used once."""

    def __init__(
        self, engine: Engine, git: Git, bounds: Bounds, start: RepoPath, options: WalkOptions
    ) -> None:
        self.left_out = LeftOut()
        self.unnamed: list[tuple[RepoPath, str]] = []
        """The first names that are not UTF-8, each with its directory."""
        self._engine = engine
        self._tracked = functools.cache(git.tracked)
        self._bounds = bounds
        self._denied = bounds.denied
        self._device = engine.device
        self._options = options
        place = place_of(engine, git, start.parts) if options.ignore else None
        self._place = place or Place(start.parts)
        self._rules = place is not None and not place.tracked_only
        self.asked_for_ignored = options.ignore and not self._rules
        """Whether the start itself is ignored, so that ignore files were not applied beneath it."""

    @property
    def simple_rules(self) -> tuple[str, ...]:
        """Lines of ignore files, read from the top, that ignore something and that any program reads alike.

        Whatever one of them matches and is given all the same is given as noted.
        """
        if not self._rules:
            return ()
        place = self._place
        if not place.parts:
            place = self._governed(place)
        rules = [rule for g in place.chain if g.depth == 0 and not g.above for rule in g.rules.rules]
        return tuple(dict.fromkeys(rule.simple for rule in rules if rule.simple))

    def __iter__(self) -> Iterator[tuple[RepoPath, Kind]]:
        for path, kind, _ in self.entries():
            yield RepoPath(tuple(path.split("/"))), kind

    def entries(self) -> Iterator[tuple[str, Kind, bool]]:
        """What there is: path, kind, and whether it is noted; see ``runs``."""
        for above, names, kind, noted in self.runs():
            for name in names:
                yield above + name, kind, noted

    def runs(self) -> Iterator[Run]:
        """What there is in runs of entries in one directory, all of one kind.

        Noted is what some rule matches, or a directory above it, and is kept all the same: by another rule, by
        git's index, or because it is an example of a file that would be secret; and what is on another device.
        """
        options = self._options
        stack = [iter(self._level(self._place))]
        while stack:
            for run, below in stack[-1]:
                yield run
                if below is None or len(stack) == options.depth:
                    continue
                if options.stop is not None and options.stop():
                    return
                stack.append(iter(self._level(below)))
                break
            else:
                stack.pop()

    def _level(self, place: Place) -> list[_Step]:
        """The entries of one directory in runs, each directory among them with its place."""
        try:
            descriptor = self._engine.open(place.parts, OPEN_DIRECTORY)
        except OSError as error:
            self._count(error)
            return []
        others: dict[str, Kind] = {}
        try:
            elsewhere = os.fstat(descriptor).st_dev != self._device
            with os.scandir(descriptor) as entries:
                found = list(entries)
            names = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
            if len(names) < len(found):
                others = {e.name: _kind(e) for e in found if not e.is_file(follow_symlinks=False)}
                names += others
            names.sort()
            joined = f"/{'/'.join(names)}/"
            if self._rules:
                place, refused = place.governed(descriptor, joined, others)
                self.left_out.not_applied += refused
        except OSError as error:
            self._count(error)
            return []
        finally:
            os.close(descriptor)
        examples: set[str] = set()
        if self._denied:
            names = self._not_denied(place.parts, names, joined)
        if not (joined.isascii() and self._bounds.plain(place.parts, joined)):
            names = self._in_bounds(place.parts, names, examples)
        above = "/".join((*place.parts, ""))
        said: dict[str, Decision] = {}
        if self._rules and (said := place.decisions(names, others, joined, above, self._tracked)):
            ignored = {name for name, decision in said.items() if decision == "ignored"}
            names = [name for name in names if name not in ignored]
            self.left_out.ignored += len(ignored)
            said = {name: decision for name, decision in said.items() if decision != "ignored"}
        return self._runs(place, above, names, others, said, examples, place.noted or elsewhere)

    def _runs(
        self,
        place: Place,
        above: str,
        names: list[str],
        others: dict[str, Kind],
        said: dict[str, Decision],
        examples: set[str],
        noted: bool,
    ) -> list[_Step]:
        steps: list[_Step] = []
        at = 0
        odd = {*others, *said, *examples}
        for name in sorted(odd.intersection(names)) if odd else ():
            here = names.index(name, at)
            if at < here:
                steps.append(((above, names[at:here], "file", noted), None))
            at = here + 1
            kind = others.get(name, "file")
            marked = noted or name in said or name in examples
            below = place.below(name, said.get(name), marked) if kind == "directory" else None
            steps.append(((above, [name], kind, marked), below))
        if at < len(names):
            steps.append(((above, names[at:], "file", noted), None))
        return steps

    def _not_denied(self, above: tuple[str, ...], names: list[str], joined: str) -> list[str]:
        at = "/".join((*above, ""))
        said = Place(above, self._denied).verdicts(names, frozenset(names), joined, at)
        left = [name for name in names if said.get(name) != "git"]
        self.left_out.protected += len(names) - len(left)
        return left

    def _in_bounds(self, above: tuple[str, ...], names: list[str], examples: set[str]) -> list[str]:
        """Those of ``names`` that have a path and are in bounds; adds those that only look secret to ``examples``."""
        left_out = self.left_out
        kept: list[str] = []
        for name in names:
            if not is_text(name):
                left_out.unnamed += 1
                if len(self.unnamed) < MAX_UNNAMED:
                    self.unnamed.append((RepoPath(above), name))
                continue
            area = self._bounds.area(RepoPath((*above, name)))
            if area == "protected":
                left_out.protected += 1
            elif area == "secret" and not self._options.secrets:
                left_out.secret += 1
            else:
                kept.append(name)
                if looks_secret(name):
                    examples.add(name)
        return kept

    def _governed(self, place: Place) -> Place:
        try:
            descriptor = self._engine.open(place.parts, OPEN_DIRECTORY)
        except OSError:
            return place
        try:
            return place.governed(descriptor)[0]
        finally:
            os.close(descriptor)

    def _count(self, error: OSError) -> None:
        match error.errno:
            case errno.EXDEV:
                self.left_out.other_mounts += 1
            case errno.ENOENT | errno.ENOTDIR | errno.ELOOP:
                self.left_out.vanished += 1
            case _:
                self.left_out.unreadable += 1


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    return "directory" if entry.is_dir(follow_symlinks=False) else "special"
