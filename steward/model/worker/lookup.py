"""What litellm's own list says about models, and which models are within reach from here."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, cast

import httpx
import litellm

from steward.conversation import JsonObject
from steward.model.choices import GUIDE
from steward.model.worker.hosts import LOCAL, Target, host_of, ignored, is_loopback, target
from steward.model.worker.ollama import client as _client
from steward.model.worker.ollama import loaded_window, set_window

Say = Callable[[JsonObject], None]
_LABELS = {"ollama_chat": "Ollama", "lm_studio": "LM Studio", "llamafile": "llama.cpp", "hosted_vllm": "vLLM"}
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


async def about(operation: JsonObject, say: Say) -> None:
    """Answer ``about``: the fields of ``ModelFacts``."""
    options = cast(JsonObject, operation["options"])
    where = await asyncio.to_thread(target, str(operation["model"]), options)
    info: JsonObject = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(10):
            info = await asyncio.to_thread(_info, str(operation["model"]))
    server = where.base is not None and where.local
    if server:
        info |= await _asked(where, options)
    say(
        {
            "type": "answer",
            "value": {
                "host": f"{where.host} (this machine)" if server else where.host,
                "local": server,
                "window": _window(info),
                "tools": _tools(info),
                "ignored": await asyncio.to_thread(ignored, where, options),
            },
        }
    )


async def models(operation: JsonObject, say: Say) -> None:
    """Answer ``models``: rows for ``ModelChoice``; local servers first, then providers whose keys are set."""
    options = cast(JsonObject, operation.get("options") or {})
    local, keyed = await asyncio.gather(_local(options), asyncio.to_thread(_keyed))
    guide = _row(GUIDE, "this machine", {}, "built in") | {"tools": True}
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
    return {
        "name": name,
        "where": where,
        "window": _window(info),
        "price_in": _price(info.get("input_cost_per_token")),
        "price_out": _price(info.get("output_cost_per_token")),
        "tools": _tools(info),
        "found": found,
    }


def _tools(info: JsonObject) -> bool | None:
    tools = info.get("supports_function_calling")
    return tools if isinstance(tools, bool) else None


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
            if any(word in name.lower() for word in _NO_CHAT):
                continue
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


async def _local(options: JsonObject) -> list[JsonObject]:
    """What servers on this machine offer; only loopback addresses are asked, and only for a moment."""
    servers = {
        provider: (os.environ.get(LOCAL[provider][0]) or LOCAL[provider][1]).rstrip("/")
        for provider in _LABELS
    }
    given = options.get("api_base") or options.get("base_url")
    if isinstance(given, str) and given.rstrip("/") not in servers.values():
        servers["openai"] = given.rstrip("/")
    async with _client() as client:
        found = await asyncio.gather(
            *(_ask(client, provider, base) for provider, base in servers.items() if is_loopback(base)),
            return_exceptions=True,
        )
    return [row for rows in found if isinstance(rows, list) for row in rows]


async def _ask(client: httpx.AsyncClient, provider: str, base: str) -> list[JsonObject]:
    if provider == "ollama_chat":
        shape = await _json(client, f"{base}/api/tags")
        names = [str(model["name"]) for model in cast(list[JsonObject], shape.get("models") or [])]
        known = {name: await _ollama(client, base, name) for name in names[:50]}
        return [
            _row(f"ollama/{name}", host_of(base), info, "Ollama")
            for name, info in known.items()
            if info.get("mode") != "embedding"
        ]
    listed, facts = await asyncio.gather(_listed(client, base), _props(client, base))
    if provider == "lm_studio":
        own = await _studio(client, base)
        listed = {name: info | own.get(name, {}) for name, info in listed.items()}
    rows: list[JsonObject] = []
    for name, info in list(listed.items())[:50]:
        if any(word in name.lower() for word in _NO_CHAT):
            continue
        rows.append(
            _row(f"{provider}/{name}", host_of(base), info | facts, _LABELS.get(provider, "your api_base"))
        )
    return rows


async def _asked(where: Target, options: JsonObject) -> JsonObject:
    """What the server on this machine that has the model says of it, under the person's options."""
    name, base = where.model.partition("/")[2], (where.base or "").rstrip("/")
    async with _client() as client:
        if where.provider in {"ollama", "ollama_chat"}:
            info = await _ollama(client, base, name)
            size: object = options.get("num_ctx") or await loaded_window(client, base, name)
            return info | ({"max_input_tokens": size} if isinstance(size, int) else {})
        listed, facts = await asyncio.gather(
            _listed(client, base), _props(client, base), return_exceptions=True
        )
        own = (await _studio(client, base)).get(name, {}) if where.provider == "lm_studio" else {}
    info: JsonObject = {}
    if not isinstance(listed, BaseException):
        # A server with one model takes any name for it.
        info = listed.get(name) or (next(iter(listed.values())) if len(listed) == 1 else {})
    return info | own | ({} if isinstance(facts, BaseException) else facts)


