"""Puts a provider's chunks into the shape that litellm reads, before litellm drops or renames what is in another."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from steward.conversation import JsonObject
from steward.model.accumulate import MALFORMED, text_of
from steward.model.worker.thoughts import Arriving

_BROKEN = "error"
_BAD_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS")
_REASONS = {
    **dict.fromkeys((_BROKEN, "network_error", "insufficient_system_resource", "abort"), _BROKEN),
    **dict.fromkeys(
        (MALFORMED, *_BAD_CALLS, *(f"function_call_filter: {one}" for one in _BAD_CALLS)), MALFORMED
    ),
}
"""Ends that are none, which litellm would call ``stop``: a server that failed, a call that Gemini got wrong."""

_OLLAMA = "OllamaChatCompletionResponseIterator"


class Broken(Exception):
    """A reply whose server says in its last chunk that it failed."""

    def __init__(self, error: JsonObject) -> None:
        self.body = error
        super().__init__(str(error.get("message") or ""))


def keep_reasons() -> None:
    """From now on litellm hands on these ends of replies as what they are; one without such a map does anyway."""
    with suppress(ImportError):
        from litellm.litellm_core_utils import core_helpers

        getattr(core_helpers, "_FINISH_REASON_MAP", {}).update(_REASONS)


def make_plain(stream: Any, arriving: Arriving) -> None:
    """Let content that comes as a part, or as a list of parts, reach us as text; litellm passes over such chunks.

    It passes also over those that bring nothing but details of reasoning, which ``arriving`` takes.
    """
    inner = getattr(stream, "completion_stream", None)
    if type(inner).__name__ == _OLLAMA:
        _keep_tags(inner)
    if inner is not None and hasattr(inner, "__aiter__"):
        stream.completion_stream = _Plain(inner, arriving)


def _keep_tags(inner: Any) -> None:
    """Keep Ollama's text as it came: litellm takes the tags away that part a thought from the answer."""
    parse = inner.chunk_parser

    def parsed(chunk: JsonObject) -> Any:
        message: object = chunk.get("message")
        if not isinstance(message, dict):
            return parse(chunk)
        content: object = cast(JsonObject, message).pop("content", None)
        response = parse(chunk)
        response.choices[0].delta.content = content
        return response

    inner.chunk_parser = parsed


class _Plain:
    """An asynchronous stream of chunks, with content in parts joined; ``Broken`` where the server failed."""

    def __init__(self, inner: Any, arriving: Arriving) -> None:
        self._inner = inner
        self._chunks = inner.__aiter__()
        self._arriving = arriving

    def __aiter__(self) -> _Plain:
        return self

    async def __anext__(self) -> Any:
        chunk = await self._chunks.__anext__()
        for choice in cast(list[Any], getattr(chunk, "choices", None) or ()):
            delta: Any = getattr(choice, "delta", None)
            if isinstance(getattr(delta, "content", None), list | dict):
                delta.content = text_of(delta.content)
            self._arriving.feed_details(delta)
            if _REASONS.get(str(getattr(choice, "finish_reason", None))) == _BROKEN:
                error: object = getattr(choice, "error", None)
                raise Broken(cast(JsonObject, error) if isinstance(error, dict) else {})
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
