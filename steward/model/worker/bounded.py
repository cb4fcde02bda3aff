"""Bounds what a server may send at a time: no line of a reply without end, no page of an error without end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx

from steward.model.worker.faults import Fault

MOST_LINE = 32 * 1024 * 1024
"""Bytes of one line, after decompression; a megabyte of zeros is a kilobyte on the wire."""
MOST_REFUSAL = 1024 * 1024
"""Bytes of an answer whose status is an error; what is more is left unread."""
_MARK = b"\xef\xbb\xbf"


def bound() -> None:
    """From now on every httpx response of this process is read within these bounds.

    The byte order mark, which may stand before an event stream, is taken off: the SDKs lose the first event with it.
    """
    original: Callable[..., AsyncIterator[bytes]] = httpx.Response.aiter_bytes

    async def aiter_bytes(self: httpx.Response, chunk_size: int | None = None) -> AsyncIterator[bytes]:
        line = total = 0
        async for piece in _without_mark(self, original(self, chunk_size)):
            end = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            line = len(piece) - end - 1 if end >= 0 else line + len(piece)
            total += len(piece)
            if line > MOST_LINE:
                raise Fault("protocol", "The server sent a line without end; nothing of it was used")
            if self.status_code >= 400 and total > MOST_REFUSAL:
                yield piece[: len(piece) - (total - MOST_REFUSAL)]
                return
            yield piece

    httpx.Response.aiter_bytes = aiter_bytes


async def _without_mark(response: httpx.Response, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        async for piece in pieces:
            yield piece
        return
    head: bytes | None = b""
    async for piece in pieces:
        if head is None:
            yield piece
            continue
        head += piece
        if len(head) >= len(_MARK) or not _MARK.startswith(head):
            yield head.removeprefix(_MARK)
            head = None
    if head:
        yield head
