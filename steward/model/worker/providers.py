"""The two built-in providers as litellm knows them: ``script`` replays a file's reply, ``offline`` is the guide."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

from litellm.llms.custom_llm import CustomLLM

from steward.conversation import JsonObject
from steward.model.offline import guide

ENTRY = "steward_entry"
"""The litellm argument that carries a script's reply to the provider."""
RAW = "steward_delta"
"""The provider-specific field in which a script's raw deltas pass through litellm untouched."""


OVER = "The script has no further reply; it needs one line for each round."


class ScriptFault(Exception):
    """The error that a script's reply asks for; litellm wraps it, and the worker finds it again inside."""

    def __init__(self, shape: JsonObject) -> None:
        self.shape = shape
        super().__init__(str(shape.get("message", "the script's error")))


class ScriptProvider(CustomLLM):
    """One reply of a script, streamed as the script says."""

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        entry = cast(JsonObject | None, kwargs["optional_params"].get(ENTRY))
        if entry is None:
            raise ScriptFault({"kind": "bad-request", "sentence": OVER})
        error = cast(JsonObject | None, entry.get("error"))
        if error is not None and not error.get("after"):
            raise ScriptFault(error)
        for chunk in _chunks(entry):
            await asyncio.sleep(float(entry.get("delay", 0)))
            yield chunk
        if error is not None:
            raise ScriptFault(error)
        finish = entry.get("finish", "tool_calls" if entry.get("calls") else "stop")
        yield _chunk(finish=finish, usage=_usage(entry.get("usage")))


class OfflineProvider(CustomLLM):
    """The offline guide: looks at the messages so far and gives the next reply."""

    async def astreaming(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        tools = cast(list[JsonObject], kwargs["optional_params"].get("tools") or [])
        reply = guide(cast(list[JsonObject], kwargs["messages"]), tools)
        entry: JsonObject = {"text": reply.text, "calls": list(reply.calls), "chunk": 48}
        for chunk in _chunks(entry):
            await asyncio.sleep(0)
            yield chunk
        yield _chunk(finish="tool_calls" if reply.calls else "stop")


def _chunks(entry: JsonObject) -> Iterator[JsonObject]:
    size = int(entry.get("chunk", 24))
    for piece in _pieces(str(entry.get("reasoning", "")), size):
        yield _chunk(raw={"reasoning_content": piece})
    for piece in _pieces(str(entry.get("text", "")), size):
        yield _chunk(text=piece)
    for index, call in enumerate(cast(list[JsonObject], entry.get("calls", []))):
        given = call.get("arguments", {})
        arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        pieces = _pieces(arguments, max(size, 1)) or [""]
        for number, piece in enumerate(pieces):
            first = number == 0
            yield _chunk(
                tool={
                    "index": index,
                    "id": call.get("id") if first else None,
                    "type": "function",
                    "function": {"name": call["name"] if first else None, "arguments": piece},
                }
            )
    for delta in cast(list[JsonObject], entry.get("deltas", [])):
        yield _chunk(raw=delta)


def _pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _chunk(
    text: str = "",
    tool: JsonObject | None = None,
    finish: str | None = None,
    usage: JsonObject | None = None,
    raw: JsonObject | None = None,
) -> JsonObject:
    """A chunk in the shape that litellm wants of a custom provider."""
    chunk: JsonObject = {
        "text": text,
        "tool_use": tool,
        "is_finished": finish is not None,
        "finish_reason": finish or "",
        "usage": usage,
        "index": 0,
    }
    if raw is not None:
        chunk["provider_specific_fields"] = {RAW: raw}
    return chunk


def _usage(shape: JsonObject | None) -> JsonObject | None:
    if shape is None:
        return None
    prompt, completion = int(shape.get("prompt") or 0), int(shape.get("completion") or 0)
    usage: JsonObject = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if shape.get("cached") is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": int(shape["cached"])}
    return usage
