"""Servers whose chat template knows no system message: how they say so, and the messages that they take instead."""

from __future__ import annotations

import re

from steward.conversation import JsonObject
from steward.model.worker.hosts import Target

_SAID = re.compile(
    r"system (?:role|message|prompt|instruction)s? (?:(?:is|are) )?not (?:supported|allowed|enabled)"
    r"|not support (?:the |a )?system (?:role|message|prompt|instruction)"
    r"|developer instruction is not enabled|roles must alternate",
    re.IGNORECASE,
)
_known: set[tuple[str, str | None]] = set()


def without_system(where: Target) -> bool:
    """Whether this model has refused a system message while this process has run."""
    return (where.model, where.base) in _known


def refuses_system(error: BaseException, where: Target) -> bool:
    """Whether the error says so; true once for a model, which is remembered."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        if _SAID.search(str(link)) and not without_system(where):
            _known.add((where.model, where.base))
            return True
        link = link.__cause__ or link.__context__
    return False


def merged(messages: list[JsonObject]) -> list[JsonObject]:
    """The messages with the system text at the head of the first question, and so the same in every request."""
    match messages:
        case [{"role": "system", "content": str(system)}, {"role": "user", "content": str(question)}, *rest]:
            return [{"role": "user", "content": f"{system}\n\n{question}"}, *rest]
        case _:
            return messages
