"""The screen in a process of its own, watching itself: ``python -m tests.bench.probe DEED REPORT NUMBER SECONDS``.

NUMBER is how large the ground is, SECONDS how long it is looked at while nothing happens. What was measured is written
to REPORT as JSON once it is there; the screen stays until it is left.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from steward.config import Settings
from steward.conversation import Assistant, Message, ToolAnswer, ToolCall, User
from steward.tui.review.screen import ReviewScreen
from steward.tui.running import Shown
from tests.tui.demo import TEXT
from tests.tui.fake_steward import FakeSteward, answer, modify, proposal

if TYPE_CHECKING:
    from steward.service import Steward

Figures = dict[str, float]
PIECE = 20
"""Characters of a piece of an answer."""


class Probe(Shown):
    """Does its deed after the first frame."""

    def __init__(
        self, steward: Steward, deed: Callable[[Probe], Awaitable[Figures]], report: Path, seconds: float
    ) -> None:
        super().__init__(steward, Settings())
        self.seconds = seconds
        self._deed = deed
        self._report = report

    def on_ready(self) -> None:
        super().on_ready()
        self.run_worker(self._measure())

    async def _measure(self) -> None:
        figures = await self._deed(self)
        part = self._report.with_suffix(".part")
        part.write_text(json.dumps(figures), "utf-8")
        part.rename(self._report)


async def lateness(over: Callable[[], bool]) -> list[float]:
    """By how many seconds the loop was late, each millisecond until it is over."""
    late: list[float] = []
    while not over():
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        late.append(time.perf_counter() - began - 0.001)
    return late


def high(values: list[float], share: float = 0.99) -> float:
    """The value that this share of them does not exceed."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def after(seconds: float) -> Callable[[], bool]:
    """Whether so much time has gone by."""
    end = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end


async def quiet(app: Probe) -> Figures:
    """How late the loop is while nothing happens, and what looking costs."""
    while not app.panel.state.looked:
        await asyncio.sleep(0.05)
    await asyncio.sleep(app.seconds / 3)
    began, cpu = time.perf_counter(), time.process_time()
    late = await lateness(after(app.seconds))
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    return {"idle_max": max(late), "idle_p99": high(late), "idle_share": share}


async def stream(app: Probe) -> Figures:
    """An answer of a hundred pieces a second."""
    idle = await quiet(app)
    began, cpu = time.perf_counter(), time.process_time()
    app.turns.ask("question")
    late = await lateness(lambda: bool(app.turns.ended))
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    return {**idle, "max": max(late), "p99": high(late), "share": share - idle["idle_share"]}


async def load(app: Probe) -> Figures:
    """From the first frame until the worker has long been ready."""
    late = await lateness(after(4 * app.seconds))
    return {**await quiet(app), "max": max(late), "p99": high(late)}


async def session(app: Probe) -> Figures:
    """Opening a long conversation, until it has been drawn."""
    await quiet(app)
    messages = app.steward.transcript()
    times: list[float] = []
    for _ in range(3):
        app.feed.clear()
        await asyncio.sleep(0.2)
        began = time.perf_counter()
        app.feed.show(messages)
        drawn = asyncio.Event()
        app.call_after_refresh(drawn.set)
        await drawn.wait()
        times.append(time.perf_counter() - began)
    return {"open": min(times)}


async def review(app: Probe) -> Figures:
    """Opening a change, from the key to its first rows on the screen; it stays open."""
    await quiet(app)
    times: list[float] = []
    for _ in range(3):
        if times:
            app.pop_screen()
            await asyncio.sleep(0.3)
        began = time.perf_counter()
        app.review(None)
        while not (isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None):
            await asyncio.sleep(0)
        times.append(time.perf_counter() - began)
    return {"open": min(times), "first": times[0]}


def long_conversation(count: int) -> tuple[Message, ...]:
    """So many messages, a fourth of them answers of some length."""
    return tuple(
        message
        for number in range(count // 4)
        for message in (
            User(f"question {number}"),
            Assistant(TEXT, (ToolCall(f"c{number}", "readFile", '{"path": "a.py"}'),)),
            ToolAnswer(f"c{number}", "readFile", "text\n" * 50),
            Assistant("- done\n- really"),
        )
    )


def fake_for(deed: str, number: int) -> FakeSteward:
    """A steward without disk or model, and with what the deed needs."""
    fake = FakeSteward(pause=0.01 if deed == "stream" else 0)
    if deed == "stream":
        text = (TEXT * 20)[: PIECE * number]
        fake.scripts = [answer(*(text[at : at + PIECE] for at in range(0, len(text), PIECE)))]
    elif deed == "session":
        fake.messages = long_conversation(number)
    elif deed == "review":
        base = "".join(f"def function_{i}(first):  # a comment\n" for i in range(number // 2))
        fake.put(proposal(1, modify("a.py", base, base.replace("first", "first, second"))))
    return fake


def main(deed: str, report: str, number: str, seconds: str) -> None:
    """Show the screen and do the deed; ``load`` is done with the real steward, 0 without a worker."""
    deeds = {"stream": stream, "load": load, "session": session, "review": review}
    if deed == "load":
        from steward.cli.house import new_steward, settings_of
        from steward.cli.options import Options

        steward = new_steward(Options(), settings=settings_of(Options()), worker=number != "0")
    else:
        steward = fake_for(deed, int(number)).as_steward()
    app = Probe(steward, deeds[deed], Path(report), float(seconds))

    async def run() -> None:
        await app.run_async()
        await steward.close()

    asyncio.run(run())


if __name__ == "__main__":
    main(*sys.argv[1:])
