"""Syntax colours of a file's two sides, worked out in pieces as they come into view."""

from __future__ import annotations

from steward.tui.highlight import Token, lexer_for_path, tokens_by_line

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
