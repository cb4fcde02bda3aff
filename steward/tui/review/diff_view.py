"""The diff, drawn by lines: only rows near the view are painted, and colours follow when they are ready."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from steward.tui.keys import DIFF, bindings
from steward.tui.lines import Line
from steward.tui.looks import Looks, looks_for
from steward.tui.review.colours import Colours
from steward.tui.review.finding import Finding
from steward.tui.review.paint import Brush, Shape, height, paint, with_edge
from steward.tui.review.rows import (
    CodeRow,
    CommentRow,
    FileRow,
    HunkRow,
    IndexRow,
    Row,
    TextRow,
    near,
    rows_of,
)

if TYPE_CHECKING:
    from steward.proposals.diff import FileDiff
    from steward.proposals.diff import Line as DiffLine
    from steward.service.views import Review
    from steward.tui.review.parts import Taken
    from steward.tui.review.reading import Reading

SPLIT_WIDTH = 132
"""From this width on the two sides stand side by side, unless the person chose otherwise."""

KEPT = 4_000
"""Painted rows that are kept."""


class DiffView(ScrollView, can_focus=True):
    """A review's rows with a cursor. It knows nothing of applying."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(DIFF)

    DEFAULT_CSS = """
    DiffView {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1;
        scrollbar-color: $border; scrollbar-background: $background; scrollbar-color-hover: $primary;
        scrollbar-color-active: $primary;
        scrollbar-background-hover: $background; scrollbar-background-active: $background;
    }
    """

    class Moved(Message):
        """The cursor stands somewhere else."""

    class Drawn(Message):
        """What is shown now has been on the screen."""

    def __init__(self) -> None:
        super().__init__()
        self.review: Review | None = None
        self.cursor = 0
        self.split: bool | None = None
        """Side by side or not; ``None`` decides by width."""
        self.context = 3
        self.reading: Reading | None = None
        """What is left out of the change and said about it."""
        self.since = False
        """Whether only what changed since the last look is shown."""
        self.mark: int | None = None
        """The row where a range begins that ends at the cursor."""
        self._diffs: tuple[FileDiff, ...] = ()
        self._rows: list[Row] = []
        self._starts: list[int] = [0]
        self._shape = Shape(0, False, 3)
        self._painted: dict[int, list[Line]] = {}
        self._painted_for: Looks | None = None
        self._colours = Colours()
        self._colouring = False
        self._about: list[TextRow] | None = None
        self._finding = Finding()

    # What is shown

    def show(self, review: Review, reading: Reading, place: Row | None = None) -> None:
        """Show a review with the context it came with, from its top or with the cursor at ``place``."""
        self.review, self.reading = review, reading
        self.since, self.mark = False, None
        self.cursor = 0
        self.context = 3
        self._diffs, self._about = review.diffs, None
        self._colours = Colours(self._diffs)
        self._rebuild()
        self.scroll_to(y=0, animate=False, immediate=True)
        self.call_after_refresh(lambda: self._shown(place))

    def _shown(self, place: Row | None) -> None:
        if place is not None:
            self._put(near(self._rows, place, self.cursor), top=True)
        self.post_message(self.Drawn())

    @property
    def is_split(self) -> bool:
        """Whether the sides stand side by side now."""
        return self.size.width >= SPLIT_WIDTH if self.split is None else self.split

    @property
    def diffs(self) -> tuple[FileDiff, ...]:
        """The files that are shown, with the context and in the mode they are shown in."""
        return self._diffs

    @property
    def rows(self) -> Sequence[Row]:
        """What stands on each row."""
        return self._rows

    def _rebuild(self) -> None:
        """Make the rows again, the cursor staying on its line if it can."""
        if self.review is None:
            return
        kept = self.place
        comments = self.reading.comments if self.reading is not None else ()
        self._rows = rows_of(self.review, self._diffs, self.is_split, comments, self._about)
        self.mark = None
        self.cursor = near(self._rows, kept, self.cursor)
        self._lay_out()
        self._finding.again(self._rows)

    @property
    def place(self) -> Row | None:
        """The row that the cursor is to be found near again; for a hunk what it begins to change."""
        if self.cursor >= len(self._rows):
            return None
        row = self._rows[self.cursor]
        if isinstance(row, HunkRow):
            below = (r for r in self._rows[self.cursor :] if isinstance(r, CodeRow) and r.old is not r.new)
            return next(below, row)
        return row

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        most = 1
        for diff in self._diffs:
            for hunk in diff.hunks[-1:]:
                most = max(most, hunk.old_start + hunk.old_lines, hunk.new_start + hunk.new_lines)
        self._shape = Shape(width, self.is_split, max(len(str(most)), 2))
        shape = self._shape
        self._starts = [0, *accumulate(height(row, shape) for row in self._rows)]
        self._painted.clear()
        self.virtual_size = Size(width, self._starts[-1])
        self.refresh()

    def on_resize(self) -> None:
        if self.review is None:
            return
        top = self._row_at(self.scroll_offset.y)
        if self._shape.split != self.is_split:
            self._rebuild()
            self._keep_in_view()
        elif self._shape.width != self.scrollable_content_region.width:
            self._lay_out()
            self.scroll_to(y=self._starts[min(top, len(self._starts) - 1)], animate=False, immediate=True)

    def repaint(self) -> None:
        """What is left out is not what it was."""
        self._painted.clear()
        self.refresh()

    def changed(self) -> None:
        """What is said about the change is not what it was."""
        self._rebuild()
        self._keep_in_view()
        self.post_message(self.Moved())

    def show_since(self, since: bool) -> None:
        """Show only what changed since the last look, or the whole change again."""
        if self.review is None or self.reading is None:
            return
        self.since, self.context = since, 3
        self._about = None
        self._diffs = self.review.diffs
        if since and self.reading.before is not None:
            self._diffs, told = self.reading.since()
            head = f"Only what changed since you looked at {self.reading.before.short_stamp}:"
            self._about = [TextRow(head, "warning"), *(TextRow(text, "note") for text in told)]
        self._colours = Colours(self._diffs)
        self.cursor = 0
        self._rows = []
        self._rebuild()
        self.scroll_to(y=0, animate=False, immediate=True)
        if not since and self.reading.place is not None:
            self._put(near(self._rows, self.reading.place, self.cursor), top=True)
        elif not since:
            self.begin()
        self.post_message(self.Moved())

    def action_sides(self) -> None:
        """Switch between one column and two."""
        self.split = not self.is_split
        self._rebuild()
        self._keep_in_view()
        self.post_message(self.Moved())

    async def action_widen(self) -> None:
        """More lines around each hunk: 3, 12, the whole file, 3 again."""
        if self.review is None:
            return
        from steward.proposals.diff import WHOLE, file_diff

        steps = [3, 12, WHOLE]
        self.context = steps[(steps.index(self.context) + 1) % len(steps)]
        context, before, changes = self.context, self._diffs, [diff.change for diff in self._diffs]
        diffs = await asyncio.to_thread(lambda: tuple(file_diff(change, context) for change in changes))
        if self.context == context and self._diffs is before:  # else another version is shown by now
            self._diffs = diffs
            self._rebuild()
            self._keep_in_view()
            self.post_message(self.Moved())

    # What the keys act on

    @property
    def chosen(self) -> list[CodeRow]:
        """The lines of the range, or the one under the cursor; only those of the cursor's file."""
        if not self._rows:
            return []
        here = self._rows[self.cursor]
        first, last = self._range()
        return [
            row for row in self._rows[first : last + 1] if isinstance(row, CodeRow) and row.file == here.file
        ]

    def _range(self) -> tuple[int, int]:
        anchor = self.cursor if self.mark is None else self.mark
        return min(anchor, self.cursor), max(anchor, self.cursor)

    def action_range(self) -> None:
        """Begin a range at the cursor, or let it go."""
        self.mark = self.cursor if self.mark is None else None
        self.refresh()
        self.post_message(self.Moved())

    def action_extend(self, step: int) -> None:
        """One row further with the range."""
        if self.mark is None:
            self.mark = self.cursor
        self.move_to(self.cursor + step)

    def lines_at(self, row: Row) -> Sequence[DiffLine]:
        """The lines of the hunk or the file that a row stands in."""
        if self.reading is None or isinstance(row, TextRow | IndexRow | FileRow | CommentRow):
            return ()
        if isinstance(row, HunkRow):
            return self._diffs[row.file].hunks[row.hunk].lines
        hunk = self.reading.parts.hunk_of(row.file, row.new or row.old)
        return hunk.lines if hunk is not None else ()

    def _is_out(self, file: int, line: DiffLine | None) -> bool:
        return not self.since and self.reading is not None and self.reading.parts.is_out(file, line)

    def _taken(self, row: FileRow | IndexRow | HunkRow) -> Taken:
        if self.since or self.reading is None:
            return "whole"
        if isinstance(row, FileRow | IndexRow):
            return self.reading.parts.taken_file(row.file)
        return self.reading.parts.taken(row.file, self._diffs[row.file].hunks[row.hunk].lines)

    # Moving

    def _row_at(self, y: int) -> int:
        return min(max(bisect_right(self._starts, y) - 1, 0), max(len(self._rows) - 1, 0))

    def move_to(self, row: int, *, top: bool = False) -> None:
        """Put the cursor on a row; with ``top`` near the top of the view."""
        self._put(row, top=top)
        self.post_message(self.Moved())

    def _put(self, row: int, *, top: bool = False) -> None:
        self.cursor = min(max(row, 0), max(len(self._rows) - 1, 0))
        if top:
            self.scroll_to(y=max(self._starts[self.cursor] - 2, 0), animate=False, immediate=True)
        self._keep_in_view()
        self.refresh()

    def _keep_in_view(self) -> None:
        if len(self._starts) <= self.cursor + 1:
            return
        first, last = self._starts[self.cursor], self._starts[self.cursor + 1]
        view, top = self.size.height, self.scroll_offset.y
        margin = min(3, view // 4)
        if first - margin < top:
            self.scroll_to(y=max(first - margin, 0), animate=False, immediate=True)
        elif last + margin > top + view:
            self.scroll_to(y=last + margin - view, animate=False, immediate=True)

    def action_line(self, step: int) -> None:
        """One row down or up."""
        self.move_to(self.cursor + step)

    def action_page(self, step: int) -> None:
        """A view down or up."""
        view = max(self.size.height - 2, 1)
        target = self.scroll_offset.y + step * view
        limit = max(self._starts[-1] - self.size.height, 0)
        if (step > 0 and self.scroll_offset.y >= limit) or (step < 0 and self.scroll_offset.y <= 0):
            self.move_to(len(self._rows) - 1 if step > 0 else 0)
            return
        self.scroll_to(y=min(max(target, 0), limit), animate=False, immediate=True)
        self.cursor = self._row_at(min(max(target, 0), limit) + min(3, self.size.height // 4))
        self.refresh()
        self.post_message(self.Moved())

    def action_edge(self, end: int) -> None:
        """To the first or the last row."""
        self.move_to(len(self._rows) - 1 if end else 0)

    def action_hunk(self, step: int) -> None:
        """To the next or previous hunk; where the hunks have grown together, to what each changes first."""
        if self.context == 3 or self.reading is None:
            self._to(step, [i for i, row in enumerate(self._rows) if isinstance(row, HunkRow)])
        else:
            self._to(step, self.reading.parts.beginnings(self._rows))

    def action_file(self, step: int) -> None:
        """To the next or previous file."""
        self._to(step, [i for i, row in enumerate(self._rows) if isinstance(row, FileRow)])

    def action_go(self) -> None:
        """From the list at the top to the file's first hunk; elsewhere to the list."""
        row = self._rows[self.cursor] if self._rows else None
        if isinstance(row, IndexRow):
            wanted = [
                i for i, r in enumerate(self._rows) if isinstance(r, FileRow | HunkRow) and r.file == row.file
            ]
            self.move_to(wanted[1] if len(wanted) > 1 else wanted[0], top=True)
            return
        file = max(row.file, 0) if row is not None else 0
        found = (i for i, r in enumerate(self._rows) if isinstance(r, IndexRow) and r.file == file)
        self.move_to(next(found, 0))

    def begin(self) -> None:
        """Put the cursor on the first hunk if that can be seen, else on the first file of the list."""
        first = next((i for i, row in enumerate(self._rows) if isinstance(row, HunkRow)), 0)
        if len(self._starts) > first + 1 and self._starts[first + 1] > self.size.height:
            first = next((i for i, row in enumerate(self._rows) if isinstance(row, IndexRow)), first)
        self.cursor = first
        self.refresh()

    def _to(self, step: int, found: list[int]) -> None:
        ahead = (
            [index for index in found if index > self.cursor]
            if step > 0
            else [index for index in reversed(found) if index < self.cursor]
        )
        if ahead:
            self.move_to(ahead[0], top=True)
        elif step < 0:
            self.move_to(0)

    def on_click(self, event: events.Click) -> None:
        self.move_to(self._row_at(event.y + self.scroll_offset.y))

    # Searching

    def search(self, text: str) -> int:
        """Find ``text`` and go to the first hit from the cursor on; how many there are."""
        self._finding.look_for(text, self._rows)
        self._painted.clear()
        if hits := self._finding.hits:
            self.move_to(self._finding.next(self.cursor - 1, 1))
        self.refresh()
        return len(hits)

    @property
    def hits(self) -> tuple[int, int]:
        """Which hit the cursor is on, from 1 (0 for none), and how many rows have one."""
        return self._finding.place(self.cursor)

    def action_hit(self, step: int) -> None:
        """To the next or previous row that was found."""
        if self._finding.hits:
            self.move_to(self._finding.next(self.cursor, step))

    # Drawing

    def _line(self, y: int) -> tuple[Line, bool]:
        if y >= self._starts[-1] or not self._rows:
            return [], False
        index = self._row_at(y)
        lines = self._painted.get(index)
        if lines is None:
            if len(self._painted) > KEPT:
                self._painted.clear()
            misses = self._colours.misses
            brush = Brush(
                self._shape,
                looks_for(self),
                self._colours.tokens,
                self._finding.spans,
                self._is_out,
                self._taken,
            )
            lines = paint(self._rows[index], brush)
            if self._colours.misses == misses:
                self._painted[index] = lines
        at = y - self._starts[index]
        first, last = self._range()
        return (lines[at] if at < len(lines) else []), first <= index <= last

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        if self._painted_for is not looks:
            self._painted.clear()
            self._painted_for = looks
        line, here = self._line(y + self.scroll_offset.y)
        if here and line:
            line = with_edge(line, looks)
        if self._colours.missing and not self._colouring:
            self._colouring = True
            self.call_later(self._start_colouring)
        return Strip(line).adjust_cell_length(self.size.width, looks.base)

    def _start_colouring(self) -> None:
        self.run_worker(self._colour(), group="colour", exit_on_error=False)

    async def _colour(self) -> None:
        try:
            await self._colours.catch_up()
        finally:
            self._colouring = False
        self.refresh()
