"""Streamed deltas become parts, and in the end one reply whose calls are whole and can be answered.

What providers really send: ids that are missing, empty, repeated or the same in every round; two calls that
share an index; fragments of several calls interleaved; a last chunk that repeats a whole call; arguments that
are blank, cut off, or hold raw newlines. A call is run only when its name is registered and its arguments are
one JSON object; beyond raw control characters inside strings nothing is guessed or repaired.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

from steward.conversation import JsonObject, ToolCall, Usage
from steward.errors import ModelError
from steward.model.mend import (
    BrokenArguments,
    parse_arguments,
    safe_name,
    unknown_tool,
    whole_object,
)
from steward.model.recover_calls import printed_reply
from steward.model.request import CallPart, Part, ReasoningPart, Reply, TextPart
from steward.model.tagged import Tagged

MOST_CHARACTERS = 16 * 1024 * 1024
MOST_CALLS = 128

MALFORMED = "malformed"
"""The finish reason of a reply whose call the server could not read."""

CUT = (
    "Your call of {name} was cut off before its arguments were complete, so it was not run. "
    "Call it again with less text, or in several smaller steps."
)
NO_CALL = (
    "Your reply ended as if it called a tool, but it held no tool call. Call a tool, or answer in plain text."
)
_NO_ANSWER = "Your reply held no answer and no tool call. Answer in plain text, or call a tool."
NO_ROOM = "Your reply was cut off by its length limit before it held an answer. Answer more briefly."
FILTERED = "The provider's content filter stopped your reply, so there is no answer. Put it another way."
_PRINTED = "You printed a tool call as text; nothing was run. Call {name} through the tool interface instead."


@dataclass(slots=True)
class _Forming:
    """A call as far as it has come."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])
    characters: int = 0
    whole: bool | None = None
    """Whether the pieces are a whole object; ``None`` when not looked at since the last piece."""

    def add(self, piece: str) -> None:
        if piece:
            if piece.startswith("{") and self._begun_anew(piece):
                self.pieces, self.characters = [], 0
            self.pieces.append(piece)
            self.characters += len(piece)
            self.whole = None

    def _begun_anew(self, piece: str) -> bool:
        """Whether the piece takes the place of those before it; behind them it could never be one object.

        Some relays send an empty object before the real one, some all that they have each time.
        """
        if self.characters > len(piece) and self.characters > len("{}"):
            return False
        return self.text == "{}" or (self.text.startswith("{") and piece.startswith(self.text))

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        if self.whole is None:
            # The last piece decides quickly that most fragments don't complete anything.
            self.whole = (
                bool(self.pieces)
                and self.pieces[-1].rstrip().endswith("}")
                and whole_object(self.text) is not None
            )
        return self.whole


