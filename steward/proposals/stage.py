"""Writing the new version of a file beside its path, complete and durable, before anything is switched."""

from __future__ import annotations

import os
import stat

from steward.errors import ApplyFailed
from steward.proposals.disk import NEW, Disk
from steward.proposals.journal import Image, closing, write_all
from steward.proposals.metadata import Metadata, keep_metadata


def write_stage(
    disk: Disk, at: int, name: str, data: bytes, new: Image, metadata: Metadata | None, path: str
) -> None:
    """Create ``name`` with these bytes; its names in the directory are not synced.

    Raises ``ApplyFailed`` when owner, mode or attributes cannot be had.
    """
    fd = disk.open(name, NEW, 0o666 if new.mode is None else 0o600, at=at)
    with closing(disk, fd):
        write_all(disk, fd, data)
        if metadata is not None:
            keep_metadata(disk, fd, metadata, path)
        # Last, since writing, chown and ACLs all change mode bits.
        if new.mode is not None:
            disk.chmod(fd, new.mode)
        disk.fsync(fd)
        _verify(disk.fstat(fd), new, path)


def _verify(found: os.stat_result, new: Image, path: str) -> None:
    if found.st_size != new.size:
        raise ApplyFailed(f"The disk did not take all of {path}; nothing was written.")
    if new.mode is not None and stat.S_IMODE(found.st_mode) != new.mode:
        raise ApplyFailed(f"The mode {new.mode:04o} of {path} could not be kept; nothing was written.")
