"""Turns calls that a model wrote as text into calls, where running them can do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from steward.conversation import Assistant, Conversation, ToolAnswer, ToolCall, User
from steward.model.recover_calls import Printed, printed_reply, quoted, typed
from steward.model.request import Reply
from steward.tools import ToolBox

READ_ONLY = frozenset({"listFiles", "searchFiles", "readFile"})
"""Tools whose calls are run although they came as text; for any other the model is asked to call it."""

_ID = "text"


def recovered(reply: Reply, conversation: Conversation, toolbox: ToolBox) -> Reply | None:
    """The reply with the calls that its text ends in, or ``None`` when they are not to be run.

    Every call must be of a tool that only reads, with arguments that the tool accepts, and must not stand in
    anything that the model was given in this conversation.
    """
    printed = printed_reply(reply.text, toolbox.names)
    if printed is None or not all(call.name in READ_ONLY for call in printed.calls):
        return None
    given = list(texts_given(conversation))
    earlier = sum(
        call.id.startswith(_ID)
        for message in conversation.messages
        if isinstance(message, Assistant)
        for call in message.calls
    )
    calls: list[ToolCall] = []
    for number, call in enumerate(printed.calls, earlier + 1):
        arguments = _arguments(call, toolbox)
        if arguments is None or quoted(call, given):
            return None
        calls.append(ToolCall(f"{_ID}{number:05d}", call.name, arguments))
    return replace(reply, text=printed.before, calls=tuple(calls), told="")


def texts_given(conversation: Conversation) -> Iterator[str]:
    """What the model was given in this conversation: results of tools, and words of the person."""
    return (m.text for m in conversation.messages if isinstance(m, ToolAnswer | User))


def _arguments(call: Printed, toolbox: ToolBox) -> str | None:
    if call.arguments is None:
        return None
    function = next(spec["function"] for spec in toolbox.specs if spec["function"]["name"] == call.name)
    arguments = typed(call.arguments, function["parameters"])
    return arguments if toolbox.accepts(call.name, arguments) else None
