"""What the terminal sends, as events: a paste stays one paste whatever is in it, and Alt+Enter is a key of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from time import monotonic

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.message import Message

LONG = 1000
"""Characters in one read from which on an Escape at its end may begin a paste; before, it is a key."""

PATIENCE = 0.1
"""Seconds for which the beginning of a sequence is kept back."""


class TerminalParser(XTermParser):
    """Textual's parser, which gives unknown sequences as keys even from within a paste: ``\\r`` there would send it."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._paste: str | None = None
        """What has come of a paste that is not at its end; ``None`` outside of one."""
        self._back = ""
        """What may be the beginning of a paste's first sequence."""
        self._since = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed("")
            return
        long = len(data) >= LONG
        data, self._back = self._back + data, ""
        while data:
            if self._paste is None:
                before, start, data = data.partition(BRACKETED_PASTE_START)
                if start:
                    self._paste = ""
                elif back := _beginning(before, 1 if long else 2):
                    before, self._back, self._since = before[:-back], before[-back:], monotonic()
                if before:
                    yield from super().feed(before)
            else:
                seen = max(len(self._paste) - len(BRACKETED_PASTE_END), 0)
                self._paste, data = self._paste + data, ""
                if (end := self._paste.find(BRACKETED_PASTE_END, seen)) >= 0:
                    text, data = self._paste[:end], self._paste[end + len(BRACKETED_PASTE_END) :]
                    self._paste = None
                    yield events.Paste(text.replace("\x00", ""))

    def tick(self) -> Iterable[Message]:
        if self._back and monotonic() - self._since >= PATIENCE:
            back, self._back = self._back, ""
            yield from super().feed(back)
        yield from super().tick()

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if (
            sequence == "\x1b\r"
        ):  # what terminals without a keyboard protocol send; Textual takes it for Enter
            return (events.Key("alt+enter", None),)
        return super()._sequence_to_key_events(sequence, alt)


def _beginning(text: str, least: int) -> int:
    """How many characters at the end of ``text`` begin the sequence of a paste, if at least ``least``."""
    for size in range(min(len(BRACKETED_PASTE_START) - 1, len(text)), least - 1, -1):
        if BRACKETED_PASTE_START.startswith(text[-size:]):
            return size
    return 0


def install() -> None:
    """Have Textual read the terminal with it."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.XTermParser = TerminalParser  # pyright: ignore[reportPrivateImportUsage]
