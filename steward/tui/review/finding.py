"""What a search finds in the rows of a review."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steward.tui.review.rows import CodeRow, CommentRow, FileRow, Row


class Finding:
    """One search and the rows it hits."""

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self.hits: list[int] = []

    def look_for(self, text: str, rows: Sequence[Row]) -> None:
        """Find another text, nothing when it is empty; case counts only if it has capitals."""
        self._pattern = (
            re.compile(re.escape(text), 0 if text != text.lower() else re.IGNORECASE) if text else None
        )
        self.again(rows)

    def again(self, rows: Sequence[Row]) -> None:
        """The rows are others."""
        self.hits = (
            [index for index, row in enumerate(rows) if self._in(row)] if self._pattern is not None else []
        )

    def _in(self, row: Row) -> bool:
        match row:
            case CodeRow(_, _, old, new):
                return any(
                    bool(self.spans(line.text)) for line in {id(s): s for s in (old, new) if s}.values()
                )
            case FileRow():
                return bool(self.spans(row.path))
            case CommentRow():
                return bool(self.spans(row.text))
            case _:
                return False

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where a text has it."""
        return [match.span() for match in self._pattern.finditer(text)] if self._pattern is not None else []

    def next(self, cursor: int, step: int) -> int:
        """The hit after a row, or before it, round the ends; there must be one."""
        if step > 0:
            return next((hit for hit in self.hits if hit > cursor), self.hits[0])
        return next((hit for hit in reversed(self.hits) if hit < cursor), self.hits[-1])

    def place(self, cursor: int) -> tuple[int, int]:
        """Which hit a row is, from 1 (0 for none), and how many rows have one."""
        return self.hits.index(cursor) + 1 if cursor in self.hits else 0, len(self.hits)
