"""The diff, drawn by lines: only rows near the view are painted, and colours follow when they are ready."""

from __future__ import annotations

import asyncio
import re
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

from steward.tui.highlight import Token
from steward.tui.keys import DIFF, bindings
from steward.tui.lines import Line
from steward.tui.looks import Looks, looks_for
from steward.tui.review.colours import Side
from steward.tui.review.paint import Brush, Shape, height, paint, with_edge
from steward.tui.review.rows import CodeRow, CommentRow, FileRow, HunkRow, Row, TextRow, rows_of

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
        self._sides: dict[tuple[int, bool], Side] = {}
        self._uncoloured: set[tuple[int, bool, int]] = set()
        self._colouring = False
        self._about: list[TextRow] | None = None
        self._pattern: re.Pattern[str] | None = None
        self._hits: list[int] = []

    # What is shown

    def show(self, review: Review, reading: Reading) -> None:
        """Show a review from its top, with the context it came with."""
        self.review, self.reading = review, reading
        self.since, self.mark = False, None
        self.cursor = 0
        self.context = 3
        self._diffs, self._about = review.diffs, None
        self._sides = {}
        self._rebuild()
        self.scroll_to(y=0, animate=False, immediate=True)
        self.call_after_refresh(lambda: self.post_message(self.Drawn()))

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
        kept = self._rows[self.cursor] if self.cursor < len(self._rows) else None
        comments = self.reading.comments if self.reading is not None else ()
        self._rows = rows_of(self.review, self._diffs, self.is_split, comments, self._about)
        self.mark = None
        if isinstance(kept, CodeRow):
            self.cursor = self._near(kept)
        else:
            self.cursor = min(self.cursor, max(len(self._rows) - 1, 0))
        self._lay_out()
        self._search_again()

    def _near(self, kept: CodeRow) -> int:
        old_no = kept.old.old_no if kept.old else None
        new_no = kept.new.new_no if kept.new else None
        for index, row in enumerate(self._rows):
            if isinstance(row, CodeRow) and row.file == kept.file:
                if new_no is not None and row.new is not None and row.new.new_no == new_no:
                    return index
                if new_no is None and row.old is not None and row.old.old_no == old_no:
                    return index
        return min(self.cursor, max(len(self._rows) - 1, 0))

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
        self._sides = {}
        self.cursor = 0
        self._rows = []
        self._rebuild()
        self.scroll_to(y=0, animate=False, immediate=True)
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
        context, changes = self.context, [diff.change for diff in self._diffs]
        diffs = await asyncio.to_thread(lambda: tuple(file_diff(change, context) for change in changes))
        if self.context == context:
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
        if self.reading is None or isinstance(row, TextRow | FileRow | CommentRow):
            return ()
        if isinstance(row, HunkRow):
            return self._diffs[row.file].hunks[row.hunk].lines
        hunk = self.reading.parts.hunk_of(row.file, row.new or row.old)
        return hunk.lines if hunk is not None else ()

    def _is_out(self, file: int, line: DiffLine | None) -> bool:
        return not self.since and self.reading is not None and self.reading.parts.is_out(file, line)

    def _taken(self, row: FileRow | HunkRow) -> Taken:
        if self.since or self.reading is None:
            return "whole"
        if isinstance(row, FileRow):
            return self.reading.parts.taken_file(row.file)
        return self.reading.parts.taken(row.file, self._diffs[row.file].hunks[row.hunk].lines)

    # Moving

    def _row_at(self, y: int) -> int:
        return min(max(bisect_right(self._starts, y) - 1, 0), max(len(self._rows) - 1, 0))

    def move_to(self, row: int, *, top: bool = False) -> None:
        """Put the cursor on a row; with ``top`` near the top of the view."""
        self.cursor = min(max(row, 0), max(len(self._rows) - 1, 0))
        if top:
            self.scroll_to(y=max(self._starts[self.cursor] - 2, 0), animate=False, immediate=True)
        self._keep_in_view()
        self.refresh()
        self.post_message(self.Moved())

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
        """To the next or previous hunk."""
        self._to_kind(HunkRow, step)

    def action_file(self, step: int) -> None:
        """To the next or previous file."""
        self._to_kind(FileRow, step)

    def _to_kind(self, kind: type[HunkRow] | type[FileRow], step: int) -> None:
        found = [index for index, row in enumerate(self._rows) if isinstance(row, kind)]
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
        """Find ``text`` (case counts only if it has capitals) and go to the first hit below; how many there are."""
        self._pattern = None
        if text:
            self._pattern = re.compile(re.escape(text), 0 if text != text.lower() else re.IGNORECASE)
        self._search_again()
        self._painted.clear()
        if self._hits:
            here = next((hit for hit in self._hits if hit >= self.cursor), self._hits[0])
            self.move_to(here)
        self.refresh()
        return len(self._hits)

    @property
    def hits(self) -> tuple[int, int]:
        """Which hit the cursor is on, from 1 (0 for none), and how many rows have one."""
        place = self._hits.index(self.cursor) + 1 if self.cursor in self._hits else 0
        return place, len(self._hits)

    def action_hit(self, step: int) -> None:
        """To the next or previous row that was found."""
        if not self._hits:
            return
        if step > 0:
            self.move_to(next((hit for hit in self._hits if hit > self.cursor), self._hits[0]))
        else:
            self.move_to(next((hit for hit in reversed(self._hits) if hit < self.cursor), self._hits[-1]))

    def _search_again(self) -> None:
        self._hits = []
        if self._pattern is None:
            return
        for index, row in enumerate(self._rows):
            if isinstance(row, CodeRow):
                lines = (row.old, row.new) if row.old is not row.new else (row.old,)
                if any(line is not None and self._pattern.search(line.text) for line in lines):
                    self._hits.append(index)
            elif (isinstance(row, FileRow) and self._pattern.search(row.path)) or (
                isinstance(row, CommentRow) and self._pattern.search(row.text)
            ):
                self._hits.append(index)

    def _matches(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in self._pattern.finditer(text)] if self._pattern is not None else []

    # Drawing

    def _tokens(self, file: int, old: bool, number: int) -> Sequence[Token]:
        side = self._sides.get((file, old))
        if side is None:
            change = self._diffs[file].change
            side = Side(change.base if old else change.result, change.source if old else change.path)
            self._sides[file, old] = side
        tokens = side.tokens(number)
        if tokens is None:
            self._uncoloured.add((file, old, number))
            return ()
        return tokens

    def _line(self, y: int) -> tuple[Line, bool]:
        if y >= self._starts[-1] or not self._rows:
            return [], False
        index = self._row_at(y)
        lines = self._painted.get(index)
        if lines is None:
            if len(self._painted) > KEPT:
                self._painted.clear()
            missing = len(self._uncoloured)
            brush = Brush(
                self._shape, looks_for(self), self._tokens, self._matches, self._is_out, self._taken
            )
            lines = paint(self._rows[index], brush)
            if len(self._uncoloured) == missing:
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
        if self._uncoloured and not self._colouring:
            self._colouring = True
            self.call_later(self._start_colouring)
        return Strip(line).adjust_cell_length(self.size.width, looks.base)

    def _start_colouring(self) -> None:
        self.run_worker(self._colour(), group="colour", exit_on_error=False)

    async def _colour(self) -> None:
        """Colour what was drawn without colours, a window at a time, and draw it again."""
        try:
            while self._uncoloured:
                file, old, number = self._uncoloured.pop()
                side = self._sides.get((file, old))
                if side is not None and side.tokens(number) is None:
                    await asyncio.to_thread(side.colour, number)
                if side is not None:
                    self._uncoloured = {
                        item
                        for item in self._uncoloured
                        if self._sides[item[0], item[1]].tokens(item[2]) is None
                    }
        finally:
            self._colouring = False
        self.refresh()
