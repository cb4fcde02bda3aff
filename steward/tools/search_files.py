"""searchFiles: lines of text files that hold a text or match a pattern."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from dataclasses import dataclass
from typing import Annotated

from steward.confine.programs import find_program
from steward.tools.arguments import About, Arguments
from steward.tools.base import ToolResult, blocking, described
from steward.tools.overlay import Overlay, Views, counted, display, nothing_pending
from steward.tools.search_engine import Engine, Request, SearchEngine, Tally
from steward.tools.search_look import FileHits
from steward.tools.search_query import compiled
from steward.workspace import RepoPath, Workspace
from steward.workspace.glob import Glob


@dataclass(frozen=True, slots=True)
class SearchFilesArguments(Arguments):
    """What searchFiles takes."""

    query: Annotated[str, About("Text to find, literally unless regex is true.")]
    path: Annotated[str, About("Directory or file to search, relative to the workspace.")] = "."
    regex: Annotated[bool, About("Whether query is a regular expression.")] = False
    ignoreCase: Annotated[bool, About("Whether letters match in either case.")] = False
    glob: Annotated[str | None, About("Search only files that match, like *.py or src/**/*.{ts,tsx}.")] = None
    context: Annotated[int, About("Lines to give before and after each match.", least=0, most=20)] = 0


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How much one call gives, and how long it may take."""

    matches: int = 200
    line_characters: int = 300
    characters: int = 40_000
    seconds: float = 20.0
    regex_seconds: float = 2.0
    """For one file."""


class SearchFilesTool:
    """Gives matching lines with path and number, and says what was searched, skipped and cut."""

    name = "searchFiles"
    arguments = SearchFilesArguments

    def __init__(
        self,
        workspace: Workspace,
        views: Views = nothing_pending,
        *,
        limits: SearchLimits | None = None,
        engine: SearchEngine | None = None,
    ) -> None:
        self._workspace = workspace
        self._views = views
        self._limits = limits or SearchLimits()
        self._engine = engine

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return described(self.name)

    async def run(self, arguments: SearchFilesArguments) -> ToolResult:
        """Raises ``PathRefused`` or ``UsageError``; the search ends soon after it is cancelled."""
        path = RepoPath.parse(arguments.path)
        glob = Glob.parse(arguments.glob) if arguments.glob else None
        query = compiled(
            arguments.query,
            regex=arguments.regex,
            ignore_case=arguments.ignoreCase,
            seconds=self._limits.regex_seconds,
        )
        stop = threading.Event()
        request = Request(query, path, glob, time.monotonic() + self._limits.seconds, stop.is_set)
        try:
            return await blocking(self._search, request, arguments.context)
        finally:
            stop.set()

    def _search(self, request: Request, context: int) -> ToolResult:
        overlay = Overlay(self._workspace, self._views)
        tally = Tally()
        page = _Page(self._limits, context)
        engine = self._engine or Engine(find_program(self._workspace.root))
        with closing(engine.search(overlay, request, tally)) as files:
            for found in files:
                if not page.add(found):
                    break
        found = counted(page.matches, "match", "matches")
        where = counted(page.files, "file")
        head = f"{found} in {where}." if page.matches else "No matches."
        place = display(request.path) if request.path.parts else "the workspace"
        notes = [
            f"Searched {counted(tally.searched, 'file')} in {place}{_skipped(tally, whole=not page.full)}."
        ]
        notes += _notes(page, tally, self._limits)
        summary = f"{found} in {where}" if page.matches else "no matches"
        if page.full or tally.stopped:
            summary += ", stopped early"
        return ToolResult(
            "\n".join((" ".join((head, *notes)), *page.rows)), touched=(request.path,), summary=summary
        )


