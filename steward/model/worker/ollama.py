"""The context that Ollama has loaded a model with: it is often smaller than the model's, and what is longer is cut."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any, cast

import httpx

from steward.conversation import JsonObject
from steward.model.worker.hosts import Target

_SECONDS = 1.0
_CHARACTERS = 4
"""A token of code and of JSON holds about so many, and seldom more: what is longer by this was cut for certain."""
_SET = re.compile(r"^num_ctx\s+(\d+)\s*$", re.MULTILINE)
_told: set[tuple[str, str | None, int]] = set()


def client() -> httpx.AsyncClient:
    """For questions to a server on this machine: no proxy, no redirects, and little patience."""
    return httpx.AsyncClient(trust_env=False, timeout=_SECONDS, follow_redirects=False)


def set_window(parameters: object) -> int | None:
    """``num_ctx`` among the parameters of a model, which ``/api/show`` gives as lines of text."""
    match = _SET.search(parameters) if isinstance(parameters, str) else None
    return int(match[1]) if match is not None else None


async def loaded_window(asking: httpx.AsyncClient, base: str, name: str) -> int | None:
    """Tokens of the context that the model is loaded with; ``None`` when it is not, or the server does not say."""
    with suppress(httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError):
        shape = (await asking.get(f"{base.rstrip('/')}/api/ps")).json()
        for model in cast(list[JsonObject], shape["models"]):
            if model["name"] in (name, f"{name}:latest"):
                size: Any = model.get("context_length")
                return size if isinstance(size, int) and size > 0 else None
    return None


async def cut(where: Target, characters: int) -> str | None:
    """What to say when a request of so many characters was longer than what is loaded; once for each size."""
    if where.provider != "ollama_chat" or where.base is None:
        return None
    name = where.model.partition("/")[2]
    async with client() as asking:
        size = await loaded_window(asking, where.base, name)
    if size is None or characters <= size * _CHARACTERS or (where.model, where.base, size) in _told:
        return None
    _told.add((where.model, where.base, size))
    return (
        f"Ollama has loaded {name} with a context of {size:,} tokens and silently drops what does not fit, "
        "your question or the instructions among it; set num_ctx under [options], as in num_ctx = 32768."
    )
