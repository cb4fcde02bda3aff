"""Opening files of skills: walked on descriptors, links followed only while they stay inside the given roots."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

MAX_HOPS = 8
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""A directory that is only passed through; it need not be readable."""
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


class Leaves(OSError):
    """A link that points outside every root, goes round in circles, or was not to be followed."""


class NotRegular(OSError):
    """Something that is neither a regular file nor a directory: a pipe, a socket, a device."""


class TooLarge(OSError):
    """A file longer than the limit."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside a container: one of its roots, and the parts below it."""

    root: Path
    parts: tuple[str, ...] = ()

    def child(self, *names: str) -> Place:
        """The place of that name below this one."""
        return Place(self.root, (*self.parts, *names))

    @property
    def path(self) -> Path:
        """The path on this machine."""
        return self.root.joinpath(*self.parts)


@dataclass(frozen=True, slots=True)
class Container:
    """Directories within which links may lead from one place to another; ``roots`` are real paths."""

    roots: tuple[Path, ...]
    links: Mapping[Path, Path] = field(default_factory=dict[Path, Path])
    """Links that may lead out of the roots, each with the root it leads to."""

    @contextmanager
    def directory(self, place: Place, *, follow: bool = True) -> Generator[tuple[int, Place]]:
        """A descriptor of a directory and where it really is; raises ``OSError``."""
        descriptor, real = self._open(place, follow, last_is_file=False)
        try:
            yield descriptor, real
        finally:
            os.close(descriptor)

    def read(self, place: Place, limit: int, *, follow: bool = True) -> tuple[bytes, os.stat_result]:
        """The bytes of a regular file of at most ``limit`` bytes, and its status; raises ``OSError``."""
        descriptor, _ = self._open(place, follow, last_is_file=True)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotRegular(errno.EINVAL, "not a regular file")
            if status.st_size > limit:
                raise TooLarge(errno.EFBIG, "too large")
            data = b""
            while len(data) <= limit and (piece := os.read(descriptor, min(1 << 20, limit + 1 - len(data)))):
                data += piece
            if len(data) > limit:
                raise TooLarge(errno.EFBIG, "too large")
            return data, status
        finally:
            os.close(descriptor)

    def _open(self, place: Place, follow: bool, *, last_is_file: bool) -> tuple[int, Place]:
        for _ in range(MAX_HOPS + 1):
            opened = self._walk(place, follow, last_is_file=last_is_file)
            if not isinstance(opened, Place):
                return opened, place
            place = opened
        raise Leaves(errno.ELOOP, "too many links")

    def _walk(self, place: Place, follow: bool, *, last_is_file: bool) -> int | Place:
        """A descriptor, or the place that the first link on the way leads to."""
        current = os.open(place.root, (_WAY if place.parts else _DIRECTORY) & ~os.O_NOFOLLOW)
        try:
            for index, part in enumerate(place.parts):
                status = os.stat(part, dir_fd=current, follow_symlinks=False)
                rest = place.parts[index + 1 :]
                if stat.S_ISLNK(status.st_mode):
                    if not follow:
                        raise Leaves(errno.ELOOP, "a link")
                    if led := self.links.get(place.root.joinpath(*place.parts[: index + 1])):
                        return Place(led, rest)
                    target = os.readlink(part, dir_fd=current)
                    return self._led(place.root.joinpath(*place.parts[:index]), target, rest)
                as_file = last_is_file and not rest
                if not stat.S_ISDIR(status.st_mode) and not (as_file and stat.S_ISREG(status.st_mode)):
                    raise NotRegular(errno.EINVAL, "neither a regular file nor a directory")
                child = os.open(part, _FILE if as_file else _WAY if rest else _DIRECTORY, dir_fd=current)
                os.close(current)
                current = child
            result, current = current, -1
            return result
        finally:
            if current >= 0:
                os.close(current)

    def _led(self, directory: Path, target: str, rest: tuple[str, ...]) -> Place:
        # The directory is free of links, so that taking ".." away by its letters is right.
        led = Path(os.path.normpath(directory / target)).joinpath(*rest)
        for root in self.roots:
            if led.is_relative_to(root):
                return Place(root, led.relative_to(root).parts)
        raise Leaves(errno.EXDEV, "the link leads outside")