class _Page:
    """The rows of a result, filled until a limit is reached."""

    def __init__(self, limits: SearchLimits, context: int) -> None:
        self.rows: list[str] = []
        self.matches = 0
        self.files = 0
        self.cut = 0
        self.full = ""
        self.pending: list[str] = []
        self._limits = limits
        self._context = context
        self._room = limits.characters

    def add(self, found: FileHits) -> bool:
        """Add a file's hits; whether there is room for more files."""
        name = display(found.path)
        starts = {hit.line: hit.start for hit in found.hits}
        last = -1
        before = self.matches
        for hit in found.hits:
            if self.matches >= self._limits.matches:
                self.full = f"at the limit of {self._limits.matches:,} matches"
                break
            first = max(hit.line - self._context, last + 1)
            if self._context and self.rows and first > last + 1:
                self.rows.append("--")
            for line in range(first, min(hit.line + self._context, len(found.lines) - 1) + 1):
                # The context after a match stops before the next match, which is counted on its own.
                if line > hit.line and line in starts:
                    break
                mark = ":" if line in starts else "-"
                row = f"{name}{mark}{line + 1}{mark}{self._shown(found.lines[line], starts.get(line))}"
                self._room -= len(row) + 1
                if self._room < 0 and self.rows:
                    self.full = f"at the limit of {self._limits.characters:,} characters"
                    break
                self.rows.append(row)
                last = line
            if self.full:
                break
            self.matches += 1
        if self.matches > before:
            self.files += 1
            if found.change:
                self.pending.append(f"{name} is your pending text of {found.change}.")
        return not self.full

    def _shown(self, text: str, start: int | None) -> str:
        """A line, or the part of it around the match when it is long."""
        most = self._limits.line_characters
        if not text.isascii():
            text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if len(text) <= most:
            return text
        self.cut += 1
        begin = min(max((start or 0) - most // 4, 0), len(text) - most)
        piece = text[begin : begin + most]
        return ("…" if begin else "") + piece + ("…" if begin + most < len(text) else "")


def _skipped(tally: Tally, *, whole: bool) -> str:
    """What was skipped, by reason; of a search that ended at a limit only what was looked at."""
    walk = tally.walk
    parts = [
        f"{number:,} {what}"
        for number, what in (
            (walk.ignored * whole, "ignored"),
            (tally.binary, "binary"),
            (tally.utf16, "UTF-16"),
            (tally.too_large, "too large"),
            (tally.secret + walk.secret * whole, "secret"),
            (walk.protected * whole, "protected"),
            (tally.links * whole, "links"),
            (tally.special * whole, "not regular files"),
            (tally.unreadable + walk.unreadable * whole, "unreadable"),
            (walk.other_mounts * whole, "on other mounts"),
            (walk.unnamed * whole, "with names that are not UTF-8"),
            (walk.vanished * whole, "vanished meanwhile"),
            (walk.not_applied * whole, "ignore files not applied"),
        )
        if number
    ]
    return f"; skipped: {', '.join(parts)}" if parts else ""


def _notes(page: _Page, tally: Tally, limits: SearchLimits) -> list[str]:
    """Sentences about whatever the rows do not show."""
    notes = list(page.pending)
    if page.full:
        notes.append(f"Stopped {page.full}: there may be more; narrow the query, path or glob.")
    match tally.stopped:
        case "time":
            notes.append(f"Stopped after {limits.seconds:g} seconds: not all files were searched.")
        case "ran-away":
            where = f" in {display(tally.stopped_at)}" if tally.stopped_at else ""
            notes.append(
                f"Stopped: the regular expression ran away{where} (over {limits.regex_seconds:g} seconds for one file);"
                " the files after it were not searched."
            )
        case "cancelled":
            notes.append("Cancelled: not all files were searched.")
        case "":
            pass
    if page.cut:
        notes.append(f"{counted(page.cut, 'long line')} shown in part, with … where cut.")
    if tally.odd_bytes:
        notes.append(
            f"{counted(tally.odd_bytes, 'file')} with matches not UTF-8; odd bytes are shown as \\xNN."
        )
    if tally.asked_for_ignored:
        notes.append("The directory itself is ignored by git; ignore files were not applied beneath it.")
    return notes