class Accumulator:
    """The state of one stream.

    ``names`` are the registered tools. ``taken`` are ids that earlier rounds of the conversation used: a call
    that comes with one of them, with none, or with one used before in this reply gets a fresh id.
    """

    def __init__(self, names: Sequence[str], taken: Collection[str] = ()) -> None:
        self._names = tuple(names)
        self._taken = frozenset(taken)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Forming] = []
        self._at_index: dict[int, _Forming] = {}
        self._characters = 0
        self._tagged = Tagged()

    def feed(self, delta: JsonObject) -> list[Part]:
        """Take one delta of choice 0. ``ModelError`` of kind ``protocol`` when the reply grows beyond all reason."""
        reasoning = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning"))
        content = text_of(delta.get("content")) + text_of(delta.get("refusal"))
        self._characters += len(content) + len(reasoning)
        thought, text = self._tagged.feed(content) if content else ("", "")
        parts = self._said(reasoning + thought, text)
        fragments: object = delta.get("tool_calls")
        legacy: object = delta.get("function_call")
        if isinstance(legacy, dict):
            fragments = [{"index": 0, "function": cast(JsonObject, legacy)}]
        if isinstance(fragments, list):
            for fragment in cast(list[object], fragments):
                if isinstance(fragment, dict):
                    parts.extend(self._fragment(cast(JsonObject, fragment)))
        if self._characters > MOST_CHARACTERS or len(self._calls) > MOST_CALLS:
            raise ModelError("protocol", "The model's reply grew beyond all reason and was stopped.")
        return parts

    def rest(self) -> list[Part]:
        """What still waited, when the stream has ended: text that could have become a tag."""
        return self._said(*self._tagged.rest())

    def _said(self, reasoning: str, text: str) -> list[Part]:
        parts: list[Part] = []
        if reasoning:
            self._reasoning.append(reasoning)
            parts.append(ReasoningPart(reasoning))
        if text:
            self._text.append(text)
            parts.append(TextPart(text))
        return parts

    def finish(self, reason: str | None, usage: Usage | None = None) -> Reply:
        """The whole reply. ``ModelError`` of kind ``interrupted-stream`` without a finish reason."""
        if not reason:
            raise ModelError(
                "interrupted-stream",
                "The model's reply broke off before its end; nothing of it was run. Ask again.",
            )
        self.rest()
        text = "".join(self._text)
        calls: list[ToolCall] = []
        rejected: list[tuple[ToolCall, str]] = []
        ids = self._ids()
        for id, forming in zip(ids, self._calls, strict=True):
            call, sentence = self._judge(id, forming)
            if sentence:
                rejected.append((call, sentence))
            else:
                calls.append(call)
        told = " ".join(dict.fromkeys(sentence for _, sentence in rejected))
        if not self._calls:
            told = self._told(text, reason)
        return Reply(
            text, "".join(self._reasoning), tuple(calls), reason, usage or Usage(), told, tuple(rejected)
        )

    def _fragment(self, fragment: JsonObject) -> list[Part]:
        function: object = fragment.get("function")
        shape = cast(JsonObject, function) if isinstance(function, dict) else {}
        name = _string(shape.get("name"))
        given: object = shape.get("arguments")
        arguments = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else _string(given)
        id = _string(fragment.get("id"))
        index: object = fragment.get("index")
        where = index if isinstance(index, int) else None
        if self._repeats(where, id, name, arguments):
            return []
        call = self._place(where, id, name, arguments)
        if where is not None:
            self._at_index[where] = call
        if id and not call.id:
            call.id = id
        if name and call.name != name:
            call.name += name
        call.add(arguments)
        self._characters += len(arguments) + len(name) + len(id)
        return [CallPart(self._calls.index(call), call.name, call.characters)]

    def _repeats(self, where: int | None, id: str, name: str, arguments: str) -> bool:
        """Whether the fragment is a summary: the whole of a call that is complete already."""
        for call in self._calls:
            same = call.id == id if id else where is None or self._at_index.get(where) is call
            if same and arguments and call.name == (name or call.name) and call.complete:
                again = whole_object(arguments)
                if again is not None and again == whole_object(call.text):
                    return True
        return False

    def _place(self, where: int | None, id: str, name: str, arguments: str) -> _Forming:
        """The call that a fragment belongs to, a new one when it begins one."""
        for call in reversed(self._calls):
            if id and call.id == id and not (name and call.name == name and call.complete and arguments):
                return call
        latest = (
            self._at_index.get(where) if where is not None else (self._calls[-1] if self._calls else None)
        )
        if latest is not None and not self._begins(latest, id, name, arguments):
            return latest
        call = _Forming(id, "")
        self._calls.append(call)
        return call

    def _begins(self, latest: _Forming, id: str, name: str, arguments: str) -> bool:
        """Whether a fragment at the place of ``latest`` is the first of another call."""
        if id and latest.id and id != latest.id:
            # Some servers invent an id for each fragment; a fragment without a name goes on with what is open.
            return bool(name) or latest.complete
        if not name:
            return False
        if name == latest.name:
            return latest.complete and bool(arguments)
        # A name may come in pieces too, while no arguments have come.
        return bool(latest.name) and not (latest.characters == 0 and latest.name + name in self._names)

    def _ids(self) -> list[str]:
        used = set(self._taken)
        used.update(call.id for call in self._calls)
        seen: set[str] = set()
        ids: list[str] = []
        number = 1
        for call in self._calls:
            id = call.id
            if not id or id in seen or id in self._taken:
                # Nine letters and digits: the one form that every provider takes back.
                while (id := f"call{number:05d}") in used:
                    number += 1
            used.add(id)
            seen.add(id)
            ids.append(id)
        return ids

    def _judge(self, id: str, forming: _Forming) -> tuple[ToolCall, str]:
        """The call as it enters the history, and why it is not run (empty: it is)."""
        name = safe_name(forming.name)
        try:
            arguments = parse_arguments(forming.text)
        except BrokenArguments as error:
            sentence = CUT.format(name=name) if error.cut else f"Your call of {name} was not run: {error}."
            return ToolCall(id, name, "{}"), sentence
        if forming.name not in self._names:
            return ToolCall(id, name, arguments), unknown_tool(forming.name, self._names)
        return ToolCall(id, name, arguments), ""

    def _told(self, text: str, reason: str) -> str:
        """What to say to the model about a reply without calls; empty when it is an answer."""
        if text.strip():
            printed = printed_reply(text, self._names)
            if printed is not None:
                return _PRINTED.format(name=printed.calls[0].name)
            return NO_CALL if reason == MALFORMED else ""
        match reason:
            case "tool_calls" | "function_call" | "malformed":
                return NO_CALL
            case "length":
                return NO_ROOM
            case "content_filter":
                return FILTERED
            case _:
                return _NO_ANSWER


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def text_of(value: object) -> str:
    """Content as a string, or as a list of parts of which only text counts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(text_of(part) for part in cast(list[object], value))
    if isinstance(value, dict):
        shape = cast(JsonObject, value)
        return _string(shape.get("text")) or text_of(shape.get("content"))
    return ""
