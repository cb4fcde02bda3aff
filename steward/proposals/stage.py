"""Writing the new version of a file beside its path, complete and durable, before anything is switched."""

from __future__ import annotations

import os
import stat

from steward.errors import ApplyFailed
from steward.proposals.disk import NEW, Disk, closing, write_all
from steward.proposals.metadata import Metadata, keep_metadata
from steward.proposals.record import Entry, Image


def write_stage(
    disk: Disk, at: int, entry: Entry, data: bytes, new: Image, metadata: Metadata | None
) -> None:
    """Create an entry's stage with these bytes; its names in the directory are not synced.

    It has its name only once it is complete and durable, so that whoever finds one can rely on that. Raises
    ``ApplyFailed`` when owner, mode or attributes cannot be had.
    """
    fd = disk.open(entry.part, NEW, 0o666 if new.mode is None else 0o600, at=at)
    with closing(disk, fd):
        write_all(disk, fd, data)
        if metadata is not None:
            keep_metadata(disk, fd, metadata, entry.path)
        # Last, since writing, chown and ACLs all change mode bits.
        if new.mode is not None:
            disk.chmod(fd, new.mode)
        disk.fsync(fd)
        _verify(disk.fstat(fd), new, entry.path)
    disk.rename(entry.part, entry.stage, at=at)


def _verify(found: os.stat_result, new: Image, path: str) -> None:
    if found.st_size != new.size:
        raise ApplyFailed(f"The disk did not take all of {path}; nothing was written.")
    if new.mode is not None and stat.S_IMODE(found.st_mode) != new.mode:
        raise ApplyFailed(f"The mode {new.mode:04o} of {path} could not be kept; nothing was written.")
