"""Settings in the environment: ``STEWARD_LIMITS_ROUNDS`` is ``limits.rounds``."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from typing import Any

from steward.config.keys import SCALARS
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
    known = {variable(key): key for key in SCALARS}
    found: dict[str, tuple[Any, str]] = {}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name in OTHERS or not text.strip():
            continue
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *OTHERS], 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(f"The environment sets {name}, which is no setting.{hint}")
        key = known[name]
        found[key] = (_value(text.strip(), SCALARS[key]), name)
    return found


def _value(text: str, kind: str) -> object:
    if kind == "text":
        return text
    if kind == "list" and not text.startswith("["):
        return [piece.strip() for piece in text.split(",") if piece.strip()]
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text  # The schema says what is wrong with it.
