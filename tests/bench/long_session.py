"""A working day in a minute: ``python -m tests.bench.long_session [ROUNDS]`` prints what is held at each tenth of it.

A real steward with the scripted model asks, lists, searches, reads, proposes and answers, on the real screen without
a terminal; each change is reviewed and discarded. What may grow is the conversation; everything else stays as it is.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from steward.tui.app import StewardApp
from steward.tui.review.screen import ReviewScreen
from tests.support import call, patch, plant, steward_in
from tests.tui.demo import TEXT

ROUNDS = 3_000
"""Rounds of a day: one every twelve seconds for ten hours."""

IN_A_TURN = 5
"""Rounds of one question."""


def replies(turn: int) -> list[dict[str, Any]]:
    """What the model says in a turn of ``IN_A_TURN`` rounds."""
    number = turn % 40
    return [
        {"calls": [call("listFiles", path="src", depth=1 + turn % 3)]},
        {"calls": [call("searchFiles", query=f"VALUE_{number}")]},
        {"calls": [call("readFile", path=f"src/part_{number}.py")]},
        {"calls": [patch(f"src/part_{number}.py", f"VALUE_{number} = 1", f"VALUE_{number} = {turn + 2}")]},
        {"text": TEXT, "chunk": 40},
    ]


def counts() -> Counter[str]:
    """How many of the things there are that must not pile up, by what they are."""
    gc.collect()
    found = Counter(type(thing).__qualname__ for thing in gc.get_objects())
    held = Counter({name: found[name] for name in WATCHED})
    held["tasks"] = len(asyncio.all_tasks())
    held["threads"] = threading.active_count()
    held["descriptors"] = len(os.listdir("/proc/self/fd"))
    return held


WATCHED = (
    "Task",
    "Timer",
    "Worker",
    "Thread",
    "Queue",
    "Signal",
    "Screen",
    "ReviewScreen",
    "DiffView",
    "Feed",
    "Answer",
    "Turn",
    "Watcher",
    "ObservedWatch",
    "Connection",
    "Cursor",
    "async_generator",
    "coroutine",
    "TextIOWrapper",
    "BufferedReader",
)
"""Types of what is made and given up again in every turn."""


def resident() -> float:
    """Megabytes that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def day(room: Path, rounds: int, parts: int = 10) -> AsyncIterator[tuple[int, Counter[str], int]]:
    """After each part of the day: rounds that were, what is held, and characters that the conversation has."""
    tree = {f"src/part_{n}.py": f"VALUE_{n} = 1\n" + "text = 'of a file'\n" * 40 for n in range(40)}
    root = plant(
        room / "repository", {".git/HEAD": "ref: refs/heads/main\n", "AGENTS.md": "# Rules\n", **tree}
    )
    steward, gateway = steward_in(root, [], watch=True)
    app = StewardApp(steward)
    turns = rounds // IN_A_TURN
    async with app.run_test(size=(100, 40)) as pilot:
        for turn in range(turns):
            gateway.replies.extend(replies(turn))
            app.turns.ask(f"question {turn}")
            while app.turns.ended <= turn:
                await asyncio.sleep(0.002)
            gateway.requests.clear()
            app.review(None)
            while not (isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None):
                await asyncio.sleep(0.002)
            await app.screen.dismiss()
            for change in await steward.changes():
                await steward.discard_change(change.proposal.id)
            if (turn + 1) % max(turns // parts, 1) == 0:
                app.transcript.settle()
                await pilot.pause()
                await asyncio.sleep(0.1)
                talk = steward._talk  # pyright: ignore[reportPrivateUsage] -- to see how large it is
                yield (turn + 1) * IN_A_TURN, counts(), talk.conversation.characters()
    await steward.close()


async def main(rounds: int) -> None:
    """Print a line for each tenth."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as room:
        print("rounds  memory MB  conversation MB  what must not pile up")
        async for done, held, said in day(Path(room), rounds):
            listed = " ".join(f"{name} {number}" for name, number in held.items() if number)
            print(f"{done:6,}  {resident():9.1f}  {said / 2**20:15.2f}  {listed}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
