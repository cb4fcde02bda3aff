"""What can be completed at the cursor, and the list that offers it without moving anything else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from steward.service.commands import COMMANDS, Command, find
from steward.tui.lines import Line, pad, plain, shorten
from steward.tui.looks import looks_for

MOST = 8
"""Rows of the list."""

_AT = re.compile(r"(?:^|(?<=\s))@(\S*)$")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the text before the cursor asks for; ``start`` is where the completed text begins."""

    kind: Literal["command", "path", "change", "model", "topic", "session", "question", "profile", "skill"]
    typed: str
    start: int
    at: bool = False
    """The path was asked for with ``@``."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One row: what is inserted, and a word about it; without a value it only says something."""

    value: str
    note: str = ""
    runs: bool = False
    """Enter does it at once."""


def wanted(before: str, first_line: bool) -> Wanted | None:
    """What the text of the cursor's line up to the cursor asks for."""
    if first_line and before.startswith("/"):
        name, space, rest = before[1:].partition(" ")
        if not space:
            return Wanted("command", name, 0)
        command = find(name)
        start = len(before) - len(rest)
        match command.argument if command else "none":
            case "path":
                return Wanted("path", rest, start)
            case "change":
                return Wanted("change", rest, start)
            case "model":
                return Wanted("model", rest, start)
            case "session":
                return Wanted("session", rest, start)
            case "question":
                return Wanted("question", rest, start)
            case "topic":
                return Wanted("topic", rest, start)
            case "skill":
                return Wanted("skill", rest, start)
            case "profile" if " " not in rest:
                return Wanted("profile", rest, start)
            case "profile" | "text":
                pass
            case _:
                return None
    if match := _AT.search(before):
        return Wanted("path", match[1], match.start(), at=True)
    return None


def commands(typed: str) -> list[Choice]:
    """Commands that begin with what was typed, then those that hold it."""
    begin = [c for c in COMMANDS if c.name.startswith(typed)]
    hold = [c for c in COMMANDS if typed and typed in c.name and c not in begin]
    return [Choice(f"/{command.name}", _note(command), runs=True) for command in (*begin, *hold)]


def _note(command: Command) -> str:
    return command.help + (f"  ({key_name(command.key)})" if command.key else "")


def key_name(key: str) -> str:
    """A key as people write it."""
    return key.upper() if re.fullmatch(r"f\d+", key) else key.replace("ctrl+", "^")


class CompletionList(Widget, can_focus=False):
    """A few rows over the transcript's last lines, directly above the prompt."""

    DEFAULT_CSS = """
    CompletionList { layer: above; dock: bottom; height: auto; width: 1fr; display: none; }
    """

    ALLOW_SELECT: ClassVar[bool] = False

    class Chosen(Message):
        """A row was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.choices: Sequence[Choice] = ()
        self.index = 0

    def offer(self, choices: Sequence[Choice], below: int = 0) -> None:
        """Show these rows, ``below`` cells above the bottom; nothing when there are none."""
        self.choices = choices
        self.index = 0
        self.display = bool(choices)
        if choices:
            self.styles.height = min(len(choices), MOST)
            self.styles.margin = (0, 0, below, 0)
            self.refresh(layout=True)

    @property
    def chosen(self) -> Choice | None:
        """The row that would be taken."""
        return self.choices[self.index] if self.choices else None

    def move(self, step: int) -> None:
        """Choose another row, round the ends."""
        if self.choices:
            self.index = (self.index + step) % len(self.choices)
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        row = event.y + self._first_row()
        if row < len(self.choices):
            self.index = row
            self.post_message(self.Chosen())

    def _first_row(self) -> int:
        return max(0, min(self.index - MOST + 1 if self.index >= MOST else 0, len(self.choices) - MOST))

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        width = self.size.width
        row = y + self._first_row()
        if row >= len(self.choices):
            return Strip.blank(width, looks.user)
        choice = self.choices[row]
        column = min(max((len(c.value) for c in self.choices), default=10) + 2, max(width - 16, 12))
        here = row == self.index
        style, note = (looks.cursor, looks.cursor) if here else (looks.user, looks.user)
        line: Line = [
            Segment(" ❯ " if here else "   ", style + looks.bold if here else style),
            Segment(
                shorten(plain(choice.value), column).ljust(column), style + looks.bold if here else style
            ),
            Segment(shorten(plain(choice.note), max(width - column - 4, 1)), note),
        ]
        return Strip(pad(line, width, style)).crop(0, width)
