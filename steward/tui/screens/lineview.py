"""A scrollable view of lines that are laid out for its width."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from steward.tui.keys import PAGE, READING, bindings
from steward.tui.lines import Line
from steward.tui.looks import Looks, looks_for

Maker = Callable[[int, Looks], list[Line]]
"""Makes the lines for a width."""


class LineView(ScrollView, can_focus=True):
    """Shows what its maker makes."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*READING, *PAGE[:1]))

    DEFAULT_CSS = """
    LineView {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-color: $border; scrollbar-background: $background; scrollbar-color-hover: $primary;
        scrollbar-background-hover: $background; scrollbar-background-active: $background;
    }
    """

    def __init__(self, make: Maker, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._make = make
        self._lines: list[Line] = []
        self._made_for: tuple[int, Looks | None] = (0, None)

    def show(self, make: Maker) -> None:
        """Show something else."""
        self._make, self._made_for = make, (0, None)
        self._lay_out()
        self.refresh()

    def text(self) -> str:
        """What it says."""
        return "\n".join("".join(segment.text for segment in line) for line in self._lines)

    def _lay_out(self) -> None:
        width, looks = self.scrollable_content_region.width, looks_for(self)
        if width > 0 and self._made_for != (width, looks):
            self._made_for = (width, looks)
            self._lines = self._make(width, looks)
            self.virtual_size = Size(width, len(self._lines))

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        if self._made_for[1] is not looks:
            self._lines = self._make(self._made_for[0], looks) if self._made_for[0] else []
            self._made_for = (self._made_for[0], looks)
        at = y + self.scroll_offset.y
        line = self._lines[at] if at < len(self._lines) else []
        return Strip(line).adjust_cell_length(self.size.width, looks.base)
