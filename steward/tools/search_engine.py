"""Searching files one by one in Python: what every search engine of the steward has to answer, and one that does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from steward.errors import PathRefused
from steward.tools.overlay import Overlay
from steward.tools.search_query import Query, RanAway
from steward.tools.text import Lines
from steward.workspace import LeftOut, RepoPath
from steward.workspace.glob import Glob

Stopped = Literal["", "cancelled", "time", "ran-away"]


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
class Tally:
    """What a search did, counted while it runs."""

    searched: int = 0
    binary: int = 0
    utf16: int = 0
    too_large: int = 0
    unreadable: int = 0
    links: int = 0
    special: int = 0
    odd_bytes: int = 0
    """Files searched that are not UTF-8."""
    walk: LeftOut = field(default_factory=LeftOut)
    asked_for_ignored: bool = False
    stopped: Stopped = ""
    stopped_at: RepoPath | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to search: files at or beneath ``path`` that ``glob`` means. ``deadline`` is on the monotonic clock."""

    query: Query
    path: RepoPath
    glob: Glob | None
    deadline: float
    stop: Callable[[], bool]


class SearchEngine(Protocol):
    """Gives hits file by file: in order of paths what is on disk, then what is pending; read through the overlay."""

    def search(self, overlay: Overlay, request: Request, tally: Tally) -> Iterator[FileHits]:
        """Raises ``PathRefused`` when ``request.path`` itself cannot be searched."""
        ...


class PythonEngine:
    """Walks the tree and reads every file; needs nothing but the workspace."""

    def search(self, overlay: Overlay, request: Request, tally: Tally) -> Iterator[FileHits]:
        for path in self._files(overlay, request, tally):
            if request.stop():
                tally.stopped = "cancelled"
                return
            if time.monotonic() > request.deadline:
                tally.stopped = "time"
                return
            try:
                found = look(overlay, path, request.query, tally)
            except RanAway:
                tally.stopped, tally.stopped_at = "ran-away", path
                return
            if found is not None:
                yield found

    def _files(self, overlay: Overlay, request: Request, tally: Tally) -> Iterator[RepoPath]:
        """The files to read: those on disk that are neither ignored nor out of bounds, and the pending ones."""
        start = request.path
        overlay.workspace.allowed(start)
        if start.text in overlay.pending:
            overlay.read(start)
            yield start
            return
        found = overlay.workspace.stat(start)
        if found is not None and found.kind == "file":
            yield start
            return
        written = {path for path, _ in overlay.written(start)}
        try:
            walk = overlay.workspace.walk(start, stop=request.stop)
        except PathRefused as refusal:
            if refusal.kind != "missing" or not written:
                raise overlay.hinted(refusal, start) from None
            walk = None
        if walk is not None:
            tally.walk = walk.left_out
            for path, kind in walk:
                if kind == "directory" or (
                    request.glob is not None and not request.glob.matches(path, start)
                ):
                    continue
                if path.text in overlay.pending:
                    continue
                if kind == "file":
                    yield path
                elif kind == "link":
                    tally.links += 1
                else:
                    tally.special += 1
            tally.asked_for_ignored = walk.asked_for_ignored
        for path in sorted(written):
            if request.glob is None or request.glob.matches(path, start):
                yield path


def look(overlay: Overlay, path: RepoPath, query: Query, tally: Tally) -> FileHits | None:
    """Search one file, as the model sees it; raises ``RanAway``."""
    try:
        seen = overlay.read(path)
    except PathRefused as refusal:
        match refusal.kind:
            case "too-large":
                tally.too_large += 1
            case "link":
                tally.links += 1
            case "special":
                tally.special += 1
            case "secret" | "protected":
                tally.walk.secret += 1
            case _:
                tally.unreadable += 1
        return None
    data = seen.data
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        tally.utf16 += 1
        return None
    if b"\0" in data:
        tally.binary += 1
        return None
    tally.searched += 1
    if not query.may_match(data):
        return None
    text, odd = _text(data)
    lines = Lines.of(text).texts
    hits = [Hit(line, start) for line, start in query.lines(lines)]
    if not hits:
        return None
    tally.odd_bytes += odd
    return FileHits(path, lines, hits, seen.change)


def _text(data: bytes) -> tuple[str, bool]:
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), True
