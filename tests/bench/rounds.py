"""What the steward itself costs in a round: conversations, instructions, the worker."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from steward.agents_md import Resolver
from steward.conversation import Assistant, User
from steward.model.gateway import Gateway
from steward.model.protocol import Growing, encode
from tests.bench.measure import Row, Scale, absolute, best, compared, ms
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
        (took,) = best(partial(resolver.resolve, target), repeat=1_000)
        yield absolute("resolving instructions at depth 10", took, 0.000_15)
        sent = session("append")
        known = 1 - sent["evaluated though sent before"] / sent["sent"]
        what = "bytes sent again that a prompt cache knows, 30 rounds"
        yield Row(what, f"{known:.1%}", "", "≥ 99 %", None, known >= 0.99)
        if scale.repeat > 1:
            yield asyncio.run(_worker())


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


async def _worker() -> Row:
    """How long the worker takes beside a plain import."""
    began = time.perf_counter()
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-c", "import litellm"]
    await asyncio.to_thread(
        partial(subprocess.run, command, env=environment, capture_output=True, check=True)
    )
    plain = time.perf_counter() - began
    gateway = Gateway()
    began = time.perf_counter()
    await gateway.start()
    await gateway.ready()
    took = time.perf_counter() - began
    await gateway.close()
    return compared("worker ready", took, plain, "`import litellm`", 0.8)
