"""The lock under which a change is decided on, so that no two processes do that in one workspace at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from steward.errors import Busy
from steward.proposals.disk import Disk, write_all

_DIGITS = 20
"""Every holder writes as much, over what the last one wrote: emptying a file takes longer than all the rest."""
PATIENCE = 0.5
"""Seconds that a process waits for the one that holds it: most decisions take a few thousandths of one."""
_PAUSE = 0.005
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def locked(state: Path, disk: Disk) -> Generator[None]:
    """Hold the lock of a state directory, which must exist; raises ``Busy`` with the holder when it stays taken.

    The lock belongs to the open file, so that it ends with the process, however that ends. The file stays: its
    removal could hand two processes a lock each.
    """
    fd = disk.open(os.path.join(state, "lock"), _FLAGS, 0o600)
    try:
        until = time.monotonic() + PATIENCE
        while not disk.lock(fd):
            if time.monotonic() >= until:
                raise Busy(_holder(disk, fd))
            time.sleep(_PAUSE)
        write_all(disk, fd, f"{os.getpid():<{_DIGITS}}\n".encode("ascii"))
        yield
    finally:
        with suppress(OSError):
            disk.close(fd)


def _holder(disk: Disk, fd: int) -> int | None:
    """The process that wrote itself into the lock; ``None`` when it has not come to that yet."""
    try:
        return int(disk.read(fd, 32))
    except (OSError, ValueError):
        return None
