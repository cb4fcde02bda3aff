"""readFile: numbered lines of one text file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from steward.errors import PathRefused
from steward.tools.arguments import About, Arguments
from steward.tools.base import ToolResult, blocking, described
from steward.tools.overlay import Overlay, Seen, Views, counted, display, nothing_pending
from steward.tools.redact import holds_mark
from steward.tools.text import Lines, decoded
from steward.workspace import RepoPath, Workspace


@dataclass(frozen=True, slots=True)
class ReadFileArguments(Arguments):
    """What readFile takes."""

    path: Annotated[str, About("Path of the file, relative to the workspace.")]
    startLine: Annotated[int, About("First line to give; lines count from 1.", least=1)] = 1
    lineCount: Annotated[
        int | None, About("How many lines to give; as many as fit when left out.", least=1)
    ] = None


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much one call gives; characters count code points."""

    lines: int = 2000
    line_characters: int = 2000
    characters: int = 60_000


class ReadFileTool:
    """Gives lines of a text file, each as number, tab, text."""

    name = "readFile"
    arguments = ReadFileArguments

    def __init__(
        self, workspace: Workspace, views: Views = nothing_pending, *, limits: ReadLimits | None = None
    ) -> None:
        self._workspace = workspace
        self._views = views
        self._limits = limits or ReadLimits()

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return described(self.name)

    async def run(self, arguments: ReadFileArguments) -> ToolResult:
        """Raises ``PathRefused``."""
        path = RepoPath.parse(arguments.path)
        return await blocking(self._read, path, arguments.startLine, arguments.lineCount)

    def _read(self, path: RepoPath, start: int, count: int | None) -> ToolResult:
        overlay = Overlay(self._workspace, self._views)
        try:
            seen = overlay.read(path)
        except PathRefused as refusal:
            raise overlay.hinted(refusal, path) from None
        decoded(path, seen.data)
        clean = overlay.clean(path, seen.data)
        lines = Lines.of(decoded(path, clean))
        total = len(lines.texts)
        if total == 0:
            return ToolResult(f"{_named(path, seen)} is empty.", touched=(path,), summary="empty file")
        if start > total:
            return ToolResult(
                f"{_named(path, seen)} has {counted(total, 'line')}; startLine {start} is past its end.",
                ok=False,
                touched=(path,),
                summary=f"past the end ({counted(total, 'line')})",
            )
        wanted = total - start + 1 if count is None else min(count, total - start + 1)
        rows, cut = self._rows(lines, start, wanted)
        last = start + len(rows) - 1
        head = f"{_named(path, seen)}, lines {start}-{last} of {total}"
        notes = [*lines.notes()]
        if cut:
            named = ", ".join(str(number) for number in cut[:20]) + (", …" if len(cut) > 20 else "")
            notes.append(
                f"{'line' if len(cut) == 1 else 'lines'} {named} cut at {self._limits.line_characters:,} characters:"
                " a cut line cannot be the source of oldText"
            )
        if clean is not seen.data and any(map(holds_mark, rows)):
            notes.append("keys are shown as [redacted …]: no line with one can be the source of oldText")
        if len(rows) < wanted:
            notes.append(f"stopped at the limit of one call; go on with startLine={last + 1}")
        if notes:
            head += f" ({'; '.join(notes)})"
        return ToolResult(
            "\n".join((head, *rows)), touched=(path,), summary=f"lines {start}-{last} of {total}"
        )

    def _rows(self, lines: Lines, start: int, wanted: int) -> tuple[list[str], list[int]]:
        """Numbered lines as far as the limits allow, at least one, and the numbers of those cut."""
        rows: list[str] = []
        cut: list[int] = []
        room = self._limits.characters
        for number in range(start, start + min(wanted, self._limits.lines)):
            text = lines.texts[number - 1]
            if len(text) > self._limits.line_characters:
                cut.append(number)
                text = (
                    f"{text[: self._limits.line_characters]}"
                    f"… [cut: {self._limits.line_characters:,} of {len(text):,} characters]"
                )
            row = f"{number}\t{text}"
            room -= len(row) + 1
            if room < 0 and rows:
                if cut and cut[-1] == number:
                    cut.pop()
                break
            rows.append(row)
        return rows, cut


def _named(path: RepoPath, seen: Seen) -> str:
    pending = f" (your pending text of {seen.change}, not on disk)" if seen.change else ""
    return f"{display(path)}{pending}"
