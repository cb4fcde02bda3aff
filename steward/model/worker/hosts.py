"""Where a model's requests go, and whether that is this machine."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import litellm

from steward.conversation import JsonObject

# Providers that mean a server on this machine unless their variable says otherwise: variable, base URL.
LOCAL = {
    "ollama": ("OLLAMA_API_BASE", "http://127.0.0.1:11434"),
    "ollama_chat": ("OLLAMA_API_BASE", "http://127.0.0.1:11434"),
    "lm_studio": ("LM_STUDIO_API_BASE", "http://127.0.0.1:1234/v1"),
    "llamafile": ("LLAMAFILE_API_BASE", "http://127.0.0.1:8080/v1"),
    "hosted_vllm": ("HOSTED_VLLM_API_BASE", "http://127.0.0.1:8000/v1"),
}
_KNOWN = {
    "anthropic": ("ANTHROPIC_API_BASE", "api.anthropic.com"),
    "openai": ("OPENAI_BASE_URL", "api.openai.com"),
    "gemini": ("GEMINI_API_BASE", "generativelanguage.googleapis.com"),
    "cohere_chat": ("COHERE_API_BASE", "api.cohere.com"),
    "azure": ("AZURE_API_BASE", "azure"),
}
_BUILT_IN = {"script", "offline"}
_SOME_HAVE = ("reasoning_effort",)
_BASE_URLS = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE")}


@dataclass(frozen=True, slots=True)
class Target:
    """A model name understood: provider, base URL when known, the host to show, and whether it is this machine."""

    model: str
    provider: str
    base: str | None
    host: str
    local: bool


def target(model: str, options: JsonObject) -> Target:
    """Where ``model`` is; unknown names have an empty provider and raise later, in litellm."""
    if model.startswith("ollama/"):
        model = "ollama_chat/" + model.removeprefix("ollama/")
    given = options.get("api_base") or options.get("base_url")
    base = given if isinstance(given, str) and given else None
    provider = model.partition("/")[0]
    if provider in _BUILT_IN:
        return Target(model, provider, None, "this machine", True)
    try:
        found = cast(tuple[Any, ...], cast(Any, litellm).get_llm_provider(model, api_base=base))
        provider, base = str(found[1]), base or cast(str | None, found[3])
    except Exception:
        provider = provider if provider in LOCAL else ""
    if base is None and provider in LOCAL:
        variable, default = LOCAL[provider]
        base = os.environ.get(variable) or default
    if base is None:
        base = next((os.environ[name] for name in _BASE_URLS.get(provider, ()) if os.environ.get(name)), None)
    if base is None and provider in _KNOWN:
        variable, host = _KNOWN[provider]
        base = os.environ.get(variable)
        if not base:
            return Target(model, provider, None, host, False)
    host = host_of(base) if base else provider or "unknown"
    return Target(model, provider, base, host, bool(base) and is_loopback(base))


def ignored(where: Target, options: JsonObject) -> tuple[str, ...]:
    """Options that only some models have and this one has not: leaving them out is what the person means."""
    if where.provider in _BUILT_IN:
        return ()
    try:
        known: object = cast(Any, litellm).get_supported_openai_params(
            model=where.model.removeprefix(f"{where.provider}/"), custom_llm_provider=where.provider
        )
    except Exception:
        return ()
    if not isinstance(known, list):
        return ()
    return tuple(key for key in _SOME_HAVE if key in options and key not in known)


def host_of(base: str) -> str:
    """Host and port of a URL, without any user name or password that stands in it."""
    parts = urlsplit(base if "//" in base else f"//{base}")
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        port = ""
    return f"{parts.hostname or 'unknown'}{port}"


def is_loopback(base: str) -> bool:
    """Whether the URL names this machine."""
    name = (urlsplit(base if "//" in base else f"//{base}").hostname or "").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified
