"""Settings in the environment: ``STEWARD_LIMITS_ROUNDS`` is ``limits.rounds``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steward.config.keys import scalars
from steward.errors import ConfigError

PREFIX = "STEWARD_"
OTHERS = ("STEWARD_STATE_DIR",)
"""Variables of the steward that are no settings."""


def variable(key: str) -> str:
    """The variable of a setting in dotted form."""
    return PREFIX + key.replace(".", "_").upper()


def from_environment(environment: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Value and variable of each setting that the environment sets, by dotted key.

    Lists are written as in the file, or with commas. An empty variable sets nothing. Raises ``ConfigError`` for a
    variable that is no setting.
    """
    said = {
        name: text
        for name, text in environment.items()
        if name.startswith(PREFIX) and name not in OTHERS and text.strip()
    }
    if not said:
        return {}
    known = {variable(key): key for key in scalars()}
    found: dict[str, tuple[Any, str]] = {}
    for name, text in said.items():
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, [*known, *OTHERS], 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(f"The environment sets {name}, which is no setting.{hint}")
        key = known[name]
        found[key] = (_value(text.strip(), scalars()[key]), name)
    return found


def _value(text: str, kind: str) -> object:
    if kind == "text":
        return text
    if kind == "list" and not text.startswith("["):
        return [piece.strip() for piece in text.split(",") if piece.strip()]
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # The schema says what is wrong with it.
