"""The directories of a change, each opened once beneath the workspace and held until the change is settled."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from steward.errors import PathRefused
from steward.proposals.disk import Disk, Ground
from steward.workspace import ROOT, RepoPath

GONE = frozenset({"missing", "link", "not-a-directory", "special", "other-mount"})
"""Kinds of refusal that say: the directory that was here is here no more."""


class Places:
    """Descriptors of directories by path; a context manager that closes them."""

    def __init__(self, disk: Disk, ground: Ground) -> None:
        self._disk = disk
        self._ground = ground
        self._open: dict[RepoPath, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._open:
            _, fd = self._open.popitem()
            with suppress(OSError):
                self._disk.close(fd)

    def at(self, path: RepoPath) -> int:
        """The descriptor of a directory; raises ``PathRefused``."""
        fd = self._open.get(path)
        if fd is None:
            fd = self._open[path] = self._disk.enter(self._ground, path)
        return fd

    def find(self, path: RepoPath) -> int | None:
        """The descriptor of a directory, ``None`` when it is not there (any more)."""
        try:
            return self.at(path)
        except PathRefused as error:
            if error.kind in GONE:
                return None
            raise

    def missing(self, path: RepoPath) -> tuple[RepoPath, ...]:
        """Which directories must be made so that ``path`` exists, outermost first; raises ``PathRefused``."""
        wanted: list[RepoPath] = []
        while True:
            try:
                self.at(path)
            except PathRefused as error:
                if error.kind != "missing" or path == ROOT:
                    raise
                wanted.append(path)
                path = path.parent
            else:
                return tuple(reversed(wanted))

    def make(self, path: RepoPath) -> bool:
        """Make one directory and open it; false when somebody else had made it by then."""
        try:
            self._disk.mkdir(path.name, at=self.at(path.parent))
        except FileExistsError:
            self.at(path)
            return False
        self.at(path)
        return True

    def sync(self, paths: Iterable[RepoPath]) -> None:
        """Make the names in these directories durable; those that are gone are passed over."""
        for path in sorted(set(paths)):
            fd = self.find(path)
            if fd is not None:
                self._disk.fsync(fd)

    def forget(self, path: RepoPath) -> None:
        """Close a directory that was removed."""
        fd = self._open.pop(path, None)
        if fd is not None:
            with suppress(OSError):
                self._disk.close(fd)

    def moved(self) -> tuple[RepoPath, ...]:
        """Which of the open directories are no longer what their path leads to."""
        return tuple(path for path in sorted(self._open) if not self._still(path, self._open[path]))

    def _still(self, path: RepoPath, held: int) -> bool:
        try:
            fd = self._disk.enter(self._ground, path)
        except PathRefused as error:
            if error.kind in GONE:
                return False
            raise
        try:
            now, then = self._disk.fstat(fd), self._disk.fstat(held)
        finally:
            with suppress(OSError):
                self._disk.close(fd)
        return (now.st_dev, now.st_ino) == (then.st_dev, then.st_ino)
