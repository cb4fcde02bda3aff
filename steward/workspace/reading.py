"""Reading a whole file from its descriptor, as far as a bound."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable


def read_small(opened: Callable[[], int], most: int) -> bytes | None:
    """The bytes of what ``opened`` opens; ``None`` when that is missing, unreadable, over ``most`` bytes or no file."""
    try:
        descriptor = opened()
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        return read_all(descriptor, found.st_size, most)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def read_all(descriptor: int, expected: int, most: int) -> bytes:
    """Everything up to one byte more than ``most``; a file that grows meanwhile is read as far as that.

    ``expected`` is its size in bytes, as ``fstat`` told it. Raises ``OSError``.
    """
    pieces: list[bytes] = []
    size = 0
    while size <= most:
        wanted = min(max(expected - size, 0) + 1, most + 1 - size)
        piece = os.read(descriptor, wanted)
        size += len(piece)
        if len(piece) < wanted and not pieces:
            return piece
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)
