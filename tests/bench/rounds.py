"""What the steward itself costs in a round and at rest: conversations, instructions, watches, memory, the worker."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from steward.agents_md import Resolver
from steward.conversation import Assistant, User
from steward.model.gateway import Gateway
from steward.model.protocol import Growing, encode
from tests.bench.measure import Row, Scale, absolute, best, compared, ms, peak
from tests.bench.test_instructions_bench import make, session
from tests.support import asked, call, plant, steward_in

ROUNDS = 8


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of a round."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as room:
        short, long = (asyncio.run(_round(Path(room, f"{n}"), n)) for n in (10, scale.messages))
        what = f"own cost of a round, {scale.messages:,} messages"
        yield absolute(what, long, 0.01, f"10 messages: {ms(short)}")
        target = make(Path(room), 10, files=1000)
        resolver = Resolver(Path(room))
        (took,) = best(partial(resolver.resolve, target), repeat=200)
        yield absolute("resolving instructions at depth 10", took, 0.000_15)
        sent = session("append")
        known = 1 - sent["evaluated though sent before"] / sent["sent"]
        what = "bytes sent again that a prompt cache knows, 30 rounds"
        yield Row(what, f"{known:.1%}", "", "≥ 99 %", None, known >= 0.99)
        yield asyncio.run(_idle(Path(room, "idle")))
        if scale.repeat > 1:
            yield from asyncio.run(_worker())


async def _round(room: Path, messages: int) -> float:
    """Seconds of CPU that a round takes: a tool call, what is stored, and what is written for the worker."""
    room.mkdir()
    scripted = [{"calls": [call("listFiles", path="src", depth=n + 1)]} for n in range(ROUNDS)]
    steward, gateway = steward_in(plant(room / "repository"), [{"text": "A."}, *scripted, {"text": "Done."}])
    await steward.start()
    await asked(steward, "one")
    talk = steward._talk  # pyright: ignore[reportPrivateUsage] -- to fill it quickly
    for number in range(messages // 2):
        talk.conversation.append(User(f"question {number} " + "x" * 200))
        talk.conversation.append(Assistant("y" * 400))
    talk.save()
    growing = Growing()
    encode({}, {"messages": growing.written(talk.conversation.wire())})
    began = time.process_time()
    await asked(steward, "two")
    took = time.process_time() - began
    requests = [request.messages for request in gateway.requests[1:]]
    began = time.process_time()
    for request in requests:
        encode({}, {"messages": growing.written(request)})
    took += time.process_time() - began
    await steward.close()
    return took / len(requests)


async def _idle(room: Path) -> Row:
    """The share of a core that an open steward takes while nothing happens."""
    room.mkdir()
    steward, _ = steward_in(plant(room / "repository"), [], watch=True)
    await steward.start()
    await asyncio.sleep(0.5)
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.sleep(3)
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    await steward.close()
    beside = f"this process held {peak()} MB at most so far"
    return Row("idle, watching", f"{share:.2%} of a core", beside, "< 0.5 %", None, share < 0.005)


async def _worker() -> list[Row]:
    """How long the worker takes beside a plain import, and the longest stall of the loop meanwhile."""
    quiet = await _longest_stall(asyncio.sleep(2))
    began = time.perf_counter()
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-c", "import litellm"]
    await asyncio.to_thread(
        partial(subprocess.run, command, env=environment, capture_output=True, check=True)
    )
    plain = time.perf_counter() - began
    gateway = Gateway()

    async def ready() -> None:
        await gateway.start()
        await gateway.ready()

    began = time.perf_counter()
    stall = await _longest_stall(ready())
    took = time.perf_counter() - began
    await gateway.close()
    return [
        compared("worker ready", took, plain, "`import litellm`", 0.8),
        compared("longest stall of the loop while the worker loads", stall, quiet, "idle", 3),
    ]


async def _longest_stall(work: Coroutine[Any, Any, None]) -> float:
    longest = 0.0
    task = asyncio.create_task(work)
    while not task.done():
        began = time.perf_counter()
        await asyncio.sleep(0.001)
        longest = max(longest, time.perf_counter() - began)
    await task
    return longest
