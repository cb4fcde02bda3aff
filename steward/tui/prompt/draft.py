"""What is typed and not sent yet: kept while it is typed, and brought back at the next start."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from textual import events

from steward.errors import StewardError

if TYPE_CHECKING:
    from steward.service import Steward
    from steward.tui.prompt.prompt import Prompt


class Draft:
    """The stored text is not written over before it was read, and nothing typed meanwhile is lost or mixed with it."""

    def __init__(self, steward: Steward, prompt: Prompt) -> None:
        self._steward = steward
        self._prompt = prompt
        self._read = False
        self._back = float("-inf")
        """When the stored text came back, on the clock of events."""
        self._cleared = ""

    async def bring_back(self) -> None:
        """Put the stored text before what was typed meanwhile."""
        stored = ""
        with suppress(StewardError):
            stored = await self._steward.draft()
        self._read = True
        if stored:
            self._prompt.replace_all(_joined(stored, self._prompt.text))
            self._back = monotonic()

    def key(self, event: events.Key | events.Paste) -> None:
        """A key is about to be handled; one typed before the stored text was there begins a line of its own."""
        if event.time < self._back and (isinstance(event, events.Paste) or event.is_printable):
            self._back = float("-inf")
            self._prompt.replace_all(_joined(self._prompt.text, "\n"))

    async def keep(self) -> None:
        """Keep what stands in the prompt."""
        if self._read:
            with suppress(StewardError):
                await self._steward.keep_draft(self._prompt.text)

    def clear(self) -> None:
        """Take the text away. It is among the earlier questions, and is kept if the person leaves right now."""
        self._cleared = self._prompt.text
        self._prompt.recall.remember(self._cleared)
        self._prompt.replace_all("")

    async def leave(self, seconds: float, *, cleared: bool) -> None:
        """Keep for the next time what stands in the prompt, or what was ``cleared`` from it just now."""
        text = self._prompt.text or (self._cleared if cleared else "")
        with suppress(StewardError, asyncio.TimeoutError):
            async with asyncio.timeout(seconds):
                if not self._read:
                    text = _joined(await self._steward.draft(), text)
                await self._steward.keep_draft(text)


def _joined(first: str, second: str) -> str:
    return f"{first}\n{second.lstrip(chr(10))}" if first and second else first or second
