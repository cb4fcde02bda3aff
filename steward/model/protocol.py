"""The lines between the steward and its worker: one JSON object a line, in both directions.

To the worker: ``{"op": "call", "id", "model", "messages", "tools", "options", "clocks", "script"}``,
``{"op": "cancel", "id"}``, and the questions ``about``, ``models`` and ``fetch``, each with an ``id``. From the worker:
``{"type": "ready"}`` or ``{"type": "broken", "sentence"}`` once, then per id ``delta``, ``retry``, ``notice``,
``finish``, ``error`` for a call and ``answer`` or ``error`` for a question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from steward.conversation import JsonObject


def encode(message: JsonObject, written: Mapping[str, bytes | bytearray] | None = None) -> bytes:
    """The message as one line. Lone surrogates survive as escapes; no character can break the line.

    ``written`` holds further keys, whose values are JSON in ASCII already.
    """
    if not written:
        return _dumps(message) + b"\n"
    pieces: list[bytes | bytearray] = [_dumps(message)[:-1]]
    for key, value in written.items():
        pieces += [b"," if message or len(pieces) > 1 else b"", _dumps(key), b":", value]
    return b"".join((*pieces, b"}\n"))


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).encode("ascii")


class Growing:
    """Writes texts as JSON of which each begins with the one before it, but for one character at the end.

    Only what is new is written each time, so that it costs what was added and not what was said before.
    """

    def __init__(self) -> None:
        self._text = ""
        self._written = bytearray(b'"')
        self._end = 1

    def written(self, text: str) -> bytearray:
        """``text`` as JSON; good until the next call."""
        body, end = text[:-1], text[-1:]
        if not body.startswith(self._text):
            self._text = ""
            self._written = bytearray(b'"')
            self._end = 1
        del self._written[self._end :]
        self._written += _dumps(body[len(self._text) :])[1:-1]
        self._text = body
        self._end = len(self._written)
        self._written += _dumps(end)[1:]
        return self._written


def decode(line: bytes) -> JsonObject | None:
    """The message of a line, or ``None`` for what is no JSON object."""
    try:
        shape: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast(JsonObject, shape) if isinstance(shape, dict) else None


class Lines:
    """Cuts a byte stream into lines of any length."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their ends."""
        *whole, rest = data.split(b"\n")
        if not whole:
            self._pieces.append(rest)
            return []
        first = b"".join([*self._pieces, whole[0]])
        self._pieces = [rest] if rest else []
        return [line for line in (first, *whole[1:]) if line]
