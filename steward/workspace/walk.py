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
from steward.workspace.path import RepoPath
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
        stack = [self._level(self._place)]
        while stack:
            for run, below in stack[-1]:
                yield run
                if below is None or len(stack) == options.depth:
                    continue
                if options.stop is not None and options.stop():
                    return
                stack.append(self._level(below))
                break
            else:
                stack.pop()

    def _level(self, place: Place) -> Iterator[tuple[Run, Place | None]]:
        """The entries of one directory, read whole before the first is given; each directory with its place."""
        try:
            descriptor = self._engine.open(place.parts, OPEN_DIRECTORY)
        except OSError as error:
            self._count(error)
            return
        listed: dict[str, Kind] = {}
        others = False
        try:
            elsewhere = os.fstat(descriptor).st_dev != self._device
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        listed[entry.name] = "file"
                    else:
                        listed[entry.name] = _kind(entry)
                        others = True
            if self._rules:
                place, refused = place.governed(descriptor, listed)
                self.left_out.not_applied += refused
        except OSError as error:
            self._count(error)
            return
        finally:
            os.close(descriptor)
        if not listed:
            return
        names = sorted(listed)
        joined = f"/{'/'.join(names)}/"
        examples: set[str] = set()
        if self._denied:
            names = self._not_denied(place.parts, names, joined)
        if not (joined.isascii() and self._bounds.plain(place.parts, joined)):
            names = self._in_bounds(place.parts, names, examples)
        said: dict[str, Decision] = {}
        if self._rules:
            said = place.decisions(names, listed, joined, self._tracked, others=others)
        above = "/".join((*place.parts, ""))
        noted = place.noted or elsewhere
        if not (others or said or examples):
            yield (above, names, "file", noted), None
            return
        if not (others or examples) and set(said.values()) == {"ignored"}:
            self.left_out.ignored += len(said)
            if len(said) < len(names):
                yield (above, [name for name in names if name not in said], "file", noted), None
            return
        yield from self._runs(place, above, names, listed, said, examples, noted)

    def _runs(
        self,
        place: Place,
        above: str,
        names: list[str],
        listed: dict[str, Kind],
        said: dict[str, Decision],
        examples: set[str],
        noted: bool,
    ) -> Iterator[tuple[Run, Place | None]]:
        run: list[str] = []
        for name in names:
            decision = said.get(name)
            if decision == "ignored":
                self.left_out.ignored += 1
                continue
            kind = listed[name]
            marked = decision is not None or name in examples
            if kind == "file" and not marked:
                run.append(name)
                continue
            if run:
                yield (above, run, "file", noted), None
                run = []
            below = place.below(name, decision, marked or noted) if kind == "directory" else None
            yield (above, [name], kind, marked or noted), below
        if run:
            yield (above, run, "file", noted), None

    def _not_denied(self, above: tuple[str, ...], names: list[str], joined: str) -> list[str]:
        said = Place(above, self._denied).verdicts(names, True, joined)
        left = [name for name in names if said.get(name) != "git"]
        self.left_out.protected += len(names) - len(left)
        return left

    def _in_bounds(self, above: tuple[str, ...], names: list[str], examples: set[str]) -> list[str]:
        """Those of ``names`` that have a path and are in bounds; adds those that only look secret to ``examples``."""
        left_out = self.left_out
        kept: list[str] = []
        for name in names:
            if not name.isascii() and not _is_text(name):
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


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
