"""Notices when a model goes round in circles: the same call, two calls in turn, empty calls, the same words."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field

POINTED_OUT = 3
ENDED = 5
WINDOW = 4096
"""Characters of an answer's end that must be one repeated piece before it counts as stuck."""
TIMES = 8
"""How often the piece must stand there at least."""
_STEP = 512
_PROBE = 32


@dataclass(frozen=True, slots=True)
class Circle:
    """A model that repeats itself: what it is told, what the person is told, and whether the turn ends."""

    model: str
    person: str
    end: bool


@dataclass(slots=True)
class Repeats:
    """Counts what comes again within one turn; what one reply holds several times counts once."""

    _seen: Counter[bytes] = field(default_factory=Counter[bytes])
    _calls: list[bytes] = field(default_factory=list[bytes])
    _names: list[str] = field(default_factory=list[str])
    _empty: int = 0
    _now: set[bytes] = field(default_factory=set[bytes])

    def begin_round(self) -> None:
        """Another reply: the model has been told what came of its last one."""
        self._now.clear()

    def note(self, name: str, arguments: str, result: str, *, ok: bool) -> Circle | None:
        """Take down a call and what it gave; a ``Circle`` the third time round, and the fifth, which is the last."""
        canonical = _canonical(arguments)
        self._count_empty(canonical == "{}" and not ok)
        call, key = _digest(name, canonical), _digest(name, canonical, result)
        if self._first(call):
            self._calls.append(call)
            self._names.append(name)
        if self._first(key):
            self._seen[key] += 1
            if self._seen[key] in (POINTED_OUT, ENDED):
                return Circle(
                    f"This call has given this same result {self._seen[key]} times; do something else, or answer.",
                    f"{name} was called {self._seen[key]} times with the same result",
                    self._seen[key] == ENDED,
                )
        if self._empty in (POINTED_OUT, ENDED) and self._first(b"empty"):
            return Circle(
                f"{self._empty} times in a row calls came without arguments; write them as one JSON object, or answer.",
                f"{self._empty} times in a row calls came without arguments",
                self._empty == ENDED,
            )
        turns = self._turns()
        if turns in (POINTED_OUT, ENDED) and self._first(b"turns"):
            both = " and ".join(dict.fromkeys(self._names[-2:]))
            return Circle(
                f"The same two calls were made in turn {turns} times; do something else, or answer.",
                f"the same two calls ({both}) were made in turn {turns} times",
                turns == ENDED,
            )
        return None

    def _count_empty(self, empty: bool) -> None:
        if not empty:
            self._empty = 0
        elif self._first(b"counted"):
            self._empty += 1

    def _first(self, key: bytes) -> bool:
        """Whether this comes for the first time in the reply."""
        if key in self._now:
            return False
        self._now.add(key)
        return True

    def _turns(self) -> int:
        """How often the last two calls, when they differ, were made in turn up to now; 0 within a round of them."""
        calls = self._calls
        if len(calls) < 2 or calls[-1] == calls[-2]:
            return 0
        times = 1
        while calls[-2 * times - 2 : -2 * times or None] == calls[-2:]:
            times += 1
        before = calls[: len(calls) - 2 * times]
        # A, B, A: the round that began with the second call is not counted a second time.
        return 0 if before and before[-1] == calls[-1] else times


@dataclass(slots=True)
class Babble:
    """Watches an answer as it streams for an end that is one piece over and over."""

    _tail: str = ""
    _new: int = 0

    def feed(self, text: str) -> bool:
        """Whether the answer is stuck now."""
        self._tail = (self._tail + text)[-WINDOW:]
        self._new += len(text)
        if self._new < _STEP or len(self._tail) < WINDOW:
            return False
        self._new = 0
        return period(self._tail) is not None


def period(tail: str) -> int | None:
    """The length of the piece that all of ``tail`` repeats, at least ``TIMES`` times; else ``None``."""
    probe = tail[-_PROBE:]
    longest = len(tail) // TIMES
    at = len(tail) - _PROBE
    while (at := tail.rfind(probe, 0, at + _PROBE - 1)) >= 0:
        length = len(tail) - _PROBE - at
        if length > longest:
            return None
        if tail[length:] == tail[:-length]:
            return length
    return None


def without_repetition(text: str) -> str:
    """The text with the repeated piece at its end kept once."""
    length = period(text[-WINDOW:])
    if length is None or len(text) < WINDOW:
        return text
    start = len(text) - WINDOW
    while start > 0 and text[start - 1] == text[start - 1 + length]:
        start -= 1
    return text[: start + length]


def _canonical(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments.strip() or "{}", strict=False), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
