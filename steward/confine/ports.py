"""Which ports a model's requests go to, as the person's settings and environment say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

WEB = frozenset({80, 443})
LOCAL: Mapping[str, int] = {
    "ollama": 11434,
    "ollama_chat": 11434,
    "lm_studio": 1234,
    "llamafile": 8080,
    "hosted_vllm": 8000,
    "docker_model_runner": 12434,
    "xinference": 9997,
}
"""Where model servers on this machine listen unless they are told otherwise."""
_HERE = frozenset({"script", "offline"})
_METADATA = ("bedrock", "sagemaker", "vertex_ai", "azure", "oci")
"""Providers whose credentials may come from the cloud machine itself, over plain HTTP."""
_PORT = re.compile(r"(?:^|//|@)(?:[^\s/@]*@)?(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})(?=[/?#]|$)")
_ADDRESS = re.compile(r"(?:API_BASE|BASE_URL|API_URL|ENDPOINT|ENDPOINT_URL)$")
_PROXY = re.compile(r"(?:https?|all)_proxy", re.IGNORECASE)


def ports_of(model: str, options: Mapping[str, object], environment: Mapping[str, str]) -> frozenset[int]:
    """The ports that requests of a model go to; none for one that is built in. A proxy's port is among them."""
    provider, slash, _ = model.partition("/")
    if provider in _HERE or not model:
        return frozenset()
    given = ports_in(*(options.get(key) for key in ("api_base", "base_url")))
    named = frozenset[int]()
    word = re.split(r"[_-]", provider)[0].upper() if slash else ""
    for name, value in environment.items():
        if name.upper().startswith(word) and _ADDRESS.search(name.upper()):
            named |= ports_in(value)
    usual = frozenset({LOCAL.get(provider, 443)})
    # A name without a provider may mean any of them.
    found = given or (named if named and slash else named | usual)
    if model.startswith(_METADATA):
        found |= WEB
    return found | proxy_ports(environment)


def proxy_ports(environment: Mapping[str, str]) -> frozenset[int]:
    """The ports of the proxies that the environment names."""
    return ports_in(*(value for name, value in environment.items() if _PROXY.fullmatch(name)))


def local_ports(options: Mapping[str, object], environment: Mapping[str, str]) -> frozenset[int]:
    """Where servers on this machine are looked for when the person wants to see which models there are."""
    named = (environment.get(f"{provider.upper()}_API_BASE", "") for provider in LOCAL)
    return frozenset(LOCAL.values()) | ports_in(*named, options.get("api_base"), options.get("base_url"))


def ports_in(*values: object) -> frozenset[int]:
    """Every port that a URL or ``host:port`` among the values means; mappings and lists are gone through."""
    found: set[int] = set()
    for value in values:
        if isinstance(value, Mapping):
            found |= ports_in(*cast(Mapping[Any, object], value).values())
        elif isinstance(value, list | tuple):
            found |= ports_in(*cast(Iterable[object], value))
        elif isinstance(value, str):
            said = {port for text in _PORT.findall(value) if 0 < (port := int(text)) < 65_536}
            found |= said or {port for port in (_usual(value),) if port}
    return frozenset(found)


def _usual(url: str) -> int:
    """The port of a URL that names none; 0 for what is no URL of the web."""
    try:
        return {"http": 80, "https": 443}.get(urlsplit(url).scheme.lower(), 0)
    except ValueError:
        return 0
