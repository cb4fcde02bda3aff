"""Lets a long command take away what it has made, whichever signal ends it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import click

from steward.cli import output

ENDS = (signal.SIGTERM, signal.SIGHUP)

T = TypeVar("T")


class Ending:
    """Runs what a signal may break off. ``number`` is the signal that did; 0 for none."""

    def __init__(self) -> None:
        self.number = 0
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it to its end; ``KeyboardInterrupt`` when ctrl+c or one of ``ENDS`` has cancelled it."""
        try:
            return asyncio.run(self._main(work))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    async def _main(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._running = asyncio.get_running_loop(), task
        try:
            if self.number:  # it came before there was anything to cancel
                task.cancel()
            return await task
        finally:
            self._running = None

    def heard(self, number: int, _: FrameType | None) -> None:
        """Take note of a signal."""
        self.number = number
        if self._running is not None:
            loop, task = self._running
            loop.call_soon_threadsafe(task.cancel)


@contextmanager
def ended_in_order() -> Generator[Ending]:
    """While the block runs, ``ENDS`` end what runs in it as ctrl+c does; then the exit code is 128 and the signal's.

    A signal that is ignored, as nohup has it, stays so.
    """
    ending = Ending()
    before = {number: signal.getsignal(number) for number in ENDS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, ending.heard)
    try:
        yield ending
    except KeyboardInterrupt:
        if not ending.number:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if ending.number:
        output.note("Interrupted.")
        raise click.exceptions.Exit(128 + ending.number)
