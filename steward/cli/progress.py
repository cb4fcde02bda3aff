"""What ``ask`` tells on standard error while the model works."""

from __future__ import annotations

import sys
from typing import assert_never

from steward.cli import output
from steward.events import (
    AnswerText,
    CallForming,
    ChangesMoved,
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
from steward.visible import line

WIDTH = 100
"""Characters of a call's arguments that are shown."""


class Progress:
    """Lines as things happen, and on a terminal one live line below them that says what is going on."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._live = not quiet and sys.stderr.isatty()
        self._shown = False
        self._text = ""
        self._calls: dict[str, str] = {}

    def tell(self, event: Event) -> None:
        """Show the event."""
        if self._quiet:
            return
        match event:
            case RoundStarted(number):
                self._text = ""
                self._now(f"round {number}: waiting for the model")
            case AnswerText(text):
                self._text += text
                self._now(f"answering, {len(self._text)} characters")
            case ReasoningText():
                self._now("thinking")
            case CallForming(name, characters):
                self._now(f"writing a call of {name}, {characters} characters")
            case ToolStarted(call_id, name, arguments):
                if self._text.strip():
                    self._line(self._text.strip())
                    self._text = ""
                self._calls[call_id] = f"{name} {_cut(arguments)}"
                self._now(self._calls[call_id])
            case ToolFinished(call_id, name, ok, _, summary):
                mark = "✓" if ok else "✗"
                self._line(f"{mark} {self._calls.pop(call_id, name)} — {line(summary)}")
            case InstructionsChanged(_, _, _, arrived):
                for path in arrived:
                    self._line(f"· instructions: {line(path)}")
            case ProposalMade(proposal, amended):
                word = "amended" if amended else "proposed"
                self._line(f"± {proposal.id} {word}: {', '.join(line(file.path) for file in proposal.files)}")
            case Retrying(attempt, seconds, reason):
                self._line(f"… trying again in {seconds:.0f} s (attempt {attempt}): {line(reason)}")
            case Notice(text, level):
                self._line(text if level == "info" else f"Warning: {text}")
            case LimitNotice(target, outcome, accepted):
                self._line(
                    f"Warning: instructions for {line(target)} met the {outcome}; {accepted} are kept."
                )
            case TurnStarted() | RoundEnded() | FocusMoved() | ChangesMoved():
                pass
            case TurnEnded():
                self.clear()
            case _:
                assert_never(event)

    def clear(self) -> None:
        """Take the live line away."""
        if self._shown:
            output.raw_note("\r\x1b[K")
            self._shown = False

    def _line(self, text: str) -> None:
        self.clear()
        output.note(text)

    def _now(self, text: str) -> None:
        if self._live:
            output.raw_note(f"\r\x1b[K{line(text)[:WIDTH]}")
            self._shown = True


def _cut(text: str) -> str:
    shown = line(" ".join(text.split()))
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"
