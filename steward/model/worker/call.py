"""One model call in the worker: streamed under our own clocks, made again only before the first token."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import httpx
import litellm

from steward.conversation import JsonObject
from steward.model.accumulate import MALFORMED
from steward.model.clocks import Clocks
from steward.model.worker.demands import learned, met
from steward.model.worker.faults import Fault, describe
from steward.model.worker.hosts import LOCAL, Target, ignored, target
from steward.model.worker.ollama import cut
from steward.model.worker.plain import make_plain
from steward.model.worker.providers import ENTRY, RAW
from steward.model.worker.thoughts import Arriving, Thoughts
from steward.model.worker.words import unread_call

Say = Callable[[JsonObject], None]
# What a request may not be told by options: these belong to the steward.
_OURS = {
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "timeout",
    "num_retries",
    "max_retries",
    "n",
}

_thoughts = Thoughts()

# How servers number the first choice, when they number it.
_FIRST = (0, "0", None, "")


async def run(operation: JsonObject, say: Say) -> None:
    """Answer ``call``: deltas, then one finish; or one error."""
    clocks = Clocks(**operation["clocks"])
    options = cast(JsonObject, operation.get("options") or {})
    where = await asyncio.to_thread(target, str(operation["model"]), options)
    script = cast(list[JsonObject] | None, operation.get("script"))
    attempt = 0
    while True:
        entry = script[attempt] if script is not None and attempt < len(script) else None
        attempt += 1
        progress = _Progress()
        try:
            await _attempt(operation, options, where, clocks, entry, progress, say)
            return
        except Exception as error:
            demand = None if progress.started else learned(error, where)
            if demand is not None:
                attempt -= 1
                say({"type": "notice", "sentence": demand})
                continue
            unread = unread_call(error)
            if unread is not None:
                if unread and not progress.started:
                    say({"type": "delta", "delta": {"content": unread}})
                say({"type": "finish", "reason": MALFORMED, "usage": None})
                return
            shape = describe(error, where, options, started=progress.started)
            pause = _pause(shape, clocks, attempt, progress)
            if pause is None:
                say({"type": "error", "error": shape})
                return
            say(
                {"type": "retry", "attempt": attempt, "seconds": round(pause, 2), "reason": shape["sentence"]}
            )
            await asyncio.sleep(pause)


class _Progress:
    """What has arrived, and whether anything of a reply has."""

    def __init__(self) -> None:
        self.started = False
        self.arriving = Arriving()


def _pause(shape: JsonObject, clocks: Clocks, attempt: int, progress: _Progress) -> float | None:
    """Seconds before the call is made again, or ``None`` when it is not."""
    if progress.started or not shape.get("retryable") or attempt > clocks.retries:
        return None
    if shape["kind"] == "timeout" and attempt > 1:
        return None
    after = shape.get("retry_after")
    if isinstance(after, int | float):
        return float(after) if after <= clocks.retry_after_limit else None
    return clocks.retry_base * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)


async def _attempt(
    operation: JsonObject,
    options: JsonObject,
    where: Target,
    clocks: Clocks,
    entry: JsonObject | None,
    progress: _Progress,
    say: Say,
) -> None:
    factor = clocks.local_factor if where.local else 1.0
    first, gap = clocks.first_token * factor, clocks.gap * factor
    stream: Any = None
    messages = cast(list[JsonObject], json.loads(operation["messages"]))
    clock = asyncio.timeout(first)
    try:
        try:
            async with clock:
                arguments = _arguments(operation, messages, options, where, clocks, max(first, gap), entry)
                stream = await cast(Any, litellm).acompletion(**arguments)
                make_plain(stream, progress.arriving)
                reason, usage = await _relayed(stream, clock, gap, progress, say)
        except TimeoutError:
            if not clock.expired():
                raise
            if progress.started:
                raise Fault("timeout", f"{where.host} sent nothing more for {gap:g} s; ask again") from None
            sentence = f"{where.host} sent no answer within {first:g} s"
            raise Fault("timeout", sentence, retryable=True) from None
        if _invented(stream):
            reason = None
            if not progress.started:
                todo = "check the base URL, which often ends in /v1"
                raise Fault("protocol", f"What {where.host} sent was not a model's reply; {todo}")
        said = await cut(where, len(operation["messages"]) + len(json.dumps(operation.get("tools") or [])))
        if said is not None:
            say({"type": "notice", "sentence": said})
        _thoughts.keep(where, messages, progress.arriving.thought())
        say({"type": "finish", "reason": reason, "usage": _usage(stream, usage, where, entry)})
    finally:
        if stream is not None:
            with suppress(Exception):
                await stream.aclose()


async def _relayed(
    stream: Any, clock: asyncio.Timeout, gap: float, progress: _Progress, say: Say
) -> tuple[str | None, Any]:
    """Say the deltas as they come, each of which gives the next one ``gap`` seconds; finish reason and usage."""
    reason: str | None = None
    usage: Any = None
    async for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage
        choice = next((c for c in chunk.choices or () if c.index in _FIRST), None)
        if choice is None:
            continue
        delta = _delta(choice.delta)
        progress.arriving.feed(choice.delta)
        if delta:
            progress.started = True
            say({"type": "delta", "delta": delta})
            clock.reschedule(asyncio.get_running_loop().time() + gap)
        reason = choice.finish_reason or reason
    return reason, usage


def _arguments(
    operation: JsonObject,
    messages: list[JsonObject],
    options: JsonObject,
    where: Target,
    clocks: Clocks,
    silence: float,
    entry: JsonObject | None,
) -> JsonObject:
    left_out = {*_OURS, *ignored(where, options)}
    arguments: JsonObject = {key: value for key, value in options.items() if key not in left_out}
    arguments |= {
        "model": where.model,
        "messages": met(where, messages, _thoughts),
        "stream": True,
        "stream_options": {"include_usage": True},
        "timeout": httpx.Timeout(silence + 5, connect=clocks.connect),
        "num_retries": 0,
        "max_retries": 0,
    }
    if operation.get("tools"):
        arguments["tools"] = operation["tools"]
    if where.provider in LOCAL and where.base:
        arguments["api_base"] = where.base
        if not where.provider.startswith("ollama"):
            arguments.setdefault("api_key", os.environ.get(f"{where.provider.upper()}_API_KEY") or "none")
    if entry is not None:
        arguments[ENTRY] = entry
    return arguments


def _delta(delta: Any) -> JsonObject:
    """What of a chunk matters, empty when nothing does."""
    if delta is None:
        return {}
    extra = getattr(delta, "provider_specific_fields", None)
    if isinstance(extra, dict) and RAW in extra:
        return cast(JsonObject, extra[RAW])
    shape: JsonObject = {}
    for key in ("content", "reasoning_content", "refusal"):
        value = getattr(delta, key, None)
        if value:
            shape[key] = value
    calls: object = getattr(delta, "tool_calls", None)
    if calls:
        listed = cast(list[Any], calls if isinstance(calls, list) else [calls])
        shape["tool_calls"] = [
            call if isinstance(call, dict) else call.model_dump(exclude_none=True) for call in listed
        ]
    legacy = getattr(delta, "function_call", None)
    if legacy:
        shape["function_call"] = legacy if isinstance(legacy, dict) else legacy.model_dump(exclude_none=True)
    return shape


def _invented(stream: Any) -> bool:
    """Whether the finish reason is one that litellm made up because the stream just ended."""
    missing = object()
    received = getattr(stream, "received_finish_reason", missing)
    between = getattr(stream, "intermittent_finish_reason", missing)
    return received is not missing and not received and not between


def _usage(stream: Any, usage: Any, where: Target, entry: JsonObject | None) -> JsonObject | None:
    """Tokens as the provider reported them; ``None`` when it reported none and litellm estimated."""
    reported = any(getattr(chunk, "usage", None) for chunk in getattr(stream, "chunks", ()))
    if usage is None or not reported:
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None)
    prompt, completion = _tokens(usage.prompt_tokens), _tokens(usage.completion_tokens)
    if not prompt and not completion:
        # No reply costs nothing: these are noughts that stand for what was not counted.
        return None
    cost = (entry or {}).get("usage", {}).get("cost")
    if where.provider not in {"script", "offline"}:
        cost = _cost(usage, where)
    return {"prompt": prompt, "completion": completion, "cached": _tokens(cached), "cost": cost}


def _tokens(given: object) -> int | None:
    """A number of tokens, when it is one."""
    return given if isinstance(given, int) and given >= 0 else None


def _cost(usage: Any, where: Target) -> float | None:
    """US dollars by litellm's price list; ``None`` when it does not know the model."""
    try:
        prompt, completion = cast(Any, litellm).cost_per_token(model=where.model, usage_object=usage)
        priced = cast(JsonObject, cast(Any, litellm).get_model_info(where.model))
    except Exception:
        return None
    if not priced.get("input_cost_per_token") and not priced.get("output_cost_per_token"):
        return 0.0 if where.local else None
    return float(prompt) + float(completion)
