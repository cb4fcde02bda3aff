"""Puts a provider's chunks into the shape that litellm reads, before litellm drops what is in another."""

from __future__ import annotations

from typing import Any, cast

from steward.model.accumulate import text_of


def make_plain(stream: Any) -> None:
    """Let content that comes as a part, or as a list of parts, reach us as text; litellm passes over such chunks."""
    inner = getattr(stream, "completion_stream", None)
    if inner is not None and hasattr(inner, "__aiter__"):
        stream.completion_stream = _Plain(inner)


class _Plain:
    """An asynchronous stream of chunks, with content in parts joined."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._chunks = inner.__aiter__()

    def __aiter__(self) -> _Plain:
        return self

    async def __anext__(self) -> Any:
        chunk = await self._chunks.__anext__()
        for choice in cast(list[Any], getattr(chunk, "choices", None) or ()):
            delta: Any = getattr(choice, "delta", None)
            if isinstance(getattr(delta, "content", None), list | dict):
                delta.content = text_of(delta.content)
        return chunk

    async def aclose(self) -> None:
        """Close the connection behind the stream."""
        for name in ("aclose", "close"):
            close = getattr(self._inner, name, None)
            if close is not None:
                result = close()
                if result is not None:
                    await result
                return
