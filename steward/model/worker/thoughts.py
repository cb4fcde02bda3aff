"""What came with a reply beside its text and calls, and goes back with it: thoughts, and a server's own marks.

Text between tags, Anthropic's signed thinking, OpenRouter's ``reasoning_details``, Google's ``extra_content`` and the
plain reasoning that DeepSeek and Kimi want: without them a server refuses a call that it made itself, or stops
thinking. They are held in memory while this process lives, found by all that was said before the reply, and go only
to the model they are from.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from steward.conversation import JsonObject
from steward.model.tagged import answer_in

if TYPE_CHECKING:
    from steward.model.worker.hosts import Target

MOST = 16 * 1024 * 1024
"""Characters that are remembered; what came first is forgotten first."""

_GLAD = {"deepseek", "moonshot", "zai"}
"""Providers whose models go on from their plain reasoning; others refuse a field that they do not know."""

_UNKNOWN = " "
"""Stands for reasoning that nobody remembers; an empty text counts as none."""


@dataclass(slots=True)
class Arriving:
    """What the deltas of one reply have brought so far."""

    text: list[str] = field(default_factory=list[str])
    reasoning: list[str] = field(default_factory=list[str])
    blocks: list[JsonObject] = field(default_factory=list[JsonObject])
    details: list[JsonObject] = field(default_factory=list[JsonObject])
    calls: list[tuple[str, JsonObject | None]] = field(default_factory=list["tuple[str, JsonObject | None]"])

    def feed(self, delta: Any) -> None:
        """Take one delta as litellm gives it."""
        for key in ("content", "refusal"):
            self.text.append(_text(getattr(delta, key, None)))
        self.reasoning.append(_text(getattr(delta, "reasoning_content", None)))
        self.blocks += _objects(getattr(delta, "thinking_blocks", None))
        for call in _objects(getattr(delta, "tool_calls", None)):
            name = _text(cast(JsonObject, call.get("function") or {}).get("name"))
            if name:
                self.calls.append((name, call.get("extra_content")))

    def feed_details(self, delta: Any) -> None:
        """Take what a delta says in ``reasoning_details``, before litellm passes over it."""
        self.details += _objects(getattr(delta, "reasoning_details", None))

    def thought(self) -> Thought:
        """All of it, the pieces joined."""
        return Thought(
            "".join(self.text),
            tuple(name for name, _ in self.calls),
            "".join(self.reasoning),
            _joined(self.blocks, ("thinking",), ("index",)),
            _joined(self.details, ("text", "summary"), ()),
            tuple(mark for _, mark in self.calls),
        )


@dataclass(frozen=True, slots=True)
class Thought:
    """What came with one reply, and the text and calls by which the reply is known again."""

    text: str
    names: tuple[str, ...]
    reasoning: str
    blocks: tuple[JsonObject, ...]
    """Anthropic's, signed or redacted."""
    details: tuple[JsonObject, ...]
    """OpenRouter's."""
    marks: tuple[JsonObject | None, ...]
    """Google's, one for each call."""

    @property
    def size(self) -> int:
        """Characters, about."""
        return len(self.reasoning) + len(self.text) + len(json.dumps([self.blocks, self.details, self.marks]))

    def __bool__(self) -> bool:
        more = self.reasoning or self.blocks or self.details or any(self.marks)
        return bool(more) or answer_in(self.text) != self.text

    def is_of(self, message: JsonObject) -> bool:
        """Whether the message is the reply that it came with."""
        said = message.get("content") or ""
        return said in (self.text, answer_in(self.text)) and set(_names(message)) == set(self.names)

    def given_back(self, message: JsonObject) -> JsonObject:
        """The message with what its server wants to see again."""
        whole = message | {"content": self.text or message.get("content")}
        if any(block.get("signature") or block.get("data") for block in self.blocks):
            whole["thinking_blocks"] = list(self.blocks)
        if self.details:
            whole["reasoning_details"] = list(self.details)
        if any(self.marks) and _names(message) == self.names:
            calls = zip(cast(list[JsonObject], message["tool_calls"]), self.marks, strict=True)
            whole["tool_calls"] = [{**call, "extra_content": mark} if mark else call for call, mark in calls]
        return whole


class Thoughts:
    """The thoughts of all replies that this process has relayed, as far as there is room."""

    def __init__(self) -> None:
        self._held: OrderedDict[bytes, Thought] = OrderedDict()
        self._size = 0

    def keep(self, where: Target, messages: list[JsonObject], thought: Thought) -> None:
        """Remember what came with the reply to these messages."""
        if not thought:
            return
        *_, (_, key) = _places(where, messages)
        before = self._held.pop(key, None)
        self._held[key] = thought
        self._size += thought.size - (before.size if before is not None else 0)
        while self._size > MOST:
            _, oldest = self._held.popitem(last=False)
            self._size -= oldest.size

    def given_back(self, where: Target, messages: list[JsonObject], *, reasoning: bool) -> list[JsonObject]:
        """The messages with what is remembered of each reply; ``reasoning``: the server refuses those without any."""
        if not self._held and not reasoning:
            return messages
        whole = list(messages)
        for place, key in _places(where, messages):
            if place == len(messages):
                break
            thought = self._held.get(key)
            if thought is not None and not thought.is_of(messages[place]):
                thought = None
            if thought is not None:
                whole[place] = thought.given_back(messages[place])
            known = thought.reasoning if thought is not None else ""
            if reasoning or (known and where.provider in _GLAD):
                whole[place] = {**whole[place], "reasoning_content": known or _UNKNOWN}
        return whole


def _places(where: Target, messages: list[JsonObject]) -> Iterator[tuple[int, bytes]]:
    """Where replies stand, and where the next one would, each with a digest of what was said before it.

    The system message is left out: it may be replaced while the talk goes on.
    """
    said = hashlib.sha256(f"{where.model}\0{where.base}\0".encode())
    for place, message in enumerate(messages):
        if message["role"] == "assistant":
            yield place, said.digest()
        if message["role"] != "system":
            said.update(json.dumps(message, sort_keys=True).encode())
    yield len(messages), said.digest()


def _names(message: JsonObject) -> tuple[str, ...]:
    calls = cast(list[JsonObject], message.get("tool_calls") or [])
    return tuple(str(call["function"]["name"]) for call in calls)


def _joined(
    pieces: list[JsonObject], texts: tuple[str, ...], left_out: tuple[str, ...]
) -> tuple[JsonObject, ...]:
    """Parts of which each is one or more pieces; one that was signed is whole."""
    parts: list[tuple[JsonObject, dict[str, list[str]]]] = []
    for piece in pieces:
        last = parts[-1][0] if parts else {}
        whole = piece.get("data") or last.get("signature")
        if not parts or whole or any(last.get(key) != piece.get(key) for key in ("type", "index")):
            parts.append(({}, {key: [] for key in texts}))
        shape, written = parts[-1]
        for key, value in piece.items():
            if key in texts and isinstance(value, str):
                written[key].append(value)
            elif value is not None or key not in shape:
                shape[key] = value
    return tuple(
        {key: value for key, value in shape.items() if key not in left_out}
        | {key: "".join(found) for key, found in written.items() if found}
        for shape, written in parts
    )


def _objects(given: object) -> list[JsonObject]:
    listed = cast(list[Any], given) if isinstance(given, list) else []
    return [
        cast(JsonObject, one if isinstance(one, dict) else one.model_dump())
        for one in listed
        if isinstance(one, dict) or hasattr(one, "model_dump")
    ]


def _text(given: object) -> str:
    return given if isinstance(given, str) else ""
