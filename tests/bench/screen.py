"""The screen on a terminal: long answers, large changes, long conversations, rest; every figure of one run."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.long_session import day, resident
from tests.bench.measure import Row, Scale, absolute, compared, ms
from tests.bench.probe import high
from tests.bench.terminal import Terminal
from tests.bench.test_tui_bench import HUNDRED_KB, plain, streamed
from tests.monorepo import PROJECT

PAGE_UP, PAGE_DOWN = b"\x1b[5~", b"\x1b[6~"
FRAME = 0.016
"""Seconds in which a screen of 60 frames a second draws one."""


@dataclass(frozen=True, slots=True)
class Ground:
    """A small repository, and where the programs of a run keep what they keep."""

    room: Path
    scale: Scale

    @property
    def thorough(self) -> bool:
        """Whether figures are wanted, not only rows."""
        return self.scale.repeat > 1

    @contextmanager
    def running(self, *command: str) -> Generator[Terminal]:
        """A Python program on a terminal, in the repository."""
        environment = {
            "HOME": str(self.room),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PROJECT),
            "STEWARD_STATE_DIR": str(self.room / "state"),
            "STEWARD_TRUST": "always",
            "TERM": "xterm-256color",
        }
        with Terminal([sys.executable, *command], self.room / "repository", environment) as terminal:
            yield terminal

    @contextmanager
    def probe(self, deed: str, number: int = 0) -> Generator[tuple[Terminal, dict[str, float]]]:
        """The screen after a deed of ``tests.bench.probe``, and what it has measured."""
        report = self.room / f"{deed}-{number}.json"
        report.unlink(missing_ok=True)
        seconds = "1.5" if self.thorough else "0.1"
        with self.running("-m", "tests.bench.probe", deed, str(report), str(number), seconds) as terminal:
            yield terminal, terminal.report(report)


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of the screen."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as place:
        ground = Ground(Path(place), scale)
        git = ground.room / "repository/.git"
        git.mkdir(parents=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git.parent / "AGENTS.md").write_text("# Rules\n")
        yield _full_speed(ground)
        yield from _streaming(ground)
        if ground.thorough:
            yield _loading(ground)
        for lines, most in ((2_000, 0.1), (20_000, 0.3)):
            yield from _change(ground, lines if ground.thorough else lines // 100, most)
        yield from _conversation(ground)
        yield from _rest(ground)
        yield asyncio.run(_long(ground))


def _full_speed(ground: Ground) -> Row:
    text = HUNDRED_KB if ground.thorough else HUNDRED_KB[:2000]
    ours = beside = float("inf")
    for _ in range(2 if ground.thorough else 1):
        ours = min(ours, asyncio.run(streamed(text, 4)))
        beside = min(beside, asyncio.run(plain(text, 4)))
    what = f"an answer of {len(text):,} characters at full speed, CPU"
    return absolute(what, ours, 1.0, f"a plain Static: {ms(beside)}")


def _streaming(ground: Ground) -> Iterator[Row]:
    with ground.probe("stream", 400 if ground.thorough else 20) as (_, found):
        share, late = found["share"], found["p99"]
        what = "an answer of 100 pieces a second"
        yield Row(what, f"{share:.0%} of a core", "", "≤ 25 %", None, share <= 0.25)
        beside = f"the longest: {ms(found['max'])}; idle: {ms(found['idle_p99'])}"
        yield absolute("stall of the loop meanwhile, 99 of 100", late, 0.025, beside)


def _loading(ground: Ground) -> Row:
    longest = [float("inf"), float("inf")]
    for turn in range(6):
        with ground.probe("load", turn % 2) as (_, found):
            longest[turn % 2] = min(longest[turn % 2], found["max"])
    what = "longest stall of the loop from the first frame until the worker is ready"
    return compared(what, longest[1], longest[0], "without a worker", 3)


def _change(ground: Ground, lines: int, most: float) -> Iterator[Row]:
    with ground.probe("review", lines) as (terminal, found):
        yield absolute(f"a change of {lines:,} lines, from the key to its rows", found["open"], most)
        yield _keys(ground, terminal, "a page further in it, at most", PAGE_DOWN)


def _conversation(ground: Ground) -> Iterator[Row]:
    messages = ground.scale.messages
    with ground.probe("session", messages) as (terminal, found):
        yield absolute(f"a conversation of {messages:,} messages opens", found["open"], 0.3)
        yield _keys(ground, terminal, "a character typed in it until it is drawn, at most", b"x")
        yield _keys(ground, terminal, "a page back in it, at most", PAGE_UP)


def _keys(ground: Ground, terminal: Terminal, what: str, key: bytes) -> Row:
    """A key again and again, in a few rounds of which the best counts."""
    terminal.rest()
    rounds = [
        [terminal.press(key) for _ in range(25 if ground.thorough else 1)]
        for _ in range(min(ground.scale.repeat, 4))
    ]
    best = min(rounds, key=max)
    return absolute(what, max(best), FRAME, f"half of them: {ms(high(best, 0.5))}")


def _rest(ground: Ground) -> Iterator[Row]:
    seconds = 10.0 if ground.thorough else 0.2
    with ground.running("-m", "steward") as terminal:
        terminal.read_for(6 if ground.thorough else 1)
        began, cpu = time.perf_counter(), terminal.cpu()
        terminal.read_for(seconds)
        share = (terminal.cpu() - cpu) / (time.perf_counter() - began)
        held = terminal.resident()
        yield Row("idle, with the screen open", f"{share:.2%} of a core", "", "< 0.5 %", None, share < 0.005)
        terminal.send(b"Where is it said which rules hold here?\r")
        terminal.read_for(4 if ground.thorough else 0.5)
        asked = terminal.resident()
        beside = f"before a question: {held} MB"
        yield Row("memory of the screen's process", f"{asked} MB", beside, "≤ 90 MB", None, asked <= 90)


async def _long(ground: Ground) -> Row:
    """From the second tenth of a long session to its end."""
    rounds = 600 if ground.thorough else 50
    parts = [(resident(), part) async for part in day(ground.room / "day", rounds)]
    (held_before, (_, before, said_before)), (held, (_, after, said)) = parts[1], parts[-1]
    piled = {name: after[name] - before[name] for name in after if after[name] > before[name] + rounds // 25}
    stored = f"memory +{held - held_before:.0f} MB for {(said - said_before) / 1000:,.0f} kB of conversation"
    what = f"what piles up in {rounds} rounds but the conversation"
    return Row(what, ", ".join(piled) or "nothing", stored, "nothing", None, not piled)
