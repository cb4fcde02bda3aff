"""``/check-model``: a model is examined beside the conversation; a block shows each try, and then the report card."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from rich.segment import Segment

from steward.errors import Conflict
from steward.tui.conversation.blocks import FoldBlock, estimate
from steward.tui.lines import Line, plain
from steward.tui.marks import literal

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from steward.service.examining import Examined, Tried
    from steward.tui.app import StewardApp
    from steward.tui.looks import Looks


class ExamBlock(FoldBlock):
    """Which model is examined, how far it is, and what came of it."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model
        self.seconds = 0
        self.done = "starting"
        """How many of the tries there are; empty once it is over."""
        self.end = ""
        """The verdict, or why there is none."""
        self.failed = False
        self.report = ""
        self.open = True

    def headline(self, looks: Looks) -> Line:
        state = f"{self.done} · {self.seconds} s · esc stops it" if self.done else plain(self.end)
        style = looks.accent if self.done else looks.error if self.failed else looks.faint
        return [
            Segment("check-model ", looks.accent + looks.bold),
            Segment(plain(self.model), looks.strong),
            Segment(f" · {state}", style),
        ]

    def body(self, width: int, looks: Looks) -> list[Line]:
        return literal(self.report, width, looks) if self.report else []

    def estimate(self, width: int) -> int:
        return 1 + (estimate(self.report, width) if self.open and self.report else 0)

    def text(self) -> str:
        return f"check-model {self.model}\n{self.report}"

    def take(self, fact: Tried | Examined) -> None:
        """Bring the block up to date: tries come one below the other, the report card takes their place."""
        from steward.service.examining import Tried

        match fact:
            case Tried(number, of, title, passed, seconds, why):
                self.done = f"{number} of {of}"
                mark = "✓" if passed else "✗"
                line = f"{mark} {title} ({seconds:.1f} s) {why}".rstrip()
                self.report = f"{self.report}\n{line}" if self.report else line
            case _:
                self.done, self.end, self.failed = "", fact.verdict, not fact.fit
                self.report = fact.text

    def break_off(self, end: str) -> None:
        """There is no verdict."""
        self.done, self.end, self.failed = "", end, True


class Exams:
    """At most one exam is held, beside the conversation, which goes on meanwhile."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self._held: asyncio.Task[None] | None = None
        self._block: ExamBlock | None = None

    async def hold(self, name: str) -> None:
        """Examine the model of that name, or the one in use."""
        app, feed = self._app, self._app.feed
        if self._held is not None:
            raise Conflict("A model is being examined; wait for its report, or stop it with esc.")
        model = name or app.steward.model
        facts = app.steward.examine(model)
        block = self._block = ExamBlock(model)
        feed.say(
            f"{plain(model)} is asked for real: a hosted model costs what some thirty short conversations cost.",
            "info",
        )
        feed.put(block)
        task = self._held = asyncio.create_task(self._follow(block, facts))
        clock = app.set_interval(1.0, lambda: self._tick(block))
        try:
            await asyncio.wait({task})
            if task.cancelled():
                block.break_off("stopped")
                feed.say(f"The exam of {plain(model)} was stopped; an earlier verdict stays.", "info")
            elif (error := task.exception()) is not None:
                block.break_off("not examined")
                raise error
            else:
                kind = "warning" if block.failed else "done"
                feed.say(f"{plain(model)} is {plain(block.end)}; /model shows it.", kind)
        finally:
            task.cancel()
            clock.stop()
            self._held = self._block = None
            feed.changed(block)

    async def _follow(self, block: ExamBlock, facts: AsyncGenerator[Tried | Examined]) -> None:
        async with aclosing(facts):
            async for fact in facts:
                block.take(fact)
                self._app.feed.changed(block)

    def _tick(self, block: ExamBlock) -> None:
        block.seconds += 1
        self._app.feed.changed(block)

    def stop(self) -> bool:
        """End it; whether there was one."""
        if self._held is None or self._block is None:
            return False
        if self._block.done != "stopping":
            self._block.done = "stopping"
            self._held.cancel()
            self._app.feed.changed(self._block)
        return True

    async def leave(self, seconds: float) -> None:
        """End it, and wait so long for it to clear away what it has written."""
        if self.stop() and self._held is not None:
            await asyncio.wait({self._held}, timeout=seconds)
