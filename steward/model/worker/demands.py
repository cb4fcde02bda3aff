"""Servers that refuse a history in the usual form: how they say so, and the form that they take instead."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, cast

from steward.conversation import JsonObject
from steward.model.worker.thoughts import Thoughts

if TYPE_CHECKING:
    from steward.model.worker.hosts import Target


class Demand(Enum):
    """What a server demands of a history."""

    NO_SYSTEM = "no system message"
    REASONING = "what the model thought"
    SHORT_IDS = "ids of nine letters and digits"


_SAID = {
    Demand.NO_SYSTEM: re.compile(
        r"system (?:role|message|prompt|instruction)s? (?:(?:is|are) )?not (?:supported|allowed|enabled)"
        r"|not support (?:the |a )?system (?:role|message|prompt|instruction)"
        r"|developer instruction is not enabled|roles must alternate",
        re.IGNORECASE,
    ),
    Demand.REASONING: re.compile(
        r"missing .{0,3}reasoning_content|reasoning_content.{0,40}(?:is missing|must be passed|is required)",
        re.IGNORECASE,
    ),
    Demand.SHORT_IDS: re.compile(r"tool call ids?\b.{0,120}\blength (?:of )?9\b", re.IGNORECASE | re.DOTALL),
}
_TOLD = {
    Demand.NO_SYSTEM: "{model} takes no system message; what it holds is put before the first question.",
    Demand.REASONING: "{model} wants to see again what it thought; it is sent that, as far as it is remembered.",
    Demand.SHORT_IDS: "{model} takes no ids of calls but its own; the others are sent under new ones.",
}
_SHORT = re.compile(r"[A-Za-z0-9]{9}")
_known: set[tuple[str, str | None, Demand]] = set()


def learned(error: BaseException, where: Target) -> str | None:
    """What to say of a demand that the error states; ``None`` when it states none, or one that is met already."""
    for link in _chain(error):
        for demand, said in _SAID.items():
            if said.search(str(link)) and not _demands(where, demand):
                _known.add((where.model, where.base, demand))
                return _TOLD[demand].format(model=where.model)
    return None


def met(where: Target, messages: list[JsonObject], thoughts: Thoughts) -> list[JsonObject]:
    """The messages in the form in which this server takes them, the same in every request."""
    messages = thoughts.given_back(where, messages, reasoning=_demands(where, Demand.REASONING))
    if _demands(where, Demand.SHORT_IDS):
        messages = [_with_short_ids(message) for message in messages]
    return _without_system(messages) if _demands(where, Demand.NO_SYSTEM) else messages


def _demands(where: Target, demand: Demand) -> bool:
    """Whether this model has said so while this process has run."""
    return (where.model, where.base, demand) in _known


def _without_system(messages: list[JsonObject]) -> list[JsonObject]:
    """The messages with the system text at the head of the first question."""
    match messages:
        case [{"role": "system", "content": str(system)}, {"role": "user", "content": str(question)}, *rest]:
            return [{"role": "user", "content": f"{system}\n\n{question}"}, *rest]
        case _:
            return messages


def _with_short_ids(message: JsonObject) -> JsonObject:
    if message["role"] == "tool":
        return {**message, "tool_call_id": _short(str(message["tool_call_id"]))}
    calls = cast(list[JsonObject], message.get("tool_calls") or [])
    if not calls:
        return message
    return {**message, "tool_calls": [{**call, "id": _short(str(call["id"]))} for call in calls]}


def _short(id: str) -> str:
    return id if _SHORT.fullmatch(id) else hashlib.sha256(id.encode()).hexdigest()[:9]


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
