"""What the workspace tells about files: plain values without descriptors."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "directory", "link", "special"]


@dataclass(frozen=True, slots=True)
class FileStat:
    """What ``fstat`` said about one object. ``mode`` is the permission bits, ``links`` the count of hard links."""

    kind: Kind
    device: int
    inode: int
    mode: int
    size: int
    links: int
    uid: int

    @classmethod
    def of(cls, result: os.stat_result) -> FileStat:
        """The value of what ``os.stat`` returned."""
        return cls(
            kind_of(result.st_mode),
            result.st_dev,
            result.st_ino,
            stat.S_IMODE(result.st_mode),
            result.st_size,
            result.st_nlink,
            result.st_uid,
        )


@dataclass(frozen=True, slots=True)
class FileContent:
    """All bytes of a regular file, and its ``fstat`` from before they were read."""

    data: bytes
    stat: FileStat


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a directory.

    ``name`` may hold lone surrogates when it is not UTF-8 on disk; such an entry cannot be addressed.
    ``size`` is in bytes. ``target`` is where a link points, as a path in the workspace, when that is inside.
    """

    name: str
    kind: Kind
    size: int
    target: str | None = None


def kind_of(mode: int) -> Kind:
    """The kind of an ``st_mode``."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "special"
