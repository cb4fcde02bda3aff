"""Git's index: which paths are tracked, also where it is split in two."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST = 256 * 1024 * 1024 * 8
"""More bits than an index of the largest size that is read has entries."""


class Tracked:
    """The paths in git's index, as a sorted list of their bytes; ``fold``: whether case makes no difference."""

    def __init__(self, names: list[bytes], *, fold: bool = False) -> None:
        self._fold = fold
        self._names = sorted(map(bytes.lower, names)) if fold else names

    @property
    def empty(self) -> bool:
        """Whether nothing is tracked."""
        return not self._names

    def holds(self, path: str) -> bool:
        """Whether the file at ``path`` is tracked."""
        wanted = self._wanted(path)
        at = bisect_left(self._names, wanted)
        return at < len(self._names) and self._names[at] == wanted

    def holds_below(self, directory: str) -> bool:
        """Whether a file beneath ``directory`` is tracked."""
        wanted = self._wanted(directory) + b"/"
        at = bisect_left(self._names, wanted)
        return at < len(self._names) and self._names[at].startswith(wanted)

    def _wanted(self, path: str) -> bytes:
        name = os.fsencode(path)
        return name.lower() if self._fold else name


NOTHING = Tracked([])


def index_names(index: bytes, digest: int = 20, shared: Callable[[str], bytes] | None = None) -> list[bytes]:
    """The paths of an index of version 2, 3 or 4, in the order of their bytes; none when it cannot be understood.

    ``digest`` is the size of the repository's object names. ``shared`` gives the bytes of git's file of that name:
    an index that is split in two keeps most of itself there.
    """
    try:
        found = _parsed(index, digest)
        if found.link is None:
            return found.names
        if shared is None:
            return []
        base = _parsed(shared(f"sharedindex.{found.link[:digest].hex()}"), digest)
        return [] if base.link is not None else _joined(base.names, found, digest)
    except (_Unknown, IndexError):
        return []


class _Unknown(Exception):
    """These bytes are not an index."""


@dataclass(frozen=True, slots=True)
class _Index:
    names: list[bytes]
    link: bytes | None
    """What an index that is split in two says of the other half."""


def _parsed(index: bytes, digest: int) -> _Index:
    if index[:4] != b"DIRC" or len(index) < 12:
        raise _Unknown
    version = int.from_bytes(index[4:8], "big")
    count = int.from_bytes(index[8:12], "big")
    if version not in (2, 3, 4):
        raise _Unknown
    names: list[bytes] = []
    at, flags, size = 12, 40 + digest, len(index)
    name = b""
    for _ in range(count):
        if at + flags + 3 > size:
            raise _Unknown
        high = index[at + flags]
        start = at + flags + (4 if high & 0x40 else 2)
        if version == 4:
            start, drop = _drop(index, start)
            end = index.find(b"\0", start)
            name = name[: len(name) - drop] + index[start:end]
            at = end + 1
        else:
            length = (high & 0x0F) << 8 | index[at + flags + 1]
            end = start + length if length < 0xFFF else index.find(b"\0", start)
            name = index[start:end]
            at += (end - at + 8) & ~7
        if end < 0:
            raise _Unknown
        names.append(name)
    while at + 8 + digest <= size:
        length = int.from_bytes(index[at + 4 : at + 8], "big")
        if index[at : at + 4] == b"link":
            return _Index(names, index[at + 8 : at + 8 + length])
        at += 8 + length
    return _Index(names, None)


def _drop(index: bytes, at: int) -> tuple[int, int]:
    """Where the rest of a name begins in version 4, and how many bytes of the name before it are dropped."""
    drop = index[at] & 0x7F
    while index[at] & 0x80 and at + 1 < len(index):
        at += 1
        drop = ((drop + 1) << 7) | (index[at] & 0x7F)
    return at + 1, drop


def _joined(base: list[bytes], upper: _Index, digest: int) -> list[bytes]:
    """The paths of both halves: entries of the shared one are deleted, or replaced by nameless ones of the other."""
    assert upper.link is not None
    deleted = _bits(upper.link, digest)[0] if len(upper.link) > digest else set[int]()
    kept = {name for number, name in enumerate(base) if number not in deleted}
    return sorted(kept.union(filter(None, upper.names)))


def _bits(data: bytes, at: int) -> tuple[set[int], int]:
    """The numbers in a compressed bitmap (EWAH, as git stores it), and where the next one begins."""
    words = int.from_bytes(data[at + 4 : at + 8], "big")
    end = at + 8 + 8 * words
    if end + 4 > len(data):
        raise _Unknown
    found: set[int] = set()
    at, position = at + 8, 0
    while at < end:
        marker = int.from_bytes(data[at : at + 8], "big")
        at += 8
        running = (marker >> 1 & 0xFFFFFFFF) * 64
        if position + running > _LONGEST:
            raise _Unknown
        if marker & 1:
            found.update(range(position, position + running))
        position += running
        for _ in range(marker >> 33):
            if at >= end:
                raise _Unknown
            word = int.from_bytes(data[at : at + 8], "big")
            found.update(position + bit for bit in range(64) if word >> bit & 1)
            at += 8
            position += 64
    return found, end + 4
