"""The part of the steward behind what a person types: paths to complete, earlier questions, and the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steward.service.completion import PathIndex
    from steward.service.house import House


class Prompting:
    """What a prompt needs to know and to keep. ``Steward`` is made of it."""

    _house: House
    _index: PathIndex
    _listing: asyncio.Task[None] | None = None
    """The first list of the files, while it is made."""

    @property
    def paths_listed(self) -> bool:
        """Whether the files were listed once; the first completion waits for that."""
        return self._index.listed

    async def complete_path(self, text: str, limit: int = 12) -> tuple[str, ...]:
        """Paths of the workspace that fit what was typed, best first; none when the list was stopped."""
        if not self._index.listed:
            # One thread for however many keys: others are waited for in threads, too.
            if self._listing is None or self._listing.done():
                self._listing = self._later(asyncio.to_thread(self._index.begin))
            await asyncio.shield(self._listing)
            if not self._index.listed:
                return ()
        return await asyncio.to_thread(lambda: self._index.complete(text, limit))

    def stop_listing(self) -> None:
        """Give up listing the files for the first time; the next completion begins again."""
        self._index.stop()

    async def history(self, limit: int = 500) -> tuple[str, ...]:
        """What the person asked before, oldest first."""
        return await asyncio.to_thread(lambda: self._house.prompts.history(limit))

    async def remember(self, prompt: str) -> None:
        """Add to the history."""
        await asyncio.to_thread(lambda: self._house.prompts.remember(prompt))

    async def draft(self) -> str:
        """What was typed and not sent."""
        return await asyncio.to_thread(self._house.prompts.draft)

    async def keep_draft(self, text: str) -> None:
        """Keep what was typed and not sent."""
        await asyncio.to_thread(lambda: self._house.prompts.keep_draft(text))

    def _later(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        raise NotImplementedError
