"""One tool call: a line that says what was asked and what came of it, and opens to show both whole."""

from __future__ import annotations

import json
from typing import cast

from rich.segment import Segment

from steward.tui.conversation.blocks import FoldBlock
from steward.tui.lines import Line, plain, shorten
from steward.tui.looks import Looks
from steward.tui.marks import literal

LONGEST_VALUE = 60
"""Cells of one argument in the headline; opening the block shows all of it."""


class ToolBlock(FoldBlock):
    """A call that is being written, runs, or has ended."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.call_id = ""
        self.arguments = ""
        self.forming = 0
        self.result: str | None = None
        self.ok = True
        self.summary = ""

    def form(self, characters: int) -> None:
        """The model is still writing the call."""
        self.forming = characters
        self.changed()

    def start(self, call_id: str, arguments: str) -> None:
        """The tool runs."""
        self.call_id, self.arguments, self.forming = call_id, arguments, 0
        self.changed()

    def finish(self, ok: bool, text: str, summary: str) -> None:
        """The tool has answered."""
        self.ok, self.result, self.summary = ok, text, summary
        self.changed()

    def mark(self, looks: Looks) -> Segment:
        if self.result is None:
            return Segment(" ◌ ", looks.accent)
        if not self.ok:
            return Segment(" ▾ " if self.open else " ✗ ", looks.error)
        return Segment(" ▾ " if self.open else " ▸ ", looks.primary)

    def headline(self, looks: Looks) -> Line:
        line = [Segment(plain(self.name), looks.base)]
        if self.forming:
            return [*line, Segment(f" · writing, {self.forming:,} characters", looks.faint)]
        # What came of a patch names the file itself, and its lines exactly.
        told = self.ok and self.name == "proposePatch" and bool(self.summary)
        if not told and (detail := headline_of(self.name, self.arguments)):
            line.append(Segment(" " + detail, looks.muted))
        if self.summary:
            line.append(Segment(" · " + plain(self.summary), looks.faint if self.ok else looks.error))
        return line

    def body(self, width: int, looks: Looks) -> list[Line]:
        lines: list[Line] = []
        for name, value in arguments_of(self.arguments):
            label = Segment(plain(name) + ": ", looks.block_faint)
            if "\n" not in value:
                first, *more = literal(value, max(width - len(label.text), 8), looks)
                lines.append([label, *first])
                lines.extend([Segment(" " * len(label.text), looks.block), *line] for line in more)
            else:
                lines.append([label])
                lines.extend([Segment("  ", looks.block), *line] for line in literal(value, width - 2, looks))
        if self.result is not None:
            lines.append([Segment("─" * min(width, 24), looks.block_faint)])
            lines.extend(literal(self.result, width, looks))
        return lines

    def text(self) -> str:
        return f"{self.name}({self.arguments})\n{self.result or ''}"


def arguments_of(text: str) -> list[tuple[str, str]]:
    """Name and value of each argument; the text itself when it is not a JSON object."""
    try:
        shape: object = json.loads(text or "{}", strict=False)
    except ValueError:
        shape = None
    if not isinstance(shape, dict):
        return [("arguments", text)]
    return [
        (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in cast(dict[str, object], shape).items()
    ]


def headline_of(name: str, arguments: str) -> str:
    """What a call is about, in a few words."""
    values = dict(arguments_of(arguments))
    parts: list[str] = []
    if name == "searchFiles" and "query" in values:
        parts.append(f"“{shorten(plain(values.pop('query')), LONGEST_VALUE)}”")
        if values.get("path", ".") != ".":
            parts.append("in " + shorten(plain(values["path"]), LONGEST_VALUE))
        values.pop("path", None)
    elif "path" in values:
        parts.append(shorten(plain(values.pop("path")), LONGEST_VALUE))
    if name == "readFile":
        start, count = values.pop("startLine", "1"), values.pop("lineCount", "")
        if start.isdigit() and count.isdigit():
            parts.append(f"{start}–{int(start) + int(count) - 1}")
        elif start != "1":
            parts.append(f"from {plain(start)}")
    if name == "proposePatch":
        new, old = values.pop("newText", ""), values.pop("oldText", None)
        if old == "":
            parts.append("new file")
        elif old is not None:
            parts.append(f"−{_count(old)} +{_count(new)} lines")
    parts.extend(f"{key}={shorten(plain(value), LONGEST_VALUE)}" for key, value in values.items())
    return " ".join(parts)


def _count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n")) if text else 0
