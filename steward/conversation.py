"""Messages and the append-only conversation: what was sent once is sent again byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, assert_never

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call a model asked for; ``arguments`` is the JSON text exactly as it came."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class System:
    """What the model is told once, at the start of a conversation."""

    text: str


@dataclass(frozen=True, slots=True)
class User:
    """Words of the person, or (``note``) of the steward on the person's behalf."""

    text: str
    note: bool = False


@dataclass(frozen=True, slots=True)
class Assistant:
    """What the model said and the calls it made; ``reasoning`` is kept for people and is no part of ``wire``."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of one call, exactly as the model is told it."""

    call_id: str
    name: str
    text: str
    ok: bool = True


Message = System | User | Assistant | ToolAnswer


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one round or a sum of rounds, as the provider reported them; ``None`` means unknown.

    ``cost`` is in US dollars.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.prompt, other.prompt),
            _sum(self.completion, other.completion),
            _sum(self.cached, other.cached),
            self.cost if other.cost is None else other.cost if self.cost is None else self.cost + other.cost,
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


def clean(text: str) -> str:
    """``text`` with lone surrogates replaced by U+FFFD, so that it can be encoded for the wire."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def to_openai(message: Message) -> JsonObject:
    """The message in the shape that OpenAI's chat completions take."""
    match message:
        case System(text):
            return {"role": "system", "content": clean(text)}
        case User(text):
            return {"role": "user", "content": clean(text)}
        case Assistant(text, calls):
            shape: JsonObject = {"role": "assistant", "content": clean(text) if text or not calls else None}
            if calls:
                shape["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": clean(call.arguments) or "{}"},
                    }
                    for call in calls
                ]
            return shape
        case ToolAnswer(call_id, name, text):
            return {"role": "tool", "tool_call_id": call_id, "name": name, "content": clean(text)}
        case _:
            assert_never(message)


def to_json(message: Message) -> JsonObject:
    """The message in the shape in which it is stored; ``from_json`` reads it back."""
    match message:
        case System(text):
            return {"kind": "system", "text": text}
        case User(text, note):
            return {"kind": "user", "text": text, "note": note}
        case Assistant(text, calls, reasoning):
            return {
                "kind": "assistant",
                "text": text,
                "reasoning": reasoning,
                "calls": [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in calls],
            }
        case ToolAnswer(call_id, name, text, ok):
            return {"kind": "tool", "call": call_id, "name": name, "text": text, "ok": ok}
        case _:
            assert_never(message)


def from_json(shape: JsonObject) -> Message:
    """The message that ``to_json`` wrote; ``KeyError`` or ``ValueError`` when it is something else."""
    match shape["kind"]:
        case "system":
            return System(shape["text"])
        case "user":
            return User(shape["text"], shape["note"])
        case "assistant":
            calls = tuple(ToolCall(c["id"], c["name"], c["arguments"]) for c in shape["calls"])
            return Assistant(shape["text"], calls, shape["reasoning"])
        case "tool":
            return ToolAnswer(shape["call"], shape["name"], shape["text"], shape["ok"])
        case kind:
            raise ValueError(f"unknown kind of message {kind!r}")


def _line(message: Message) -> str:
    return json.dumps(to_openai(message), ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Conversation:
    """The messages of one session in order; it only grows, and each message is serialised once."""

    messages: list[Message] = field(default_factory=list[Message])
    _wire: list[str] = field(default_factory=list[str], repr=False)
    _text: str = field(default="[", repr=False)
    """The first ``_joined`` of the lines, joined: what is new is put behind it, so that a round costs what it adds."""
    _joined: int = field(default=0, repr=False)
    _characters: int = field(default=0, repr=False)
    _sizes: dict[type[Message], int] = field(default_factory=dict[type[Message], int], repr=False)

    def append(self, message: Message) -> None:
        """Add a message at the end; nothing before it changes."""
        line = _line(message)
        self.messages.append(message)
        self._wire.append(line)
        self._characters += len(line)
        kind = type(message)
        self._sizes[kind] = self._sizes.get(kind, 0) + len(message.text)

    def wire(self, system: str | None = None) -> str:
        """The messages as the JSON text of an array; each call's text begins with the one before it.

        ``system`` takes the place of the system message, which gives up that property.
        """
        if system is not None and self.messages and isinstance(self.messages[0], System):
            return "[" + ",".join([_line(System(system)), *self._wire[1:]]) + "]"
        new = ",".join(self._wire[self._joined :])
        if new:
            # Held by nobody else the text is made longer where it stands.
            text, self._text = self._text, ""
            text += new if len(text) == 1 else "," + new
            self._text = text
            self._joined = len(self._wire)
        return self._text + "]"

    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last assistant message that have no answer yet."""
        answered: set[str] = set()
        for message in reversed(self.messages):
            if isinstance(message, ToolAnswer):
                answered.add(message.call_id)
            elif isinstance(message, Assistant):
                return tuple(call for call in message.calls if call.id not in answered)
            else:
                return ()
        return ()

    def close(self, note: str) -> None:
        """Make the history acceptable after an interruption.

        Each open call gets ``note`` as its answer; a user message or tool answer left last gets an assistant
        message saying ``note``, so that no server ever sees two user turns in a row.
        """
        for call in self.open_calls():
            self.append(ToolAnswer(call.id, call.name, note, ok=False))
        if self.messages and not isinstance(self.messages[-1], Assistant | System):
            self.append(Assistant(note))

    def characters(self) -> int:
        """How many characters the next request carries."""
        return self._characters

    def characters_of(self, kind: type[Message]) -> int:
        """How many characters the texts of one kind of message have."""
        return self._sizes.get(kind, 0)
