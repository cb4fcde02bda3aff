"""The transcript: one scrollable view of blocks, drawn by lines, of which only those near the view are laid out."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from steward.tui.conversation.answer import Answer
from steward.tui.conversation.blocks import Block
from steward.tui.conversation.heights import Heights
from steward.tui.keys import CALLS, READING, bindings
from steward.tui.lines import Line, text_of
from steward.tui.looks import Looks, looks_for

if TYPE_CHECKING:
    from textual.selection import Selection

FRAME = 0.05
"""Shortest time between two frames of growth, in seconds."""

SHARE = 5
"""A frame that took long to lay out delays the next by this many times as much, so that it never eats a core."""

KEPT = 200
"""Blocks whose lines are kept at once."""

EAGER = 40
"""Blocks at the end that are laid out at once; estimates are made of the others."""


class Transcript(ScrollView, can_focus=True):
    """Blocks from top to bottom. It follows the end while the view is at the end, and else stays where it is."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*READING, *CALLS))

    FOCUS_ON_CLICK: ClassVar[bool] = False
    """Who selects or opens something with the mouse goes on typing where they were."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll;
        scrollbar-size-vertical: 1; scrollbar-color: $border; scrollbar-background: $background;
        scrollbar-color-hover: $primary; scrollbar-color-active: $primary; scrollbar-background-hover: $background;
        scrollbar-background-active: $background; scrollbar-corner-color: $background;
    }
    """

    class Below(Message):
        """How many lines are below the view has changed; 0 at the end."""

        def __init__(self, lines: int) -> None:
            self.lines = lines
            super().__init__()

    class Review(Message):
        """A line about a change was opened."""

        def __init__(self, change: str) -> None:
            self.change = change
            super().__init__()

    class Leave(Message):
        """The person wants to type again."""

    class Walked(Message):
        """The person walks through it, or no longer does: other keys work."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.blocks: list[Block] = []
        self.following = True
        self._heights = Heights()
        self._laid: dict[Block, None] = {}
        self.flowing: Answer | None = None
        """The answer that is arriving; it is brought up to date once per frame."""
        self._dirty: set[int] = set()
        self._frame_cost = 0.0
        self._frame_waits = False
        self._cursor: Block | None = None
        self._below = 0
        self._width = 0
        self._placing = False

    # What is in it

    def add(self, block: Block, after: Block | None = None) -> None:
        """Put a block after another one, or at the end."""
        self._insert(block, len(self.blocks) if after is None else self._index(after) + 1)

    def add_before(self, block: Block, before: Block) -> None:
        """Put a block before another one."""
        self._insert(block, self._index(before))

    def take_out(self, block: Block) -> None:
        """Take a block out."""
        index = self._index(block)
        self._laid.pop(block, None)
        del self.blocks[index]
        self._heights.remove(index)
        self._dirty = {i - (i > index) for i in self._dirty if i != index}
        if self._cursor is block:
            self._cursor = None
        self._want_frame()

    def _insert(self, block: Block, index: int) -> None:
        self.blocks.insert(index, block)
        self._heights.insert(index, block.gap_lines + block.estimate(self._width or 80), False)
        if index < len(self.blocks) - 1:
            self._dirty = {i + (i >= index) for i in self._dirty}
        self._dirty.add(index)
        self._want_frame()

    def changed(self, block: Block) -> None:
        """A block is not what it was; it is laid out again with the next frame."""
        self._dirty.add(self._index(block))
        self._want_frame()

    def clear(self) -> None:
        """Take out every block."""
        self.blocks.clear()
        self._heights.clear()
        self._laid.clear()
        self._dirty.clear()
        self._cursor = None
        self.flowing = None
        self.following = True
        self._frame()

    def fold_all(self) -> bool:
        """Close all that folds if any of it is open, else open all; whether they are open now."""
        folds = [(i, block) for i, block in enumerate(self.blocks) if block.foldable]
        opening = not any(block.open for _, block in folds)
        for index, block in folds:
            if block.open != opening:
                block.toggle()
                self._dirty.add(index)
        self._frame()
        return opening

    def _index(self, block: Block) -> int:
        for index in range(len(self.blocks) - 1, -1, -1):
            if self.blocks[index] is block:
                return index
        raise ValueError("the block is not in the transcript")

    # Frames

    @property
    def looks(self) -> Looks:
        """The styles of the theme in use."""
        return looks_for(self)

    def grow(self, answer: Answer) -> None:
        """The answer has more text than was laid out."""
        self.flowing = answer
        self._want_frame()

    def _flow(self) -> None:
        """Move what arrived into blocks."""
        if self.flowing is not None:
            self._frame_waits, waits = True, self._frame_waits
            self.flowing.flow()
            self._frame_waits = waits

    def _want_frame(self) -> None:
        if not self._frame_waits and self.is_mounted:
            self._frame_waits = True
            self.set_timer(min(max(FRAME, self._frame_cost * SHARE), 0.5), self._timed_frame)

    def _timed_frame(self) -> None:
        self._frame_waits = False
        self._frame()

    def settle(self) -> None:
        """Lay out at once what waits for a frame."""
        self._frame()

    def _frame(self) -> None:
        """Bring heights and view up to date with what changed."""
        if not self.is_mounted or not self._width:
            return
        began = perf_counter()
        self._flow()
        anchor, within = self._anchor()
        first_eager = len(self.blocks) - EAGER
        top = self.scroll_offset.y
        for index in sorted(self._dirty):
            if index >= len(self.blocks):
                continue
            near = index >= first_eager or top - 200 < self._heights.start(index) < top + 400
            if near:
                self._measure(index)
            else:
                block = self.blocks[index]
                self._heights.set(index, block.gap_lines + block.estimate(self._width), False)
        self._dirty.clear()
        self._place(anchor, within)
        self._frame_cost = perf_counter() - began
        self.refresh()

    def _lines_of(self, block: Block) -> list[Line]:
        """The lines of a block; those of the blocks that were asked for longest ago are let go of."""
        self._laid.pop(block, None)
        self._laid[block] = None
        if len(self._laid) > KEPT:
            oldest = next(iter(self._laid))
            del self._laid[oldest]
            oldest.forget()
        return block.lines(self._width, self.looks)

    def _measure(self, index: int) -> int:
        block = self.blocks[index]
        height = block.gap_lines + len(self._lines_of(block))
        return self._heights.set(index, height, True)

    def _anchor(self) -> tuple[Block | None, int]:
        """The block at the top of the view and the line of it, which is to stay where it is."""
        if self.following or not self.blocks or not len(self._heights):
            return None, 0
        index, within = self._heights.at(self.scroll_offset.y)
        return self.blocks[index], within

    def _place(self, anchor: Block | None, within: int) -> None:
        """Set the size of the whole and where the view stands in it."""
        self._placing = True
        total = top = 0
        try:
            for _ in range(8):
                total = self._heights.total
                height = self.scrollable_content_region.height
                limit = max(total - height, 0)
                if self.following:
                    top = limit
                elif anchor is not None:
                    top = min(self._heights.start(self._index(anchor)) + within, limit)
                else:
                    top = min(self.scroll_offset.y, limit)
                if not self._measure_between(top, top + height):
                    break
            if self.virtual_size != Size(self._width, total):
                self.virtual_size = Size(self._width, total)
            if top != self.scroll_offset.y or self.scroll_target_y != top:
                self.scroll_to(y=top, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self._tell_below()

    def _measure_between(self, top: int, bottom: int) -> bool:
        """Lay out the blocks between two lines; whether any height was not what it was taken for."""
        if not self.blocks:
            return False
        index, _ = self._heights.at(top)
        moved = False
        while index < len(self.blocks) and self._heights.start(index) < bottom:
            if not self._heights.exact(index) and self._measure(index):
                moved = True
            index += 1
        return moved

    def _tell_below(self) -> None:
        below = max(self._heights.total - self.scroll_offset.y - self.scrollable_content_region.height, 0)
        if self.following:
            below = 0
        if below != self._below:
            self._below = below
            self.post_message(self.Below(below))

    # Where the view is

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if not self._placing and self.blocks and round(old_value) != round(new_value):
            top = round(new_value)
            self.following = top >= self.max_scroll_y
            anchor_index, within = self._heights.at(top)
            if self._measure_between(top, top + self.size.height):
                self._place(self.blocks[anchor_index], within)
            self._tell_below()
        super().watch_scroll_y(old_value, new_value)

    def on_resize(self, event: events.Resize) -> None:
        width = self.scrollable_content_region.width
        if width == self._width:
            self._place(*self._anchor())
            return
        anchor, within = self._anchor()
        self._take_width(width)
        self._place(anchor, within)
        self.refresh()

    def _take_width(self, width: int) -> None:
        """Lay out the end for this width and estimate the rest."""
        self._width = width
        for index, block in enumerate(self.blocks):
            self._heights.set(index, block.gap_lines + block.estimate(width), False)
        for index in range(max(len(self.blocks) - EAGER, 0), len(self.blocks)):
            self._measure(index)
        self._dirty.clear()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted and self._width:
            self.refresh()

    def on_focus(self) -> None:
        self.post_message(self.Walked())

    def on_blur(self) -> None:
        self.post_message(self.Walked())

    def action_scroll_end(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self._place(None, 0)
        self.refresh()

    def action_scroll_home(self) -> None:
        """Go to the top; what arrives meanwhile does not pull the view back."""
        self.following = False
        self.scroll_to(y=0, animate=False, immediate=True)

    def go_end(self) -> None:
        """Follow the end again."""
        self.action_scroll_end()

    # Folding

    def action_next_fold(self, step: int) -> None:
        """Move to the next call, change or thought that opens."""
        found = [block for block in self.blocks if block.foldable or block.change]
        if not found:
            return
        if self._cursor in found:
            self._cursor = found[min(max(found.index(self._cursor) + step, 0), len(found) - 1)]
        else:
            self._cursor = found[-1]
        index = self._index(self._cursor)
        start = self._heights.start(index)
        if not self.scroll_offset.y <= start < self.scroll_offset.y + self.size.height - 1:
            self.scroll_to(y=max(start - self.size.height // 3, 0), animate=False, immediate=True)
        self.refresh()

    def action_open(self) -> None:
        """Open or close where the cursor is."""
        if self._cursor is None:
            self.action_next_fold(1)
        if self._cursor is not None:
            self._opened(self._cursor)

    def action_leave(self) -> None:
        """Type again."""
        self.post_message(self.Leave())

    def _opened(self, block: Block) -> None:
        if block.change:
            self.post_message(self.Review(block.change))
        elif block.foldable:
            was_following, self.following = self.following, False
            block.toggle()
            self._dirty.add(self._index(block))
            self._frame()
            self.following = was_following and self.scroll_offset.y >= self.max_scroll_y
            self._tell_below()

    def on_click(self, event: events.Click) -> None:
        if not self.blocks or self.text_selection is not None:
            return
        index, within = self._heights.at(event.y + self.scroll_offset.y)
        block = self.blocks[index]
        if within == block.gap_lines:
            self._cursor = block if block.foldable or block.change else self._cursor
            self._opened(block)

    # Drawing

    def _line(self, y: int) -> tuple[Line, Block | None, int]:
        if not self.blocks or y >= self._heights.total:
            return [], None, 0
        index, within = self._heights.at(y)
        block = self.blocks[index]
        within -= block.gap_lines
        if within < 0:
            return [], None, 0
        lines = self._lines_of(block)
        return (lines[within], block, within) if within < len(lines) else ([], None, 0)

    def render_line(self, y: int) -> Strip:
        looks = self.looks
        width = self.size.width
        if not self._width:  # the first frame is drawn before the size is told
            self._take_width(self.scrollable_content_region.width)
        line, block, within = self._line(y + self.scroll_offset.y)
        if block is not None and block is self._cursor and within == 0 and self.has_focus:
            under = Style(bgcolor=looks.cursor.bgcolor, reverse=looks.cursor.reverse)
            line = [Segment(text, style + under if style else under) for text, style, _ in line]
            strip = Strip(line).extend_cell_length(width, looks.base + under).crop(0, width)
        else:
            strip = Strip(line).adjust_cell_length(width, looks.base)
        strip = strip.apply_offsets(0, y + self.scroll_offset.y)
        if (selection := self.text_selection) is not None:
            strip = self._selected(strip, selection, y + self.scroll_offset.y)
        return strip

    def _selected(self, strip: Strip, selection: Selection, y: int) -> Strip:
        span = selection.get_span(y)
        if span is None:
            return strip
        start, end = span
        end = strip.cell_length if end == -1 else end
        style = self.screen.get_component_rich_style("screen--selection")
        before, middle, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end)
        chosen = Strip([Segment(text, (old or Style()) + style) for text, old, _ in middle])
        return Strip.join([before, chosen, after])

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        start = 0 if selection.start is None else selection.start.y
        end = self._heights.total if selection.end is None else selection.end.y + 1
        end = min(end, self._heights.total)
        rows: list[str] = []
        for y in range(start, end):
            text = text_of(self._line(y)[0])
            span = selection.get_span(y)
            if span is not None:
                text = text[span[0] : None if span[1] == -1 else span[1]]
            rows.append(text.rstrip())
        return "\n".join(rows), "\n"
