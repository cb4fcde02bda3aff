"""Owner, mode, ACLs and extended attributes of a file, carried over to the version that takes its place."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from dataclasses import dataclass

from steward.errors import ApplyFailed
from steward.proposals.disk import LOOK, Disk

_NONE = frozenset({errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""A file system without extended attributes."""
_FORBIDDEN = frozenset({errno.EPERM, errno.EACCES, *_NONE})
_BOUND_TO_BYTES = frozenset({"security.capability", "security.ima", "security.evm"})
"""Attributes that the kernel itself drops or recomputes when a file's bytes change (capabilities(7))."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a new version keeps of the old one, besides its mode."""

    at: int
    name: str
    uid: int
    gid: int
    attributes: tuple[tuple[str, bytes], ...] = ()


def read_metadata(disk: Disk, at: int, name: str, fd: int, found: os.stat_result) -> Metadata:
    """The metadata of an open file, which stands under ``name`` in ``at``."""
    attributes = [(key, disk.getxattr(fd, key)) for key in _names(disk, fd)]
    return Metadata(at, name, found.st_uid, found.st_gid, tuple(attributes))


def keep_metadata(disk: Disk, fd: int, metadata: Metadata, path: str) -> None:
    """Give an open new file the metadata of the old one; the mode comes after it, since all this changes it.

    Raises ``ApplyFailed`` when owner or an attribute cannot be kept: a change never loses them silently.
    """
    mine = disk.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (metadata.uid, metadata.gid):
        try:
            disk.chown(fd, metadata.uid, metadata.gid)
        except PermissionError as error:
            raise ApplyFailed(
                f"{path} belongs to another user or group, which could not be kept; nothing was written."
            ) from error
    wanted = dict(metadata.attributes)
    for key in _names(disk, fd):
        if key not in wanted:
            disk.removexattr(fd, key)
    for key, value in wanted.items():
        try:
            disk.setxattr(fd, key, value)
        except OSError as error:
            # A policy may forbid setting what the new file inherited anyway (SELinux labels).
            if error.errno not in _FORBIDDEN:
                raise
            if _get(disk, fd, key) != value:
                raise ApplyFailed(
                    f"The attribute {key} of {path} could not be kept; nothing was written."
                ) from error
    if sys.platform == "darwin":
        source = disk.open(metadata.name, LOOK, at=metadata.at)
        try:
            disk.copy_attributes(source, fd)
        finally:
            with suppress(OSError):
                disk.close(source)


def _names(disk: Disk, fd: int) -> list[str]:
    try:
        names = disk.listxattr(fd)
    except OSError as error:
        if error.errno in _NONE:
            return []
        raise
    return sorted(name for name in names if name not in _BOUND_TO_BYTES)


def _get(disk: Disk, fd: int, key: str) -> bytes | None:
    try:
        return disk.getxattr(fd, key)
    except OSError:
        return None
