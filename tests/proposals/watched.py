"""A disk around another that is told of every operation: to count, to cut, to fail, to write behind its back."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from steward.proposals.disk import DIRECTORY, NEW, Disk

OPERATIONS: tuple[str, ...] = tuple(
    name for name in vars(Disk) if not name.startswith("_") and name not in ("nonce", "copy_attributes")
)
"""Every operation of the seam that reaches the disk on Linux."""


class Cut(BaseException):
    """The process is gone; nothing may catch it."""


class Watched(Disk):
    """Passes every operation on to ``inner`` through ``around``."""

    def __init__(self, inner: Disk) -> None:
        self.inner = inner
        self.names: list[str] = []
        """The operations so far."""
        self._descriptors: set[int] = set()

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        """Perform operation ``number``; a subclass does other things instead or besides."""
        return do()

    def nonce(self) -> str:
        return self.inner.nonce()

    def reap(self) -> None:
        """Close what a process that was cut left open, as its death would."""
        for fd in self._descriptors:
            with suppress(OSError, KeyError):
                self.inner.close(fd)
        self._descriptors.clear()

    def perform(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """One operation, by name."""

        def do() -> Any:
            result = getattr(self.inner, name)(*arguments, **options)
            if name in ("open", "enter"):
                self._descriptors.add(result)
            elif name == "close":
                self._descriptors.discard(arguments[0])
            return result

        self.names.append(name)
        return self.around(len(self.names) - 1, name, do)


def _passing(name: str) -> Callable[..., Any]:
    def operation(self: Watched, *arguments: Any, **options: Any) -> Any:
        return self.perform(name, arguments, options)

    return operation


for _name in OPERATIONS:
    setattr(Watched, _name, _passing(_name))


class CutAt(Watched):
    """The process dies before operation ``at``, and nothing of it runs on."""

    def __init__(self, inner: Disk, at: int) -> None:
        super().__init__(inner)
        self._at = at

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        if number >= self._at:
            raise Cut
        return do()


class FailAt(Watched):
    """Operation ``at`` fails with an error number, once or from then on; a failed ``close`` has closed."""

    def __init__(self, inner: Disk, at: int, number: int, *, forever: bool = False) -> None:
        super().__init__(inner)
        self._at = at
        self._number = number
        self._forever = forever

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        if number == self._at or (self._forever and number > self._at):
            if name == "close":
                do()
            raise OSError(self._number, os.strerror(self._number))
        return do()


class VisitBefore(Watched):
    """Calls ``visit`` with the number of every operation before it is performed."""

    def __init__(self, inner: Disk, visit: Callable[[int], None]) -> None:
        super().__init__(inner)
        self._visit = visit

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        self._visit(number)
        return do()


class Once(VisitBefore):
    """Does something behind the back of the process before one of its operations, once."""

    def __init__(self, act: Callable[[], object], before: str) -> None:
        super().__init__(Disk(), self._look)
        self._act: Callable[[], object] | None = act
        self._before = before

    def _look(self, number: int) -> None:
        if self._act is not None and self.names[-1] == self._before:
            act, self._act = self._act, None
            act()


class Making(Watched):
    """Somebody else makes, durably, the first directory that is made in the workspace, and a file in it."""

    def __init__(self, inner: Disk) -> None:
        super().__init__(inner)
        self.made: dict[str, tuple[str, int, bytes]] = {}
        """What that adds to the tree."""

    def perform(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name == "mkdir" and options.get("at") is not None and not self.made:
            self.inner.mkdir(*arguments, **options)
            directory = self.inner.open(arguments[0], DIRECTORY, **options)
            file = self.inner.open("theirs", NEW, 0o644, at=directory)
            for fd in (file, directory, options["at"]):
                self.inner.fsync(fd)
            self.inner.close(file)
            self.inner.close(directory)
            self.made[arguments[0]] = ("directory", 0, b"")
            self.made[f"{arguments[0]}/theirs"] = ("file", 0o644, b"")
        return super().perform(name, arguments, options)


class Unsynced(Disk):
    """The real disk without waiting for it: a killed process needs no sync to be seen by the next one."""

    def fsync(self, fd: int) -> None:
        """Nothing."""

    def datasync(self, fd: int) -> None:
        """Nothing."""


class Lacking(Unsynced):
    """A file system that lacks some operations, as FUSE and network file systems do."""

    def __init__(self, *operations: str) -> None:
        self._operations = operations

    def _lack(self, operation: str, number: int = errno.EINVAL) -> None:
        if operation in self._operations:
            raise OSError(number, os.strerror(number))

    def exchange(self, one: str, other: str, *, at: int) -> None:
        self._lack("exchange")
        super().exchange(one, other, at=at)

    def rename_new(self, old: str, new: str, *, at: int) -> None:
        self._lack("rename_new", errno.ENOSYS)
        super().rename_new(old, new, at=at)

    def link(self, old: str, new: str, *, at: int) -> None:
        self._lack("link", errno.EPERM)
        super().link(old, new, at=at)
