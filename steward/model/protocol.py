"""The lines between the steward and its worker: one JSON object a line, in both directions.

To the worker: ``{"op": "call", "id", "model", "messages", "tools", "options", "clocks", "script"}``,
``{"op": "cancel", "id"}``, and the questions ``about``, ``window``, ``models``, ``host`` and ``fetch``, each with
an ``id``. From the worker: ``{"type": "ready"}`` or ``{"type": "broken", "sentence"}`` once, then per id
``delta``, ``retry``, ``notice``, ``finish``, ``error`` for a call and ``answer`` or ``error`` for a question.
"""

from __future__ import annotations

import json
from typing import cast

from steward.conversation import JsonObject


def encode(message: JsonObject) -> bytes:
    """The message as one line. Lone surrogates survive as escapes; no character can break the line."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":"), default=str).encode("ascii") + b"\n"


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
