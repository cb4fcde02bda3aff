"""What a model would have to send to be told the same again: for scripts of replies that went wrong."""

from __future__ import annotations

import re

from steward.model.accumulate import CUT, FILTERED, MALFORMED, NO_CALL, NO_ROOM

_NOT_RUN = re.compile(r"Your call of \S+ was not run: (.*)\.$", re.DOTALL)
_AT = re.compile(r"its arguments are not valid JSON \(at character (\d+)\)")


def finish_for(told: str) -> str | None:
    """The finish reason of a reply without calls of which this was said; ``None`` when any will do."""
    for sentence, reason in ((NO_CALL, MALFORMED), (NO_ROOM, "length"), (FILTERED, "content_filter")):
        if sentence in told:
            return reason
    return None


def arguments_for(name: str, answer: str) -> str | None:
    """Arguments that cannot be run for the reason that ``answer`` gives; ``None`` when it gives none."""
    if answer.endswith(CUT.format(name=name)):
        return "{"
    match = _NOT_RUN.search(answer)
    if match is None:
        return None
    reason = match[1]
    if (at := _AT.fullmatch(reason)) is not None:
        position = int(at[1])
        return "{" + " " * (position - 1) + "?}" if position else "?"
    if reason.endswith("must be one JSON object"):
        return "[]"
    if "stands twice" in reason:
        return '{"a": 1, "a": 1}'
    if reason.endswith("is not JSON"):
        return f'{{"a": {reason.split(" ", 1)[0]}}}'
    return "[" * 100_000
