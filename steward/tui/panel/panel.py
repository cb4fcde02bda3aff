"""The side panel: drawn by lines, never focused; a click on a change reviews it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from steward.tui.looks import Looks, looks_for
from steward.tui.panel.sections import FILTERS, Filter, PanelState, Row, rows

LEAST = 24
"""Cells that panel and conversation have at least."""


class SidePanel(ScrollView, can_focus=False):
    """Shows a ``PanelState``; what does not fit is scrolled with the mouse wheel."""

    DEFAULT_CSS = """
    SidePanel {
        width: 32%; min-width: 30; max-width: 46; height: 1fr; background: $background;
        border-left: vkey $border-blurred; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-color: $border; scrollbar-background: $background;
    }
    SidePanel.-over { layer: above; dock: right; width: 80%; max-width: 46; border-left: vkey $primary; }
    """

    ALLOW_SELECT: ClassVar[bool] = False

    class Review(Message):
        """A change was clicked."""

        def __init__(self, change: str) -> None:
            self.change = change
            super().__init__()

    class Filter(Message):
        """The head of the changes was clicked."""

    def __init__(self) -> None:
        super().__init__(id="panel")
        self.fitted = False
        """Whether the width of the screen has been taken into account."""
        self._wanted = 0
        """The width that the person has given it; 0 while they have not."""
        self.state = PanelState()
        self._rows: list[Row] = []
        self._made_for: tuple[PanelState | None, int, Looks | None] = (None, 0, None)

    @property
    def filter(self) -> Filter:
        """Which changes are shown."""
        return self.state.filter

    def next_filter(self) -> None:
        """Show the next kind of changes."""
        at = FILTERS.index(self.filter)
        self.show(filter=FILTERS[(at + 1) % len(FILTERS)])

    def resize(self, step: int) -> None:
        """Make it so many cells wider; the conversation keeps its least width."""
        screen = self.screen.size.width
        self._wanted = _within((self._wanted or self.outer_size.width) + step, screen)
        self.fit(screen)

    def fit(self, screen: int) -> None:
        """The screen is so wide now: keep the width that the person has given it, as far as that leaves room."""
        if not self._wanted:
            return
        width = _within(self._wanted, screen)
        self.styles.max_width = width
        self.styles.min_width = width
        self.styles.width = width

    def show(self, **facts: Any) -> None:
        """Show these facts from now on."""
        self.state = replace(self.state, **facts)
        self._lay_out()
        self.refresh()

    def _lay_out(self) -> list[Row]:
        width, looks = self.scrollable_content_region.width, looks_for(self)
        made, made_width, made_looks = self._made_for
        if (made is not self.state or made_width != width or made_looks is not looks) and width > 4:
            self._made_for = (self.state, width, looks)
            self._rows = rows(self.state, width, looks)
            size = Size(width, len(self._rows))
            if size != self.virtual_size:
                self.virtual_size = size
        return self._rows

    def on_resize(self) -> None:
        self._lay_out()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.x <= 0:
            self.capture_mouse()
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:  # pyright: ignore[reportUnknownMemberType]
            self.resize(-event.x)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def on_click(self, event: events.Click) -> None:
        at = event.y + self.scroll_offset.y
        if at == 0 and event.x > 0:
            self.post_message(self.Filter())
        elif 0 <= at < len(self._rows) and self._rows[at][1]:
            self.post_message(self.Review(self._rows[at][1]))

    def text(self) -> str:
        """What the panel says, for tests and for a reader."""
        return "\n".join("".join(segment.text for segment in line) for line, _ in self._lay_out())

    def render_line(self, y: int) -> Strip:
        looks: Looks = looks_for(self)
        found = self._lay_out()
        at = y + self.scroll_offset.y
        line = found[at][0] if at < len(found) else [Segment("", looks.base)]
        return Strip(line).adjust_cell_length(self.size.width, looks.base)


def _within(width: int, screen: int) -> int:
    return min(max(width, LEAST), max(screen - LEAST, LEAST))
