"""Moving to a name that must be free, and what stands in for it where the file system cannot."""

from __future__ import annotations

import errno

from steward.proposals.disk import Disk
from steward.proposals.exchange import MISSING

_NO_LINKS = frozenset({errno.EPERM, errno.EMLINK, *MISSING})


def move_new(disk: Disk, at: int, old: str, new: str) -> bool:
    """Rename within a directory; ``FileExistsError`` when ``new`` exists.

    False when only a look stood between a file that appears at ``new`` in that moment and its replacement:
    with neither ``RENAME_NOREPLACE`` nor hard links there is nothing better.
    """
    try:
        disk.rename_new(old, new, at=at)
        return True
    except OSError as error:
        if error.errno not in MISSING:
            raise
    try:
        disk.link(old, new, at=at)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        # Two steps: a power cut must not save the second alone.
        disk.fsync(at)
        disk.unlink(old, at=at)
        return True
    try:
        disk.stat(new, at=at)
    except FileNotFoundError:
        disk.rename(old, new, at=at)
        return False
    raise FileExistsError(errno.EEXIST, "exists", new)
