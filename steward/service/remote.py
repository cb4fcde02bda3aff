"""Instruction documents behind URLs: fetched once per conversation by the worker, the last good copy kept."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from steward.agents_md import RemoteDocument
from steward.errors import ModelError, StewardError
from steward.storage.copies import CopyStore

if TYPE_CHECKING:
    from steward.model.gateway import Gateway

SECONDS = 5.0
"""How long one URL may take."""


class RemoteDocuments:
    """What the person's configured URLs hold, as far as it could be fetched."""

    def __init__(self, copies: CopyStore, *, limit: int) -> None:
        self._copies = copies
        self._limit = limit
        self._errors: dict[str, str] = {}
        self._fetched: set[str] = set()

    def get(self, url: str) -> RemoteDocument | None:
        """The document, the last good copy with its age, or why there is neither."""
        copy = self._copies.get(url)
        error = (
            "" if url in self._fetched else self._errors.get(url, "it is fetched when a conversation starts")
        )
        if copy is None:
            return RemoteDocument(None, error)
        return RemoteDocument(copy.data, error, max(0.0, time.time() - copy.at))

    async def refresh(self, urls: Iterable[str], gateway: Gateway) -> None:
        """Fetch all of them at once; a failure is kept and shown, never raised."""
        import asyncio  # late, since most commands fetch nothing

        await asyncio.gather(*(self._fetch(url, gateway) for url in urls))

    async def _fetch(self, url: str, gateway: Gateway) -> None:
        import asyncio

        self._fetched.discard(url)
        try:
            data = await gateway.fetch(url, limit=self._limit + 1, seconds=SECONDS)
            await asyncio.to_thread(self._copies.put, url, data)
        except ModelError as error:
            self._errors[url] = str(error).rstrip(".")
        except StewardError as error:
            self._errors[url] = f"it could not be kept: {error}".rstrip(".")
        else:
            self._fetched.add(url)
