"""One turn without a screen: the events of a question gathered into what ``ask`` reports."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, assert_never

from steward.cli import shapes
from steward.conversation import JsonObject, Usage
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
from steward.proposals import Proposal


@dataclass(slots=True)
class Turn:
    """What came of one question, growing as events arrive."""

    model: str
    answer: str = ""
    """The text of the last round; what the model said before a tool call is progress, not answer."""
    rounds: int = 0
    proposals: dict[str, Proposal] = field(default_factory=dict[str, Proposal])
    tools: list[JsonObject] = field(default_factory=list[JsonObject])
    usage: Usage = field(default_factory=Usage)
    instructions: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    reason: EndReason = "failed"
    error: str = ""
    _calls: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])

    def take(self, event: Event) -> None:
        """Add what the event says."""
        match event:
            case RoundStarted():
                self.answer = ""
            case AnswerText(text):
                self.answer += text
            case ToolStarted(call_id, name, arguments):
                self._calls[call_id] = {"name": name, "arguments": shapes.arguments(arguments), "ok": False}
                self.tools.append(self._calls[call_id])
            case ToolFinished(call_id, _, ok):
                if call_id in self._calls:
                    self._calls[call_id]["ok"] = ok
            case InstructionsChanged(_, documents, skipped, arrived):
                known = [d.path for d in documents if d.state not in ("pending", "withdrawn")]
                self._tell(self.instructions, (*known, *arrived))
                self._tell(self.warnings, [f"{path} was left out: {reason}" for path, reason in skipped])
            case LimitNotice(target, outcome, accepted, size, limit):
                self._tell(
                    self.warnings,
                    [
                        f"Instructions for {target} stopped at the {outcome} of {limit}: "
                        f"{accepted} documents of {size} bytes are kept."
                    ],
                )
            case ProposalMade(proposal):
                self.proposals[proposal.id] = proposal
            case Notice(text, level):
                if level != "info":
                    self._tell(self.warnings, [text])
            case TurnEnded(reason, rounds, usage, _, error):
                self.reason, self.rounds, self.usage, self.error = reason, rounds, usage, error
            case (
                TurnStarted()
                | ReasoningText()
                | CallForming()
                | RoundEnded()
                | FocusMoved()
                | ChangesMoved()
                | Retrying()
            ):
                pass
            case _:
                assert_never(event)

    def json(self) -> JsonObject:
        """``ask --json``."""
        return {
            "answer": self.answer,
            "model": self.model,
            "rounds": self.rounds,
            "changes": list(self.proposals),
            "tools": self.tools,
            "usage": usage(self.usage),
            "instructions": self.instructions,
            "warnings": self.warnings,
            "reason": self.reason,
        }

    @staticmethod
    def _tell(known: list[str], more: Any) -> None:
        known.extend(text for text in dict.fromkeys(more) if text not in known)


def usage(total: Usage) -> JsonObject:
    """Tokens and cost, ``null`` where the provider said nothing."""
    return {
        "prompt": total.prompt,
        "completion": total.completion,
        "cached": total.cached,
        "cost": total.cost,
    }


async def gather(
    events: AsyncGenerator[Event, None], turn: Turn, watch: Callable[[Event], None] = lambda event: None
) -> Turn:
    """Run the turn to its end, showing each event to ``watch`` before it is taken in."""
    try:
        async for event in events:
            watch(event)
            turn.take(event)
    finally:
        await events.aclose()
    return turn
