"""A directory among the temporary files that is gone at the end; what a killed process left goes with the next one."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCKED = "locked-"
"""Part of the names of such directories; only these are looked at."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def thrown_away(prefix: str) -> Generator[Path]:
    """A new directory whose name begins with ``prefix``; it is locked as long as its process lives."""
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}{LOCKED}*"):
        with suppress(OSError):
            _sweep(left)
    with tempfile.TemporaryDirectory(prefix=prefix + LOCKED) as place, _opened(Path(place)) as own:
        with suppress(OSError):  # a file system without locks: nobody sweeps there
            fcntl.flock(own, fcntl.LOCK_EX)
        yield Path(place)


def _sweep(left: Path) -> None:
    """Delete the directory unless somebody uses it, or is about to: then it is locked, or still empty."""
    with _opened(left) as directory:
        if os.fstat(directory).st_uid == os.geteuid():
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.listdir(directory):
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _opened(directory: Path) -> Generator[int]:
    descriptor = os.open(directory, _DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
