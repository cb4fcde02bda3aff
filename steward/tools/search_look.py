"""Looking for a query in one file, as the model sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from steward.errors import PathRefused
from steward.tools.overlay import Overlay
from steward.tools.search_query import Query
from steward.tools.text import UTF16_MARKS, Lines
from steward.workspace import RepoPath

_BETWEEN_CHECKS = 1 << 20
"""Bytes after which a search asks whether it is to stop."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches: its index from 0 and where in it the match starts."""

    line: int
    start: int


@dataclass(frozen=True, slots=True)
class FileHits:
    """All matching lines of one file, and its lines for context."""

    path: RepoPath
    lines: list[str]
    hits: list[Hit]
    change: str | None
    """The pending change whose text this is, instead of what is on disk."""


@dataclass(slots=True)
class Looks:
    """How looking at files ended, counted."""

    searched: int = 0
    """Files of which all that matches is shown."""
    binary: int = 0
    """Files with a NUL byte that were named to be searched; those met on the way count as searched."""
    utf16: int = 0
    """Files in UTF-16 in which the query was found."""
    too_large: int = 0
    """Files larger than a tool reads in which the query was found."""
    secret: int = 0
    unreadable: int = 0
    links: int = 0
    odd_bytes: int = 0
    """Files searched and shown that are not UTF-8."""


def look(
    overlay: Overlay,
    path: RepoPath,
    query: Query,
    looks: Looks,
    stop: Callable[[], bool],
    *,
    walked: bool = True,
) -> FileHits | None:
    """Search one file; raises ``RanAway``.

    ``stop`` is asked while a large file is read. ``walked``: a walk has given the path as a file in bounds.
    """
    try:
        seen = overlay.read(path, walked=walked)
    except PathRefused as refusal:
        match refusal.kind:
            case "too-large":
                found = _found_in_large(overlay, path, query, stop)
                looks.too_large += found
                looks.searched += not found
            case "link":
                looks.links += 1
            case "secret" | "protected":
                looks.secret += 1
            case _:
                looks.unreadable += 1
        return None
    data = seen.data
    if data.startswith(UTF16_MARKS):
        found = _found_in(overlay, path, query, data.decode("utf-16", "replace").encode("utf-8", "replace"))
        looks.utf16 += found
        looks.searched += not found
        return None
    if b"\0" in data:
        if walked:
            looks.searched += 1
        else:
            looks.binary += 1
        return None
    looks.searched += 1
    if not query.may_match(data):
        return None
    text, odd = _text(overlay.clean(path, data))
    lines, hits = _hits(text, query)
    if not hits:
        return None
    looks.odd_bytes += odd
    return FileHits(path, lines, hits, seen.change)


def passing_over(query: Query, looks: Looks, check: Callable[[], None]) -> Callable[[bytes], bool]:
    """Whether a file of some bytes needs no ``look``; it is counted then. ``check`` is called every now and then."""
    may_match = query.may_match
    read = 0

    def may_skip(data: bytes) -> bool:
        nonlocal read
        read += len(data)
        if read > _BETWEEN_CHECKS:
            read = 0
            check()
        if data.startswith(UTF16_MARKS) or (b"\0" not in data and may_match(data)):
            return False
        looks.searched += 1
        return True

    return may_skip


def _found_in_large(overlay: Overlay, path: RepoPath, query: Query, stop: Callable[[], bool]) -> bool:
    """Whether the query is found in a file too large to be shown; looked for piece by piece."""
    rest = b""
    try:
        for piece in overlay.workspace.pieces(path):
            if stop():
                return True
            before, ended, _ = (rest + piece).partition(b"\0")
            cut = len(before) if ended else before.rfind(b"\n") + 1 or len(before)
            whole, rest = before[:cut], before[cut:]
            if _found_in(overlay, path, query, whole):
                return True
            if ended:
                return False
    except PathRefused:
        return True
    return bool(rest) and _found_in(overlay, path, query, rest)


def _found_in(overlay: Overlay, path: RepoPath, query: Query, data: bytes) -> bool:
    """Whether the query is found in what the model may be told of ``data``."""
    if not query.may_match(data) or not _hits(_text(data)[0], query)[1]:
        return False
    clean = overlay.clean(path, data)
    return clean is data or bool(_hits(_text(clean)[0], query)[1])


def _hits(text: str, query: Query) -> tuple[list[str], list[Hit]]:
    lines = Lines.of(text).texts
    return lines, [Hit(line, start) for line, start in query.lines(lines)]


def _text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), True
