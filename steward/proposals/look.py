"""Looking at one name in a directory: what kind of thing it is and which version of the file."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass

from steward.proposals.disk import LOOK, Disk
from steward.proposals.record import Image


@dataclass(frozen=True, slots=True)
class Seen:
    """What stands under a name. ``image`` is ``None`` for what cannot be one of the versions looked for."""

    stat: os.stat_result
    image: Image | None

    @property
    def regular(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.stat.st_mode)

    def same(self, other: Seen | None) -> bool:
        """Whether both names lead to one file."""
        return other is not None and (self.stat.st_dev, self.stat.st_ino) == (
            other.stat.st_dev,
            other.stat.st_ino,
        )

    def holds(self, image: Image | None) -> bool:
        """Whether it is this version: same bytes, same mode where that matters."""
        mine = self.image
        return (
            mine is not None
            and image is not None
            and (mine.sha256, mine.size) == (image.sha256, image.size)
            and image.mode in (None, mine.mode)
        )


def look(disk: Disk, at: int, name: str, *wanted: Image | None) -> Seen | None:
    """What stands under ``name``, ``None`` for nothing.

    Only what has the size of a ``wanted`` version is read, so that a giant that took its place costs nothing.
    """
    try:
        found = disk.stat(name, at=at)
        if not stat.S_ISREG(found.st_mode) or not _may_be(found, wanted):
            return Seen(found, None)
        fd = disk.open(name, LOOK, at=at)
    except FileNotFoundError:
        return None
    except OSError as error:
        # It became a link or a socket between the two calls.
        if error.errno in (errno.ELOOP, errno.ENXIO):
            return Seen(disk.stat(name, at=at), None)
        raise
    try:
        found = disk.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or not _may_be(found, wanted):
            return Seen(found, None)
        return Seen(found, Image(*_digest(disk, fd), stat.S_IMODE(found.st_mode)))
    finally:
        with suppress(OSError):
            disk.close(fd)


def image_of(data: bytes, mode: int | None) -> Image:
    """The version that has these bytes."""
    return Image(hashlib.sha256(data).hexdigest(), len(data), mode)


def _may_be(found: os.stat_result, wanted: tuple[Image | None, ...]) -> bool:
    return any(image is not None and image.size == found.st_size for image in wanted)


def _digest(disk: Disk, fd: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while piece := disk.read(fd, 1 << 20):
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size
