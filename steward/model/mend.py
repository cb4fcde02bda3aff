"""What may be understood from a model's imperfect call, and what it is told about the rest."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from typing import NoReturn, cast

from steward.conversation import JsonObject

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class BrokenArguments(ValueError):
    """Arguments that are not one JSON object; ``cut`` when they end before the object does."""

    def __init__(self, sentence: str, cut: bool = False) -> None:
        self.cut = cut
        super().__init__(sentence)


def parse_object(text: str) -> JsonObject:
    """The one JSON object that ``text`` is; raw control characters may stand inside strings.

    Raises ``BrokenArguments``. A key that comes twice and the words NaN and Infinity are refused, since what
    is meant would be a guess.
    """
    try:
        value: object = json.loads(text, strict=False, object_pairs_hook=_pairs, parse_constant=_constant)
    except BrokenArguments:
        raise
    except json.JSONDecodeError as error:
        raise BrokenArguments(
            f"its arguments are not valid JSON (at character {error.pos})", _is_cut(text, error)
        ) from None
    except (ValueError, RecursionError):
        raise BrokenArguments("its arguments are not valid JSON") from None
    if not isinstance(value, dict):
        raise BrokenArguments("its arguments must be one JSON object")
    return cast(JsonObject, value)


def whole_object(text: str) -> JsonObject | None:
    """The object that ``text`` is, or ``None``."""
    try:
        return parse_object(text)
    except BrokenArguments:
        return None


def parse_arguments(text: str) -> str:
    """Strict JSON text of the object that ``text`` is; blank text and ``null`` mean no arguments.

    Text that is strict JSON already is returned as it came.
    """
    if text.strip() in ("", "null"):
        return "{}"
    value = parse_object(text)
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(value, ensure_ascii=False)
    return text


def safe_name(name: str) -> str:
    """A name that every provider takes back in the history."""
    return _NOT_IN_A_NAME.sub("_", name)[:64] or "unnamed"


def unknown_tool(name: str, names: Sequence[str]) -> str:
    """One sentence that names the right ones."""
    folded = {n.lower(): n for n in names}
    # What follows ``<|`` is a mark of the model's template, which a server has left in the name.
    plain = re.sub(r"[^a-z0-9]", "", name.partition("<|")[0].rpartition(".")[2].lower())
    near = difflib.get_close_matches(plain, folded, 1, 0.6)
    begins = [folded[n] for n in folded if plain and n.startswith(plain)]
    guess = folded[near[0]] if near else begins[0] if begins else ""
    hint = f" Did you mean {guess}?" if guess else ""
    listed = ", ".join(names) or "none"
    return f"There is no tool {safe_name(name)!r}; nothing was run.{hint} The tools are: {listed}."


def decode_at(text: str, position: int) -> tuple[object, int]:
    """The JSON value that begins at ``position``, strict but for raw control characters, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except BrokenArguments:
        raise
    except (ValueError, RecursionError):
        raise BrokenArguments("it is not valid JSON") from None
    return cast(object, value), end


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _pairs(pairs: list[tuple[str, object]]) -> JsonObject:
    shape = dict(pairs)
    if len(shape) != len(pairs):
        raise BrokenArguments("a key stands twice in its arguments")
    return shape


def _constant(word: str) -> NoReturn:
    raise BrokenArguments(f"{word} is not JSON")


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_pairs, parse_constant=_constant)
