"""Walking a tree by descriptors; what is ignored or out of bounds is left out and counted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steward.workspace.engine import OPEN_DIRECTORY, OPEN_FILE, Engine
from steward.workspace.ignore import IGNORE_FILES, MAX_IGNORE_BYTES, Chain, ignored, parse
from steward.workspace.path import RepoPath
from steward.workspace.policy import Area
from steward.workspace.values import Kind

MAX_UNNAMED = 100


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


class TreeWalk:
    """An iterator over ``(path, kind)`` in order of names, each directory before what it holds; used once."""

    def __init__(
        self,
        engine: Engine,
        area: Callable[[RepoPath], Area | None],
        start: RepoPath,
        options: WalkOptions,
    ) -> None:
        self.left_out = LeftOut()
        self.unnamed: list[tuple[RepoPath, str]] = []
        """The first names that are not UTF-8, each with its directory."""
        self.asked_for_ignored = False
        """Whether the start itself is ignored, so that ignore files were not applied beneath it."""
        self._engine = engine
        self._area = area
        self._start = start
        self._options = options

    def __iter__(self) -> Iterator[tuple[RepoPath, Kind]]:
        options = self._options
        chain: Chain | None = None
        if options.ignore:
            chain = chain_of(self._engine, self._start)
            if chain is None:
                self.asked_for_ignored = True
        stack = [self._level(self._start, chain)]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
                continue
            path, kind, below = found
            yield path, kind
            if kind == "directory" and (options.depth is None or len(stack) < options.depth):
                if options.stop is not None and options.stop():
                    return
                stack.append(self._level(path, below))

    def _level(
        self, directory: RepoPath, chain: Chain | None
    ) -> Iterator[tuple[RepoPath, Kind, Chain | None]]:
        """One directory, read whole and closed before its first entry is given."""
        try:
            descriptor = self._engine.open(directory.parts, OPEN_DIRECTORY)
        except OSError as error:
            self._count(error)
            return
        try:
            with os.scandir(descriptor) as entries:
                listed: list[tuple[str, Kind]] = sorted((entry.name, _kind(entry)) for entry in entries)
            if chain is not None:
                chain = self._extended(descriptor, len(directory.parts), chain, listed)
        except OSError as error:
            self._count(error)
            return
        finally:
            os.close(descriptor)
        left_out = self.left_out
        for name, kind in listed:
            if not name.isascii() and not _is_text(name):
                left_out.unnamed += 1
                if len(self.unnamed) < MAX_UNNAMED:
                    self.unnamed.append((directory, name))
                continue
            path = RepoPath((*directory.parts, name))
            area = self._area(path)
            if area == "protected":
                left_out.protected += 1
            elif area == "secret" and not self._options.secrets:
                left_out.secret += 1
            elif chain and ignored(chain, path.parts, kind == "directory"):
                left_out.ignored += 1
            else:
                yield path, kind, chain

    def _extended(self, descriptor: int, depth: int, chain: Chain, listed: list[tuple[str, Kind]]) -> Chain:
        for name in IGNORE_FILES:
            if (name, "file") in listed:
                data = _read(lambda name=name: os.open(name, OPEN_FILE, dir_fd=descriptor))
                if data is None:
                    self.left_out.not_applied += 1
                elif (rules := parse(data)).rules:
                    chain = ((rules, depth), *chain)
            elif (name, "link") in listed:
                self.left_out.not_applied += 1
        return chain

    def _count(self, error: OSError) -> None:
        match error.errno:
            case errno.EXDEV:
                self.left_out.other_mounts += 1
            case errno.ENOENT | errno.ENOTDIR | errno.ELOOP:
                self.left_out.vanished += 1
            case _:
                self.left_out.unreadable += 1


def chain_of(engine: Engine, directory: RepoPath, *, own: bool = False) -> Chain | None:
    """The rules from above ``directory`` (and of its ``own``); ``None`` when it is ignored itself."""
    exclude = _read(lambda: engine.open((".git", "info", "exclude"), OPEN_FILE))
    chain: Chain = ((parse(exclude), 0),) if exclude else ()
    for depth, _ in enumerate((*directory.parts, "") if own else directory.parts):
        above = directory.parts[:depth]
        if above and ignored(chain, above, True):
            return None
        try:
            descriptor = engine.open(above, OPEN_DIRECTORY)
        except OSError:
            return chain
        try:
            chain = _with_own(descriptor, depth, chain)
        finally:
            os.close(descriptor)
    return None if directory.parts and not own and ignored(chain, directory.parts, True) else chain


def _with_own(descriptor: int, depth: int, chain: Chain) -> Chain:
    """``chain`` with the ignore files of one more directory."""
    for name in IGNORE_FILES:
        data = _read(lambda name=name: os.open(name, OPEN_FILE, dir_fd=descriptor))
        if data and (rules := parse(data)).rules:
            chain = ((rules, depth), *chain)
    return chain


def _read(opened: Callable[[], int]) -> bytes | None:
    """The bytes of an ignore file; ``None`` when it is missing, a link, too large, unreadable or not a file."""
    try:
        descriptor = opened()
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_IGNORE_BYTES:
            return None
        return os.read(descriptor, MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "special"


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
