"""What litellm's own list says about models, and which models are within reach from here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from typing import Any, cast

import httpx
import litellm

from steward.conversation import JsonObject
from steward.model.worker.hosts import LOCAL, host_of, is_loopback, target

Say = Callable[[JsonObject], None]
_PROBE_SECONDS = 1.0
_MILLION = 1_000_000
# What an OpenAI-like list names that holds no conversation.
_NO_CHAT = (
    "embed",
    "whisper",
    "tts",
    "dall-e",
    "image",
    "moderation",
    "rerank",
    "audio",
    "realtime",
    "transcribe",
)


async def window(operation: JsonObject, say: Say) -> None:
    """Answer ``window``: tokens, or null when unknown."""
    try:
        async with asyncio.timeout(10):
            info = await asyncio.to_thread(_info, str(operation["model"]))
    except TimeoutError:
        info = {}
    say({"type": "answer", "value": _window(info)})


async def host(operation: JsonObject, say: Say) -> None:
    """Answer ``host``: the host that requests of the model go to."""
    where = await asyncio.to_thread(target, str(operation["model"]), cast(JsonObject, operation["options"]))
    value = f"{where.host} (this machine)" if where.local and where.base else where.host
    say({"type": "answer", "value": value})


async def models(operation: JsonObject, say: Say) -> None:
    """Answer ``models``: rows for ``ModelChoice``; local servers first, then providers whose keys are set."""
    local, keyed = await asyncio.gather(_local(), asyncio.to_thread(_keyed))
    guide = _row("offline/guide", "this machine", {}, "built in") | {"tools": True}
    say({"type": "answer", "value": [*local, *keyed, guide]})


def _info(model: str) -> JsonObject:
    """litellm's facts about a model; empty when it knows none. May ask a local Ollama."""
    where = target(model, {})
    if where.provider in {"script", "offline"}:
        return {}
    try:
        return cast(JsonObject, dict(cast(Any, litellm).get_model_info(where.model)))
    except Exception:
        return {}


def _window(info: JsonObject) -> int | None:
    tokens = info.get("max_input_tokens") or info.get("max_tokens")
    return tokens if isinstance(tokens, int) and tokens > 0 else None


def _row(name: str, where: str, info: JsonObject, found: str) -> JsonObject:
    """A row of the picker; what litellm does not know stays unknown."""
    tools = info.get("supports_function_calling")
    return {
        "name": name,
        "where": where,
        "window": _window(info),
        "price_in": _price(info.get("input_cost_per_token")),
        "price_out": _price(info.get("output_cost_per_token")),
        "tools": tools if isinstance(tools, bool) else None,
        "found": found,
    }


def _price(per_token: object) -> float | None:
    return round(per_token * _MILLION, 4) if isinstance(per_token, int | float) and per_token > 0 else None


def _keyed() -> list[JsonObject]:
    """Chat models on litellm's list of the providers whose keys the environment holds."""
    rows: list[JsonObject] = []
    by_provider = cast(dict[str, Iterable[str]], cast(Any, litellm).models_by_provider)
    prices = cast(dict[str, JsonObject], cast(Any, litellm).model_cost)
    for provider, names in sorted(by_provider.items()):
        variable = _key_of(provider)
        if variable is None:
            continue
        for name in sorted(names):
            info = prices.get(name) or prices.get(f"{provider}/{name}") or {}
            if info.get("mode") not in {"chat", "responses"}:
                continue
            full = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            rows.append(_row(full, target(full, {}).host, info, variable))
    return rows


def _key_of(provider: str) -> str | None:
    """The variable that holds the provider's key, when it is set."""
    names = [f"{provider.upper()}_API_KEY"]
    if provider == "gemini":
        names.append("GOOGLE_API_KEY")
    return next((name for name in names if os.environ.get(name)), None)


async def _local() -> list[JsonObject]:
    """What servers on this machine offer; only loopback addresses are asked, and only for a moment."""
    async with httpx.AsyncClient(trust_env=False, timeout=_PROBE_SECONDS, follow_redirects=False) as client:
        found = await asyncio.gather(
            *(
                _ask(client, provider)
                for provider in ("ollama_chat", "lm_studio", "llamafile", "hosted_vllm")
            ),
            return_exceptions=True,
        )
    return [row for rows in found if isinstance(rows, list) for row in rows]


async def _ask(client: httpx.AsyncClient, provider: str) -> list[JsonObject]:
    variable, default = LOCAL[provider]
    base = (os.environ.get(variable) or default).rstrip("/")
    if not is_loopback(base):
        return []
    if provider == "ollama_chat":
        shape = await _json(client, f"{base}/api/tags")
        names = [str(model["name"]) for model in cast(list[JsonObject], shape.get("models") or [])]
        return [await _ollama(client, base, name) for name in names[:50]]
    shape = await _json(client, f"{base}/models")
    listed = cast(list[JsonObject], shape.get("data") or [])
    facts: JsonObject = await _props(client, base) if provider == "llamafile" else {}
    label = {"lm_studio": "LM Studio", "llamafile": "llama.cpp", "hosted_vllm": "vLLM"}[provider]
    rows: list[JsonObject] = []
    for model in listed[:50]:
        name = str(model["id"])
        if any(word in name.lower() for word in _NO_CHAT):
            continue
        info = dict(facts)
        size = model.get("max_model_len") or cast(JsonObject, model.get("meta") or {}).get("n_ctx")
        if isinstance(size, int):
            info.setdefault("max_input_tokens", size)
        rows.append(_row(f"{provider}/{name}", host_of(base), info, label))
    return rows


async def _ollama(client: httpx.AsyncClient, base: str, name: str) -> JsonObject:
    """A row for one model of Ollama, with what it says of itself."""
    info: JsonObject = {}
    try:
        response = await client.post(f"{base}/api/show", json={"model": name})
        shape = cast(JsonObject, response.json())
        details = cast(JsonObject, shape.get("model_info") or {})
        size = next((value for key, value in details.items() if key.endswith(".context_length")), None)
        info = {"max_input_tokens": size}
        if isinstance(shape.get("capabilities"), list):
            info["supports_function_calling"] = "tools" in shape["capabilities"]
    except (httpx.HTTPError, ValueError):
        pass
    return _row(f"ollama/{name}", host_of(base), info, "Ollama")


async def _props(client: httpx.AsyncClient, base: str) -> JsonObject:
    """What llama.cpp's server says of its window, and whether its template takes tools at all."""
    try:
        shape = await _json(client, f"{base.removesuffix('/v1')}/props")
    except (httpx.HTTPError, ValueError):
        return {}
    caps = cast(JsonObject, shape.get("chat_template_caps") or {})
    settings = cast(JsonObject, shape.get("default_generation_settings") or {})
    facts: JsonObject = {}
    if isinstance(settings.get("n_ctx"), int):
        facts["max_input_tokens"] = settings["n_ctx"]
    if isinstance(caps.get("supports_tools"), bool):
        facts["supports_function_calling"] = caps["supports_tools"]
    return facts


async def _json(client: httpx.AsyncClient, url: str) -> JsonObject:
    response = await client.get(url)
    response.raise_for_status()
    shape: object = response.json()
    return cast(JsonObject, shape) if isinstance(shape, dict) else {}
