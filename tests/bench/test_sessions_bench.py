"""A session of 5,000 messages opens, is found, resumes and takes one more question without anyone waiting.

Run with `pytest tests/bench/test_sessions_bench.py -n 0 -s` to see times; what is asserted are counts.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from steward.conversation import Assistant, Message, ToolAnswer, ToolCall, User
from tests.support import asked, plant, steward_in

MESSAGES = 5_000
STATEMENTS = 40
"""SQL statements of any one step at most: none grows with the number of messages."""


def long_conversation() -> list[Message]:
    made: list[Message] = []
    for n in range(MESSAGES // 4):
        call = ToolCall(f"c{n}", "readFile", f'{{"path": "src/file{n}.py"}}')
        made += [
            User(f"Question {n} about ümläuts"),
            Assistant("", (call,)),
            ToolAnswer(call.id, "readFile", f"{n}\tsome text of a file\n" * 60),
            Assistant(f"Answer {n}, which is neither short nor long."),
        ]
    return made


async def test_a_session_of_5000_messages_is_listed_found_resumed_and_gone_on_with(tmp_path: Path) -> None:
    times: dict[str, float] = {}
    counts: dict[str, int] = {}
    statements: list[str] = []

    async def timed(name: str, work: Callable[[], Awaitable[object]]) -> None:
        statements.clear()
        began = time.perf_counter()
        await work()
        times[name] = time.perf_counter() - began
        counts[name] = len(statements)

    root = plant(tmp_path / "repository")
    steward, _ = steward_in(root, [{"text": "A."}])
    await steward.start()
    await asked(steward, "The first question")
    store = steward._house.sessions  # pyright: ignore[reportPrivateUsage] -- to fill it quickly
    store.append(steward.session_id, 3, long_conversation())
    session = steward.session_id
    await steward.close()

    again, gateway = steward_in(root, [{"text": "More."}, {"text": "Summary."}, {"text": "On."}])
    database = again._house.database  # pyright: ignore[reportPrivateUsage] -- to count what it is asked
    database._connection.set_trace_callback(statements.append)  # pyright: ignore[reportPrivateUsage]
    await timed("start", again.start)
    await timed("list", again.sessions)
    await timed("search", lambda: again.sessions("nowhere to be found"))
    await timed("resume", lambda: again.resume(session[:12]))
    await timed("ask", lambda: asked(again, "one more"))
    assert len(again.transcript()) == MESSAGES + 5
    began = time.perf_counter()
    again.context()
    times["meter"] = time.perf_counter() - began
    await timed("questions", again.questions)
    await timed("fork", lambda: again.fork(1000))
    await timed("resume again", lambda: again.resume(session))
    await timed("compact", again.compact)
    await timed("ask again", lambda: asked(again, "and on"))
    assert len(gateway.sent()) < 10
    await again.close()
    print("\n" + "  ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in times.items()))
    assert max(counts.values()) < STATEMENTS, counts
