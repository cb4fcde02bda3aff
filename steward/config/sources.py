"""Every setting with its value and where it comes from, and a commented file to begin with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from steward.config.environment import variable
from steward.config.keys import fields, kind_of
from steward.config.repository import ALLOWED, PLACE
from steward.config.settings import Section, Settings

_SECRET = re.compile(r"key|token|secret|password|credential|authorization|headers", re.IGNORECASE)
_MASK = "•••"


@dataclass(frozen=True, slots=True)
class Shown:
    """One setting as a person is shown it; ``value`` is TOML, with keys masked."""

    key: str
    value: str
    source: str
    """``default``, ``config.toml``, the name of a variable, ``.steward/config.toml``, or what the caller named."""
    help: str


def shown(settings: Settings, sources: Mapping[str, str], own: Settings | None = None) -> tuple[Shown, ...]:
    """Every value in force. ``own`` are the person's settings before a repository's were joined to them."""
    found: list[Shown] = []
    for key, field in fields():
        value = _at(settings, key)
        source = sources.get(key, "default")
        if own is not None and key in ALLOWED and value != _at(own, key):
            source = PLACE if source == "default" else f"{source}, {PLACE}"
        found.append(Shown(key, written(masked(value)), source, " ".join((field.description or "").split())))
    return tuple(found)


def template() -> str:
    """A configuration file in which every setting is explained and commented out, at its default."""
    lines = [
        "# Your settings of the steward. A line without # in front is in force; what is left out has its default.",
        "# Order: this file, then STEWARD_* variables, then the command line.",
    ]
    table = ""
    for key, field in fields():
        where, _, name = key.rpartition(".")
        if where and where != table:
            table = where
            lines += ["", f"[{where}]"]
        lines += ["", f"# {' '.join((field.description or '').split())}"]
        value = field.get_default(call_default_factory=True)
        kind = kind_of(field)
        if kind == "table":
            lines.append(f"# [{key}{'.NAME' if key == 'profile' else ''}]")
        else:
            lines += [f"# {name} = {written(value)}", f"# ({variable(key)})"]
    return "\n".join(lines) + "\n"


def written(value: object) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list() | tuple():
            return "[" + ", ".join(written(item) for item in cast(tuple[object, ...], value)) + "]"
        case dict():
            pairs = cast(dict[str, object], value)
            return "{" + ", ".join(f"{_key(key)} = {written(item)}" for key, item in pairs.items()) + "}"
        case float():
            return repr(value)
        case _:
            return str(value)


def masked(value: object) -> object:
    """The value without anything whose name says that it is secret."""
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value)
        return {key: _MASK if _secret(key, item) else masked(item) for key, item in pairs.items()}
    if isinstance(value, list | tuple):
        return [masked(item) for item in cast(list[object], value)]
    if isinstance(value, Section):
        return masked({key: item for key, item in asdict(value).items() if item is not None})
    if isinstance(value, str):
        return re.sub(r"(?<=://)[^\s/@]+(?=@)", _MASK, value)
    return value


def _secret(key: str, value: object) -> bool:
    """Whether a value must not be shown; a number of tokens, as of ``max_tokens``, may."""
    return bool(_SECRET.search(key)) and not (key.endswith("tokens") and isinstance(value, int))


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _at(settings: Settings, key: str) -> object:
    value: Any = settings
    for part in key.split("."):
        value = getattr(value, part)
    return value
