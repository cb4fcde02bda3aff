"""Scripts of the scripted model: JSON Lines, one object for each round, checked when they are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from steward.conversation import JsonObject
from steward.errors import ConfigError, NoSuchThing

MAX_BYTES = 268_435_456
"""Bytes of a script; a device, which has no end, is no script."""

_KEYS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "reasoning": (str,),
    "calls": (list,),
    "finish": (str, type(None)),
    "error": (dict,),
    "chunk": (int,),
    "delay": (int, float),
    "usage": (dict,),
    "deltas": (list,),
    "note": (str,),
    "question": (str,),
    "told": (str,),
    "acts": (dict,),
    "stopped": (dict,),
    "request": (str,),
    "sent": (list,),
}
_WORDS: dict[type, str] = {
    str: "a string",
    list: "an array",
    dict: "an object",
    int: "a whole number",
    float: "a number",
    type(None): "null",
}
_CALL_KEYS = {"id", "name", "arguments"}
_ERROR_KEYS = {"kind", "status", "message", "retry_after", "after"}
_USAGE_KEYS = {"prompt", "completion", "cached", "cost"}
_STOPPED_KEYS = {"sentence", "at"}


@dataclass(frozen=True, slots=True)
class Script:
    """The replies of a script, in order.

    Keys of a reply, each optional: ``text``; ``reasoning``; ``calls`` (``name``, ``arguments`` as an object or
    as the raw text a model would write, ``id``); ``finish`` (``null`` ends the stream without a reason);
    ``error`` (``kind``, ``status``, ``message``, ``retry_after``; raised after the text with ``after`` true,
    else before anything); ``chunk``, characters a chunk; ``delay``, seconds before each chunk; ``usage``
    (``prompt``, ``completion``, ``cached``, ``cost``); ``deltas``, raw deltas in OpenAI's shape, sent after
    the text; ``note``, which is ignored.

    An exported session has more, which only its replay reads: ``question``, what was asked before this reply, with
    ``told``, what the steward said at its head; ``acts``, by the number of a call, what the person did while it ran;
    ``stopped``, with the ``sentence`` that ended the turn, ``at`` the n-th call or, for 0, in the reply; ``request``,
    the digest of what the model had been sent, and ``sent``, short digests of the messages that were new in it.
    """

    name: str
    entries: list[JsonObject]


def read_script(path: Path) -> Script:
    """Read and check a script. ``NoSuchThing`` when it is missing, ``ConfigError`` with the line's number."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"The script {path.name} is larger than {MAX_BYTES} bytes.")
        text = data.decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        raise NoSuchThing("script", path.name) from None
    except UnicodeDecodeError:
        raise ConfigError(f"The script {path.name} is not UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"The script {path.name} cannot be read: {error.strerror}.") from None
    return Script(path.name, parse_script(path.name, text))


def parse_script(name: str, text: str) -> list[JsonObject]:
    """The replies in ``text``; blank lines and lines that begin with ``#`` are skipped."""
    entries: list[JsonObject] = []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            entries.append(_entry(f"Line {number} of the script {name}", stripped))
    return entries


def _entry(where: str, line: str) -> JsonObject:
    try:
        value: object = json.loads(line)
    except (ValueError, RecursionError):
        raise ConfigError(f"{where} is not JSON.") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{where} is not a JSON object.")
    entry = cast(JsonObject, value)
    for key, given in entry.items():
        kinds = _KEYS.get(key)
        if kinds is None:
            raise ConfigError(f"{where} has the unknown key {key!r}; the keys are {', '.join(_KEYS)}.")
        if not isinstance(given, kinds) or isinstance(given, bool):
            raise ConfigError(f"{where}: {key} must be {' or '.join(_WORDS[kind] for kind in kinds)}.")
    if entry.get("chunk", 1) < 1:
        raise ConfigError(f"{where}: chunk must be at least 1.")
    if not 0 <= entry.get("delay", 0) <= 3600:
        raise ConfigError(f"{where}: delay must lie between 0 and 3600 seconds.")
    for call in cast(list[object], entry.get("calls", [])):
        _check(f"{where}: a call", call, _CALL_KEYS)
        shape = cast(JsonObject, call)
        if not isinstance(shape.get("name"), str):
            raise ConfigError(f"{where}: a call needs a name.")
        if not isinstance(shape.get("arguments", {}), dict | str):
            raise ConfigError(f"{where}: the arguments of a call must be an object or a string.")
    for delta in cast(list[object], entry.get("deltas", [])):
        if not isinstance(delta, dict):
            raise ConfigError(f"{where}: each of the deltas must be an object.")
    _check(f"{where}: error", entry.get("error", {}), _ERROR_KEYS)
    _check(f"{where}: usage", entry.get("usage", {}), _USAGE_KEYS)
    _check(f"{where}: stopped", entry.get("stopped", {}), _STOPPED_KEYS)
    return entry


def _check(where: str, value: object, keys: set[str]) -> None:
    if not isinstance(value, dict):
        raise ConfigError(f"{where} must be an object.")
    unknown = sorted(set(cast(JsonObject, value)) - keys)
    if unknown:
        raise ConfigError(
            f"{where} has the unknown key {unknown[0]!r}; the keys are {', '.join(sorted(keys))}."
        )
