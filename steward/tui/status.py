"""The two lines at the bottom: how things stand, and which keys work here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from steward.tui import sentences
from steward.tui.keys import entry
from steward.tui.lines import Line, pad, plain, shorten, shorten_path, width_of
from steward.tui.looks import looks_for

if TYPE_CHECKING:
    from textual.app import App


@dataclass(frozen=True, slots=True)
class Standing:
    """What the status line says."""

    workspace: str = ""
    model: str = ""
    host: str = ""
    profile: str = ""
    """The profile in force, empty for none."""
    focus: str = "."
    tokens: int = 0
    window: int | None = None
    working: str = ""
    """What is going on, empty when idle."""
    seconds: int = 0
    round: int = 0
    pending: int = 0
    stale: int = 0
    trust: str = ""
    """What is withheld from the model since the person did not accept it; empty for nothing."""
    hint: str = ""
    """Something to know for a moment; it takes the place of the rest of the right side."""


class StatusLine(Widget, can_focus=False):
    """Workspace, model, focus and context on the left; what is going on at the right."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.standing = Standing()

    def show(self, **facts: Any) -> None:
        """Say these facts from now on."""
        standing = replace(self.standing, **facts)
        if standing != self.standing:
            self.standing = standing
            self.refresh()

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        now, width = self.standing, self.size.width
        right = self._right()
        room = width - width_of(right) - 2
        dot = Segment(" · ", looks.faint)
        parts: list[Line] = [[Segment(shorten(plain(now.workspace), 24), looks.strong)]]
        model = plain(now.model)
        if now.host and now.host not in model:
            model += f" @ {plain(now.host)}"
        if now.profile:
            model = f"{plain(now.profile)}: {model}"
        fill = self._fill()
        if now.model:
            # The window's fill is what changes: the model's name gives way to it.
            left = room - width_of(parts[0]) - len(fill) - 7
            parts.append([Segment(shorten(model, min(max(left, 8), 40)), looks.base)])
        parts.append([Segment(fill, looks.warning if self._full() else looks.muted)])
        if now.focus not in ("", "."):
            parts.append([Segment(shorten_path(plain(now.focus), 36), looks.muted)])
        line: Line = [Segment(" ", looks.base)]
        for number, part in enumerate(parts):
            if width_of(line) + width_of(part) + 3 > room:
                if number == 0:
                    line.append(Segment(shorten(part[0].text, max(room - 1, 1)), looks.strong))
                continue
            line.extend([dot, *part] if number else part)
        line = pad(line, max(width - width_of(right), 0), looks.base)
        return Strip([*line, *right]).crop(0, width)

    def _fill(self) -> str:
        now = self.standing
        if now.window:
            return f"{100 * now.tokens // now.window}% of {sentences.tokens(now.window)}"
        return f"{sentences.tokens(now.tokens)} tokens"

    def _full(self) -> bool:
        return bool(self.standing.window and self.standing.tokens > 0.8 * self.standing.window)

    def _right(self) -> Line:
        looks, now = looks_for(self), self.standing
        line: Line = []
        if now.hint:
            return [Segment(f" {now.hint} ", looks.warning)]
        if now.trust:
            shown = {"changed": "changed since trusted", "new": "new since trusted"}.get(now.trust, now.trust)
            line.append(Segment(f" {shown}: /trust ", looks.warning))
        if now.pending:
            stale = f", {now.stale} stale" if now.stale else ""
            line.append(
                Segment(f" {now.pending} pending{stale} ", looks.warning if now.stale else looks.accent)
            )
        if now.working:
            rounds = f" · round {now.round}" if now.round > 1 else ""
            line.append(Segment(f" ● {now.working} {now.seconds} s{rounds} ", looks.accent))
            line.append(Segment("esc stops ", looks.faint))
        else:
            line.append(Segment(" ready ", looks.ok))
        return line


class KeyBar(Widget, can_focus=False):
    """The keys that work on this screen; a click presses one."""

    DEFAULT_CSS = "KeyBar { height: 1; width: 1fr; }"
    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, keys: tuple[tuple[str, str, str], ...]) -> None:
        """``keys``: what is shown, what it does, and Textual's name of the key."""
        super().__init__()
        self._keys = keys
        self._spans: list[tuple[int, int, str]] = []

    def show(self, keys: tuple[tuple[str, str, str], ...]) -> None:
        """Name other keys."""
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        width = self.size.width
        line: Line = []
        self._spans = []
        at = 0
        for shown, does, key in self._fitting(width):
            text = f" {shown} {does} "
            cells = cell_len(text)
            line.extend([Segment(f" {shown}", looks.primary), Segment(f" {does} ", looks.muted)])
            self._spans.append((at, at + cells, key))
            at += cells
        return Strip(pad(line, width, looks.base))

    def _fitting(self, width: int) -> list[tuple[str, str, str]]:
        """As many keys as there is room for; when some are missing, the last one named lists them all."""
        sizes = [cell_len(f" {shown} {does} ") for shown, does, _ in self._keys]
        if sum(sizes) <= width:
            return list(self._keys)
        sign, _, key = entry(cast("App[Any]", self.app), "help")  # pyright: ignore[reportUnknownMemberType]
        room = width - cell_len(f" {sign} all keys ")
        fitting = list(
            takewhile(lambda pair: pair[1] <= room, zip(self._keys, accumulate(sizes), strict=True))
        )
        named = [one for one, _ in fitting]
        return named if any(pressed == key for _, _, pressed in named) else [*named, (sign, "all keys", key)]

    def on_click(self, event: events.Click) -> None:
        for start, end, key in self._spans:
            if start <= event.x < end:
                self.app.simulate_key(key)  # pyright: ignore[reportUnknownMemberType]
