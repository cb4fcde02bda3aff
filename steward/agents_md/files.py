"""How documents are read: never through a link, never waiting on a pipe, never more than was asked for."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

Stat = os.stat_result

_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY)
_DIRECTORY = _PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LISTING = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL))
_BARRED = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL))
_HOPS = 40


class NotRegular(OSError):
    """What should have been read is no regular file."""


class TooLarge(OSError):
    """What should have been read holds more bytes than the caller accepts; ``size`` is what it holds at least."""

    def __init__(self, size: int) -> None:
        super().__init__(errno.EFBIG, "too large")
        self.size = size


class Folder(Protocol):
    """One directory held open: what is looked at in it cannot be swapped for another directory meanwhile."""

    def stat(self, name: str) -> Stat | None:
        """What ``name`` is, links not followed ("" is the directory itself); ``None`` when it is absent."""
        ...

    def enter(self, name: str) -> Folder | None:
        """The directory ``name``; ``None`` when it is absent, a link or no directory."""
        ...

    def names(self, most: int) -> list[str]:
        """Up to ``most`` names in it, in no order."""
        ...

    def read(self, name: str, most: int) -> tuple[bytes, Stat]:
        """The bytes of what ``stat`` said is a regular file (opening anything else could already act on it).

        ``NotRegular``, ``TooLarge`` or another ``OSError`` when it is none any more or cannot be read.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class FileSystem(Protocol):
    """Where a resolver looks. ``Disk`` is the real one; ``Calls`` and ``Memory`` need no disk."""

    def open(self, path: str) -> Folder | None:
        """The directory at an absolute path without links; ``None`` when there is none."""
        ...

    def stat(self, path: str) -> Stat | None:
        """What is at an absolute path, the last part not followed; ``None`` when nothing is."""
        ...

    def real(self, path: str) -> str:
        """The absolute path with every link followed; ``OSError`` when it leads nowhere."""
        ...


class Disk:
    """The real file system, through descriptors."""

    def open(self, path: str) -> DiskFolder | None:
        """The directory at ``path``."""
        try:
            return DiskFolder(os.open(path, _DIRECTORY))
        except OSError as error:
            if error.errno in _BARRED:
                return None
            raise

    def stat(self, path: str) -> Stat | None:
        """What is at ``path``."""
        try:
            return os.lstat(path)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise

    def real(self, path: str) -> str:
        """``path`` with every link followed."""
        return os.path.realpath(path, strict=True)


class DiskFolder:
    """A directory of the real file system as a descriptor."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def stat(self, name: str) -> Stat | None:
        """What ``name`` is."""
        if not name:
            return os.fstat(self._fd)
        try:
            return os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise

    def enter(self, name: str) -> DiskFolder | None:
        """The directory ``name``."""
        try:
            return DiskFolder(os.open(name, _DIRECTORY, dir_fd=self._fd))
        except OSError as error:
            if error.errno in _BARRED:
                return None
            raise

    def names(self, most: int) -> list[str]:
        """Up to ``most`` names."""
        fd = os.open(".", _LISTING, dir_fd=self._fd)
        try:
            with os.scandir(fd) as entries:
                return [entry.name for entry in islice(entries, most)]
        finally:
            os.close(fd)

    def read(self, name: str, most: int) -> tuple[bytes, Stat]:
        """The bytes of a regular file."""
        fd = os.open(name, _FILE, dir_fd=self._fd)
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode):
                raise NotRegular(errno.EINVAL, "not a regular file")
            if found.st_size > most:
                raise TooLarge(found.st_size)
            data = os.read(fd, found.st_size + 1)
            if len(data) != found.st_size:  # it grows or shrinks at this moment
                while len(data) <= most and (more := os.read(fd, most + 1 - len(data))):
                    data += more
        finally:
            os.close(fd)
        if len(data) > most:
            raise TooLarge(len(data))
        return data, found

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._fd)


@dataclass(frozen=True, slots=True)
class Calls:
    """A file system made of given callables: ``Calls(stat, read, names, link)``, in this order.

    ``stat`` is like ``os.lstat`` (it may return ``None`` for an absent path), ``read`` returns a file's bytes,
    ``names`` is like ``os.listdir`` (without it globs match nothing and fewer near misses are seen), ``link`` is
    like ``os.readlink``.
    """

    given_stat: Callable[[str], Stat | None]
    given_read: Callable[[str], bytes]
    given_names: Callable[[str], Iterable[str]] | None = None
    given_link: Callable[[str], str] | None = None

    def open(self, path: str) -> CallsFolder | None:
        """The directory at ``path``."""
        found = self.stat(path)
        return CallsFolder(self, path) if found is not None and stat.S_ISDIR(found.st_mode) else None

    def stat(self, path: str) -> Stat | None:
        """What is at ``path``."""
        try:
            return self.given_stat(path)
        except OSError as error:
            if error.errno in _ABSENT or isinstance(error, FileNotFoundError):
                return None
            raise

    def real(self, path: str) -> str:
        """``path`` with every link followed, by looking at one part after the other."""
        waiting = [part for part in reversed(path.split("/")) if part]
        at = "/"
        hops = 0
        while waiting:
            part = waiting.pop()
            if part in (".", ".."):
                at = posixpath.dirname(at) if part == ".." else at
                continue
            here = posixpath.join(at, part)
            found = self.stat(here)
            if found is None:
                raise FileNotFoundError(errno.ENOENT, "no such file")
            if not stat.S_ISLNK(found.st_mode):
                at = here
                continue
            hops += 1
            if hops > _HOPS:
                raise OSError(errno.ELOOP, "too many links")
            if self.given_link is None:
                raise OSError(errno.EINVAL, "links cannot be read")
            target = self.given_link(here)
            waiting += [step for step in reversed(target.split("/")) if step]
            at = "/" if target.startswith("/") else at
        return at


class CallsFolder:
    """A directory of a file system made of callables."""

    __slots__ = ("_calls", "_path")

    def __init__(self, calls: Calls, path: str) -> None:
        self._calls = calls
        self._path = path

    def stat(self, name: str) -> Stat | None:
        """What ``name`` is."""
        return self._calls.stat(posixpath.join(self._path, name) if name else self._path)

    def enter(self, name: str) -> CallsFolder | None:
        """The directory ``name``."""
        return self._calls.open(posixpath.join(self._path, name))

    def names(self, most: int) -> list[str]:
        """Up to ``most`` names."""
        given = self._calls.given_names
        if given is None:
            raise OSError(errno.ENOTSUP, "names cannot be listed")
        return list(islice(given(self._path), most))

    def read(self, name: str, most: int) -> tuple[bytes, Stat]:
        """The bytes of a regular file."""
        path = posixpath.join(self._path, name)
        found = self._calls.stat(path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "no such file")
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file")
        if found.st_size > most:
            raise TooLarge(found.st_size)
        data = self._calls.given_read(path)
        if len(data) > most:
            raise TooLarge(len(data))
        return data, found

    def close(self) -> None:
        """There is nothing to let go of."""
