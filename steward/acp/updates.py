"""Events as the updates that an editor shows; proposals become diffs to look at, never requests to write."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, assert_never, cast

import acp
from acp.helpers import SessionUpdate, ToolCallContentVariant
from acp.schema import StopReason, ToolCallLocation, ToolKind

from steward.conversation import clean
from steward.events import (
    AnswerText,
    CallForming,
    ChangesMoved,
    EndReason,
    Event,
    FocusMoved,
    InstructionsChanged,
    LimitNotice,
    Notice,
    ProposalMade,
    ReasoningText,
    Retrying,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from steward.proposals import FileChange, Proposal
from steward.visible import line, visible

KINDS: dict[str, ToolKind] = {
    "listFiles": "search",
    "searchFiles": "search",
    "readFile": "read",
    "proposePatch": "edit",
    "Skill": "think",
}

STOPS: dict[EndReason, StopReason] = {
    "answered": "end_turn",
    "interrupted": "cancelled",
    "failed": "end_turn",
    "round-limit": "max_turn_requests",
    "budget": "max_turn_requests",
    "loop": "max_turn_requests",
}


class Updates:
    """Turns the events of one turn into updates. It remembers the calls, since an update replaces contents.

    ``turn`` counts the turns of a session: models use the same ids again, an editor knows a call by its id.
    """

    def __init__(self, root: Path, turn: int) -> None:
        self._root = root
        self._turn = turn
        self._contents: dict[str, list[ToolCallContentVariant]] = {}
        self._paths: dict[str, str | None] = {}
        self._patching = ""

    def of(self, event: Event) -> Iterable[SessionUpdate]:
        """What the editor is told of the event."""
        match event:
            case AnswerText(text):
                yield acp.update_agent_message_text(shown(text))
            case ReasoningText(text):
                yield acp.update_agent_thought_text(shown(text))
            case ToolStarted(call_id, name, arguments):
                yield self._started(call_id, name, arguments)
            case ToolFinished(call_id, _, ok, text):
                contents = self._contents.setdefault(call_id, [])
                contents.insert(0, acp.tool_content(acp.text_block(shown(text))))
                status = "completed" if ok else "failed"
                yield acp.update_tool_call(self._name(call_id), status=status, content=contents)
            case ProposalMade(proposal):
                contents = self._contents.setdefault(self._patching, [])
                contents += self._diffs(proposal)
                yield acp.update_tool_call(self._name(self._patching), content=contents)
            case InstructionsChanged(_, _, _, arrived):
                if arrived:
                    yield aside(f"Instructions now in effect: {', '.join(arrived)}")
            case Retrying(_, seconds, reason):
                yield aside(f"Trying again in {seconds:.0f} s: {reason}")
            case LimitNotice(target, outcome, accepted):
                yield aside(f"Instructions for {target} met the {outcome}; {accepted} are kept.")
            case Notice(text):
                yield aside(text)
            case TurnEnded(reason, _, _, _, error):
                if error and reason != "failed":
                    yield aside(error)
            case (
                TurnStarted() | RoundStarted() | RoundEnded() | CallForming() | FocusMoved() | ChangesMoved()
            ):
                pass
            case _:
                assert_never(event)

    def _name(self, call_id: str) -> str:
        return f"{self._turn}-{call_id}"

    def _started(self, call_id: str, name: str, arguments: str) -> SessionUpdate:
        shape = _object(arguments)
        path = shape.get("path") if shape is not None else None
        self._paths[call_id] = path if isinstance(path, str) else None
        if name == "proposePatch":
            self._patching = call_id
        target = self._paths[call_id]
        return acp.start_tool_call(
            self._name(call_id),
            line(f"{name} {target}" if target else name),
            kind=KINDS.get(name, "other"),
            status="in_progress",
            locations=[ToolCallLocation(path=str(self._root / target))] if target else None,
            raw_input=shape if shape is not None else clean(arguments),
        )

    def _diffs(self, proposal: Proposal) -> list[ToolCallContentVariant]:
        """The file this call changed as a diff (all, when it cannot be told), and how to apply it."""
        target = self._paths.get(self._patching)
        touched = [file for file in proposal.files if target in (file.path, file.old_path)]
        diffs: list[ToolCallContentVariant] = [self._diff(file) for file in touched or proposal.files]
        words = (
            f"{proposal.id} ({proposal.short_stamp}) is pending; nothing is written. Apply it with: "
            f"steward apply-change {proposal.id}"
        )
        return [*diffs, acp.tool_content(acp.text_block(words))]

    def _diff(self, file: FileChange) -> ToolCallContentVariant:
        return acp.tool_diff_content(
            clean(str(self._root / file.path)),
            _text(file.result),
            None if file.base is None else _text(file.base),
        )


def aside(text: str) -> SessionUpdate:
    """A word of the steward itself."""
    return acp.update_agent_thought_text(f"{line(text)}\n")


def shown(text: str) -> str:
    """The text with everything in it that an editor would hide."""
    return visible(text, keep="\n\t")


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        shape: object = json.loads(arguments)
    except ValueError:
        return None
    return cast(dict[str, Any], shape) if isinstance(shape, dict) else None
