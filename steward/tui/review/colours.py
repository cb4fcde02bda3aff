"""Syntax colours of a file's two sides, worked out in pieces as they come into view."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steward.tui.highlight import Token, lexer_for_path, tokens_by_line

if TYPE_CHECKING:
    from steward.proposals.diff import FileDiff

WINDOW = 160
"""Lines coloured at once."""

LOOKBACK = 80
"""Lines read before them, so that a string or comment begun above is known."""

MAX_BYTES = 4_000_000


class Side:
    """The tokens of one side of one file."""

    def __init__(self, data: bytes | None, path: str) -> None:
        self._path = path
        self._data = data if data is not None and len(data) <= MAX_BYTES else b""
        self._lines: list[str] | None = None
        self._windows: dict[int, list[list[Token]]] = {}

    def tokens(self, number: int) -> list[Token] | None:
        """The tokens of a line (from 1); ``None`` when its window is not coloured yet."""
        window = self._windows.get((number - 1) // WINDOW)
        if window is None:
            return None if self._data else []
        at = (number - 1) % WINDOW
        return window[at] if at < len(window) else []

    def colour(self, number: int) -> None:
        """Colour the window that holds a line; takes some milliseconds, may run in a thread."""
        index = (number - 1) // WINDOW
        if index in self._windows:
            return
        if self._lines is None:
            self._lines = self._data.decode("utf-8", "surrogateescape").split("\n")
        first = index * WINDOW
        start = max(first - LOOKBACK, 0)
        tokens = tokens_by_line("\n".join(self._lines[start : first + WINDOW]), lexer_for_path(self._path))
        self._windows[index] = tokens[first - start :]


class Colours:
    """The sides of all files of a diff, and which lines were drawn before their colours were known."""

    def __init__(self, diffs: Sequence[FileDiff] = ()) -> None:
        self._diffs = diffs
        self._sides: dict[tuple[int, bool], Side] = {}
        self._missing: set[tuple[int, bool, int]] = set()
        self.misses = 0
        """How often tokens were asked for that are not known yet."""

    @property
    def missing(self) -> bool:
        """Whether lines have to be drawn again once they are coloured."""
        return bool(self._missing)

    def tokens(self, file: int, old: bool, number: int) -> Sequence[Token]:
        """The tokens of a line as far as they are known; what is not is noted for ``catch_up``."""
        side = self._sides.get((file, old))
        if side is None:
            change = self._diffs[file].change
            side = Side(change.base if old else change.result, change.source if old else change.path)
            self._sides[file, old] = side
        tokens = side.tokens(number)
        if tokens is None:
            self._missing.add((file, old, number))
            self.misses += 1
            return ()
        return tokens

    async def catch_up(self) -> None:
        """Colour what was drawn without colours, a window at a time in a thread."""
        while self._missing:
            file, old, number = self._missing.pop()
            side = self._sides[file, old]
            if side.tokens(number) is None:
                await asyncio.to_thread(side.colour, number)
            self._missing = {
                item for item in self._missing if self._sides[item[0], item[1]].tokens(item[2]) is None
            }
