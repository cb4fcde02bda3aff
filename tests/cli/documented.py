"""The JSON shapes as the manual's page writes them down, and whether a value is of that shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from tests.monorepo import PROJECT

PAGE = PROJECT / "steward" / "manual" / "json.md"


def shape_of(command: str) -> Any:
    """The shape below the line that begins with that command: dicts, lists of one, and ``None`` for a plain value."""
    text = PAGE.read_text("utf-8")
    match = re.search(rf"^`{re.escape(command)}`[^\n]*:\n\n((?:    .*\n)+)", text, re.MULTILINE)
    assert match is not None, f"{command} is not on the page"
    tokens = iter(re.findall(r"[\[\]{},:]|\w+", match[1]))
    return _read(next(tokens), tokens)


def _read(token: str, rest: Iterator[str]) -> Any:
    if token == "[":
        inner = _read(next(rest), rest)
        assert next(rest) == "]"
        return [inner]
    if token != "{":
        return None
    fields: dict[str, Any] = {}
    while True:
        name = next(rest)
        follows = next(rest)
        fields[name] = None
        if follows == ":":
            fields[name] = _read(next(rest), rest)
            follows = next(rest)
        if follows == "}":
            return fields
        assert follows == ",", follows


def differences(shape: Any, value: Any, where: str = "it") -> list[str]:
    """Where a value has not exactly the keys of a shape; of a list every item counts."""
    if isinstance(shape, list):
        items = cast("list[Any]", value)
        return [
            found for n, item in enumerate(items) for found in differences(shape[0], item, f"{where}[{n}]")
        ]
    if shape is None:
        return []
    assert isinstance(value, dict), where
    keys = set(cast("dict[str, Any]", value))
    found = [f"{where}.{key} is not on the page" for key in keys - set(shape)]
    found += [f"{where}.{key} is missing" for key in set(shape) - keys]
    return found + [
        difference
        for key in keys & set(shape)
        for difference in differences(shape[key], value[key], f"{where}.{key}")
    ]
