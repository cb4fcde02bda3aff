"""``/ask PROFILE question``: another agent is asked beside the conversation; a block shows its progress and answer."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING, assert_never

from rich.segment import Segment

from steward.errors import Conflict
from steward.events import (
    AnswerText,
    CallForming,
    ChangesMoved,
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
from steward.tui import sentences
from steward.tui.conversation.blocks import FoldBlock, estimate
from steward.tui.lines import Line, plain

if TYPE_CHECKING:
    from steward.events import Event
    from steward.tui.app import StewardApp
    from steward.tui.looks import Looks

STOPS = "esc stops it"


class BesideBlock(FoldBlock):
    """What was asked, of which profile, how it goes, and what was answered."""

    def __init__(self, profile: str, question: str) -> None:
        super().__init__()
        self.profile = profile
        self.question = " ".join(question.split())
        self.doing = "starting"
        """What is going on; empty once it is over."""
        self.seconds = 0
        self.calls = 0
        self.answer = ""
        self.end = ""
        """How it ended."""
        self.failed = False
        self.open = True

    def headline(self, looks: Looks) -> Line:
        if self.doing:
            state = f" · {self.doing} {self.seconds} s · {STOPS}"
        else:
            calls = f" · {sentences.count(self.calls, 'call')}" if self.calls else ""
            state = f"{calls} · {self.end}"
        style = looks.accent if self.doing else looks.error if self.failed else looks.faint
        return [
            Segment(f"{plain(self.profile)} ", looks.accent + looks.bold),
            Segment(f"was asked: {plain(self.question)}", looks.strong),
            Segment(state, style),
        ]

    def body(self, width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import render

        return render(self.answer, width, looks) if self.answer.strip() else []

    def estimate(self, width: int) -> int:
        return 1 + (estimate(self.answer, width) if self.open and self.answer else 0)

    def text(self) -> str:
        return f"{self.profile} was asked: {self.question}\n\n{self.answer}"

    def take(self, event: Event) -> str:
        """Bring the block up to date with a fact; gives a sentence that is worth a line of its own."""
        match event:
            case RoundStarted():
                self.answer, self.doing = "", "thinking"
            case AnswerText(text):
                self.answer += text
                self.doing = "answering"
            case CallForming(name, _):
                self.doing = f"calls {plain(name)}"
            case ToolStarted(_, name, _):
                self.calls += 1
                self.doing = plain(name)
            case ToolFinished() | ReasoningText():
                self.doing = "thinking"
            case Retrying():
                self.doing = sentences.retrying(event)
            case Notice(text, level):
                return "" if level == "info" else text
            case LimitNotice():
                return sentences.limit(event)
            case ProposalMade(proposal, amended):
                return sentences.proposed(proposal, amended)
            case TurnEnded():
                sentence, kind = sentences.ended(event)
                self.doing, self.end, self.failed = "", sentence, kind == "error"
            case TurnStarted() | RoundEnded() | FocusMoved() | InstructionsChanged() | ChangesMoved():
                pass
            case _:
                assert_never(event)
        return ""


class Beside:
    """At most one agent is asked beside the conversation, which goes on meanwhile."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self._asking: asyncio.Task[None] | None = None

    async def ask(self, profile: str, question: str) -> None:
        """Ask, and show what is answered; the model of the conversation is told with the next question."""
        if self._asking is not None:
            raise Conflict("Another agent is being asked; wait for its answer, or stop it with esc.")
        block = BesideBlock(profile, question)
        self._app.feed.put(block)
        self._asking = asyncio.current_task()
        task = self._asking = asyncio.create_task(self._run(block, profile, question))
        clock = self._app.set_interval(1.0, lambda: self._tick(block))
        try:
            await asyncio.wait({task})
            if task.cancelled():
                block.doing, block.end, block.failed = "", "stopped; the model is not told", True
            elif (error := task.exception()) is not None:
                block.doing, block.end, block.failed = "", "it could not answer", True
                raise error
            elif not block.failed and block.answer.strip():
                self._app.feed.answers.append(block.answer)
        finally:
            task.cancel()
            clock.stop()
            self._asking = None
            self._app.feed.changed(block)

    async def _run(self, block: BesideBlock, profile: str, question: str) -> None:
        feed, began = self._app.feed, monotonic()
        async with aclosing(self._app.steward.ask_beside(profile, question)) as events:
            async for event in events:
                block.seconds = int(monotonic() - began)
                if said := block.take(event):
                    feed.say(f"{profile}: {said}", "warning")
                feed.changed(block)

    def _tick(self, block: BesideBlock) -> None:
        block.seconds += 1
        self._app.feed.changed(block)

    def stop(self) -> bool:
        """End it; whether there was one."""
        if self._asking is None:
            return False
        self._asking.cancel()
        return True