async def _studio(client: httpx.AsyncClient, base: str) -> dict[str, JsonObject]:
    """What LM Studio's own list, beside OpenAI's, says of its models."""
    found: dict[str, JsonObject] = {}
    with suppress(httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        shape = await _json(client, f"{base.removesuffix('/v1')}/api/v0/models")
        for model in cast(list[JsonObject], shape["data"]):
            size = model.get("loaded_context_length") or model.get("max_context_length")
            info: JsonObject = {"max_input_tokens": size} if isinstance(size, int) else {}
            if isinstance(model.get("capabilities"), list):
                info["supports_function_calling"] = "tool_use" in model["capabilities"]
            found[str(model["id"])] = info
    return found


async def _listed(client: httpx.AsyncClient, base: str) -> dict[str, JsonObject]:
    """The models of a server that speaks OpenAI's protocol, with the window where it tells."""
    shape = await _json(client, f"{base}/models")
    found: dict[str, JsonObject] = {}
    for model in cast(list[JsonObject], shape.get("data") or []):
        size = model.get("max_model_len") or cast(JsonObject, model.get("meta") or {}).get("n_ctx")
        found[str(model["id"])] = {"max_input_tokens": size} if isinstance(size, int) else {}
    return found


async def _ollama(client: httpx.AsyncClient, base: str, name: str) -> JsonObject:
    """What Ollama says of one of its models."""
    try:
        response = await client.post(f"{base}/api/show", json={"model": name})
        shape = cast(JsonObject, response.json())
        details = cast(JsonObject, shape.get("model_info") or {})
    except (httpx.HTTPError, ValueError):
        return {}
    most = next((value for key, value in details.items() if key.endswith(".context_length")), None)
    size = set_window(shape.get("parameters")) or most
    info: JsonObject = {"max_input_tokens": size} if isinstance(size, int) else {}
    if isinstance(shape.get("capabilities"), list):
        info["supports_function_calling"] = "tools" in shape["capabilities"]
        if "completion" not in shape["capabilities"]:
            info["mode"] = "embedding"
    return info


async def _props(client: httpx.AsyncClient, base: str) -> JsonObject:
    """What llama.cpp's server says of its window, and whether its template takes tools at all."""
    try:
        shape = await _json(client, f"{base.removesuffix('/v1')}/props")
    except (httpx.HTTPError, ValueError):
        return {}
    caps: object = shape.get("chat_template_caps")
    settings: object = shape.get("default_generation_settings")
    window = cast(JsonObject, settings).get("n_ctx") if isinstance(settings, dict) else None
    tools = cast(JsonObject, caps).get("supports_tools") if isinstance(caps, dict) else None
    facts: JsonObject = {"max_input_tokens": window} if isinstance(window, int) else {}
    return facts | ({"supports_function_calling": tools} if isinstance(tools, bool) else {})


async def _json(client: httpx.AsyncClient, url: str) -> JsonObject:
    response = await client.get(url)
    response.raise_for_status()
    shape: object = response.json()
    return cast(JsonObject, shape) if isinstance(shape, dict) else {}
