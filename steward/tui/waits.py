"""What a person waits for beside a turn: the status line says so after a moment, and ``esc`` ends the waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from steward.tui.app import StewardApp

MOMENT = 0.4
"""Seconds before it is said."""

T = TypeVar("T")


class Waits:
    """What is being waited for, the latest last."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self._stops: list[tuple[Callable[[], None], bool]] = []
        """How each is stopped, and whether it was begun during a turn."""

    @contextmanager
    def said(self, doing: str, stop: Callable[[], None]) -> Generator[None]:
        """Say what goes on while the block runs; ``esc`` calls ``stop``, once."""
        status = self._app.status
        timer = self._app.set_timer(MOMENT, lambda: status.show(hint=f"{doing}… · esc stops it"))
        entry = (stop, self._app.turns.running)
        self._stops.append(entry)
        try:
            yield
        finally:
            timer.stop()
            if entry in self._stops:
                self._stops.remove(entry)
            if self._app.screen_stack:  # not while the program ends
                status.show(hint="")

    async def wait(self, doing: str, work: Coroutine[Any, Any, T], stopped: str) -> T | None:
        """What ``work`` gives, which only looks; ``None`` when it was stopped, after saying so in a sentence."""
        task = asyncio.create_task(work)
        try:
            with self.said(doing, lambda: _cancel(task)):
                await asyncio.wait({task})
        finally:
            task.cancel()
        if task.cancelled():
            self._app.feed.say(stopped, "info")
            return None
        return task.result()

    def stop(self, *, over_turn: bool = False) -> bool:
        """End the latest; whether there was one. ``over_turn``: only one that was begun during a turn."""
        if not self._stops or (over_turn and not self._stops[-1][1]):
            return False
        stop, _ = self._stops.pop()
        stop()
        return True


def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
