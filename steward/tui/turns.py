"""Runs turns one after the other; questions asked meanwhile wait in sight."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from steward.errors import Conflict
from steward.events import Retrying, RoundStarted, ToolFinished, ToolStarted, TurnEnded
from steward.tui import sentences
from steward.tui.lines import plain

if TYPE_CHECKING:
    from steward.events import Event
    from steward.tui.app import StewardApp

BREATH = 0.01
"""Seconds of events taken in one go before the screen gets its turn."""


class Turns:
    """At most one turn runs; ``waiting`` are the questions after it."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self.running = False
        self.ended = 0
        """Turns that are over."""
        self.waiting: deque[str] = deque()
        self._began = 0.0
        self._clock: Any = None
        self._again = 0.0
        """When the model is asked again, while that is waited for; else 0."""
        self._interrupted = False
        self._over: float | None = float("-inf")
        """When it had been on the screen that a turn is over by itself; ``None`` while it has not."""
        self._stop: Callable[[], None] = app.steward.interrupt

    def ask(self, question: str) -> None:
        """Send a question now, or when the turn that runs is over."""
        if self.running:
            self.waiting.append(question)
            self._app.feed.queue(question)
        else:
            self.running = True
            self._app.run_worker(self._run(question), group="turn", exit_on_error=False)

    def interrupt(self) -> bool:
        """End the running turn; what waited goes back into the prompt."""
        if not self.running:
            return False
        self._interrupted = True
        self._stop()
        self._app.status.show(working="stopping")
        self.take_back()
        return True

    @asynccontextmanager
    async def held(self, doing: str, wanted: str, stop: Callable[[], None]) -> AsyncGenerator[None]:
        """Do something in the place of a turn: questions wait meanwhile, and an interruption calls ``stop``.

        ``wanted`` says what for, in the ``Conflict`` that it raises during a turn.
        """
        if self.running:
            raise Conflict(f"A turn is running; interrupt it to {wanted}.")
        self.running, self._stop = True, stop
        self._interrupted = False
        self._start_clock()
        self.doing(doing)
        try:
            yield
        finally:
            self.running, self._stop = False, self._app.steward.interrupt
            if self._app.screen_stack:  # not while the program ends
                self._stop_clock()
                if self.waiting:
                    self.ask(self.waiting.popleft())

    @property
    def interrupted(self) -> bool:
        """Whether the person has stopped what runs, or ran last."""
        return self._interrupted

    @property
    def just_over(self) -> bool:
        """Whether the key being handled may be meant for a turn that has ended by itself just before."""
        return not self.running and self._app.keyboard.unaware(self._over)

    def _seen_over(self) -> None:
        self._over = self._app.keyboard.now()

    def doing(self, what: str) -> None:
        """Say what is going on."""
        self._app.status.show(working=what)

    def take_back(self) -> None:
        """Put the questions that wait back into the prompt."""
        if not self.waiting:
            return
        while self._app.feed.unqueue() is not None:
            pass
        texts = [*self.waiting, *([self._app.prompt.text] if self._app.prompt.text.strip() else [])]
        self.waiting.clear()
        self._app.prompt.replace_all("\n\n".join(texts))

    async def _run(self, question: str) -> None:
        app = self._app
        try:
            while True:
                self._interrupted = False
                self._start_clock()
                app.feed.ask(question)
                await app._guarded(self._turn(question))  # pyright: ignore[reportPrivateUsage]
                self.ended += 1
                if not self.waiting:
                    return
                question = self.waiting.popleft()
        finally:
            self.running = False
            self._stop_clock()
            if not self._interrupted:
                self._over = None
                app.call_after_refresh(self._seen_over)

    async def _turn(self, question: str) -> None:
        app = self._app
        if not app.deeds.sessions.begun:
            self.doing(sentences.STARTING)
            if await app.deeds.sessions.begin():
                app.deeds.look_soon()
            if self._interrupted:
                app.feed.say("Stopped before it was asked; the question is in the prompt again.", "warning")
                self.waiting.appendleft(question)
                self.take_back()
                return
            self.doing("thinking")
        breath = monotonic()
        ended = False
        async with aclosing(app.steward.ask(question)) as events:
            async for event in events:
                app.feed.take(event)
                self._note(event)
                app.deeds.note(event)
                ended = ended or isinstance(event, TurnEnded)
                if monotonic() - breath > BREATH:
                    await asyncio.sleep(0)
                    breath = monotonic()
        if not ended:
            app.feed.say("The turn ended without saying how.", "warning")

    def _note(self, event: Event) -> None:
        status = self._app.status
        match event:
            case RoundStarted(number):
                status.show(working="stopping" if self._interrupted else "thinking", round=number)
            case ToolStarted(_, name, _):
                status.show(working=plain(name))
            case ToolFinished():
                status.show(working="thinking")
            case Retrying(_, seconds, _):
                self._again = monotonic() + seconds
                self._count_down()
            case _:
                pass

    def _start_clock(self) -> None:
        self._began, self._again = monotonic(), 0.0
        self._app.status.show(working="thinking", seconds=0, round=1)
        if self._clock is None:
            self._clock = self._app.set_interval(1.0, self._tick)

    def _tick(self) -> None:
        self._app.status.show(seconds=int(monotonic() - self._began))
        if self._again and not self._interrupted:
            self._count_down()

    def _count_down(self) -> None:
        left = math.ceil(self._again - monotonic())
        if left > 0:
            self._app.status.show(working=f"asking again in {left} s ·")
        else:
            self._again = 0.0
            self._app.status.show(working="thinking")

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        self._app.status.show(working="", seconds=0, round=0)
