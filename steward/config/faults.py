"""What is wrong with a configuration file, in one sentence that names the key and the line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from steward.config.keys import known_keys

if TYPE_CHECKING:
    from pydantic import ValidationError


def sentence(name: str, text: str, error: ValidationError, choices: Sequence[str] = ()) -> str:
    """The first fault of a file; an unknown key comes with the nearest of ``choices`` (all settings)."""
    fault = error.errors(include_url=False, include_context=False)[0]
    keys = tuple(str(part) for part in fault["loc"])
    dotted = ".".join(keys)
    line = line_of(text, keys)
    where = f"{name}, line {line}" if line else name
    if fault["type"] == "unexpected_keyword_argument":
        import difflib

        known = list(choices) or list(known_keys())
        near = difflib.get_close_matches(dotted, known, 1) or difflib.get_close_matches(
            keys[-1], [key.rsplit(".", 1)[-1] for key in known], 1
        )
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{where}: there is no setting {dotted}.{hint}"
    message = str(fault["msg"])
    return f"{where}: {dotted}: {message[0].lower()}{message[1:]}."


def dotted_keys(shape: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Every key of a parsed file in dotted form; a table that is itself a setting counts as one."""
    tables = {key.rsplit(".", 1)[0] for key in known_keys() if "." in key}
    for key, value in shape.items():
        if isinstance(value, dict) and prefix + key in tables:
            yield from dotted_keys(cast(dict[str, Any], value), f"{prefix}{key}.")
        else:
            yield prefix + key


def line_of(text: str, keys: tuple[str, ...]) -> int | None:
    """The line on which a dotted key stands, found by its table and its name."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            table = tuple(part.strip().strip("\"'") for part in match[1].split("."))
            if table == keys:
                return number
        elif match := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            key = table + tuple(part.strip().strip("\"'") for part in match[1].split("."))
            if key == keys[: len(key)] or keys[: len(key)] == key:
                return number
    return None
