"""However a turn is broken off, by the person or by kill -9, the next request is one that servers accept."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sqlite3
import threading
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.errors import StorageError
from steward.events import Notice, ProposalMade, Retrying, TurnEnded
from steward.model.gateway import Gateway
from steward.proposals import Proposal
from steward.service import House, Steward
from steward.service.steward import WAITING
from tests.loop.test_turn import valid
from tests.support import ScriptedGateway, asked, call, patch, plant, steward_in

SCRIPT = [
    {"text": "Looking.", "calls": [call("readFile", path="src/app.py"), call("listFiles"), call("nonsense")]},
    {"calls": [patch("src/app.py", "41", "42"), patch("web/page.js", "x = 1", "x = 9")]},
    {"text": json.dumps({"name": "proposePatch", "arguments": {}})},
    {"calls": [patch("web/page.js", "x = 1", "x = 9")]},
    {"text": "Proposed."},
    {"text": "Yes."},
]


async def test_a_process_killed_after_any_message_goes_on_after_a_restart(tmp_path: Path) -> None:
    steward, _ = steward_in(plant(tmp_path / "repository"), list(SCRIPT))
    await asked(steward, "Change both")
    await asked(steward, "Really?")
    stored = steward.transcript()
    await steward.close()
    assert len(stored) > 15
    for kept in range(1, len(stored) + 1):
        house = House(tmp_path / "repository", Settings(), state=tmp_path / f"state{kept}")
        session = house.sessions.create("script/here")
        house.sessions.append(session, 0, stored[:kept])
        gateway = ScriptedGateway([{"text": "Still here."}])
        other = Steward(house, model="script/here", watch=False, gateway=gateway)
        await other.resume(session)
        assert (await asked(other, "Are you there?"))[-1].reason == "answered"
        sent = gateway.sent()
        valid(sent)
        roles = [message["role"] for message in sent]
        assert ("user", "user") not in list(itertools.pairwise(roles))
        assert other.transcript()[:kept] == stored[:kept]
        await other.close()


async def test_while_another_process_holds_the_database_that_is_said_and_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, _ = steward_in(plant(tmp_path / "repository"), [{"text": "Back."}])
    await steward.start()
    for name, seconds in (("BUSY_SECONDS", 0.3), ("TOLD_AFTER", 0.01)):
        monkeypatch.setattr(f"steward.storage.database.{name}", seconds)
    (file,) = (tmp_path / "state").glob("*/steward.db")
    rival = sqlite3.connect(file, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="locked by another process"):
        await steward.remember("Hello")
    await asyncio.sleep(0)
    assert [event for event in steward.unheard() if isinstance(event, Notice)] == [Notice(WAITING)]
    rival.execute("ROLLBACK")
    rival.close()
    assert (await asked(steward, "Hello"))[-1].reason == "answered"
    await steward.close()


async def test_so_it_is_when_the_first_question_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, _ = steward_in(plant(tmp_path / "repository"), [{"text": "Back."}])
    await steward.start()
    for name, seconds in (("BUSY_SECONDS", 0.3), ("TOLD_AFTER", 0.01)):
        monkeypatch.setattr(f"steward.storage.database.{name}", seconds)
    (file,) = (tmp_path / "state").glob("*/steward.db")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as rival:
        rival.execute("BEGIN IMMEDIATE")
        ended = (await asked(steward, "Hello"))[-1]
    assert "locked by another process" in ended.error
    assert Notice(WAITING) in steward.unheard()
    assert (await asked(steward, "Hello"))[-1].reason == "answered"
    await steward.close()


async def test_a_countdown_is_shown_and_ended_by_the_person(tmp_path: Path) -> None:
    lines = ({"error": {"status": 429, "retry_after": 55}}, {"text": "Never asked for."}, {"text": "Back."})
    (tmp_path / "busy.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    house = House(plant(tmp_path / "repository"), Settings(), state=tmp_path / "state")
    steward = Steward(house, model="script/busy.jsonl", watch=False, gateway=Gateway(folder=tmp_path))
    await steward.start()
    began = 0.0
    events: list[Any] = []
    async for event in steward.ask("Hello"):
        events.append(event)
        if isinstance(event, Retrying):
            began = time.monotonic()
            steward.interrupt()
    assert [e.seconds for e in events if isinstance(e, Retrying)] == [55]
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "interrupted"
    assert 0 < time.monotonic() - began < 50
    again = await asked(steward, "Again")
    assert again[-1].reason == "answered"
    await steward.close()


async def test_a_turn_that_is_ended_before_its_first_step_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, gateway = steward_in(plant(tmp_path / "repository"), [{"text": "Still here."}])
    begin = asyncio.create_task

    def begin_and_end(work: Any, **more: Any) -> asyncio.Task[Any]:
        task = begin(work, **more)
        if "_pump" in getattr(work, "__qualname__", ""):
            task.cancel()
        return task

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "create_task", begin_and_end)
        async with asyncio.timeout(60):
            events = await asked(steward, "Never sent")
    assert [(type(event), event.reason) for event in events] == [(TurnEnded, "interrupted")]
    assert not steward.busy and gateway.requests == []
    assert (await asked(steward, "Are you there?"))[-1].reason == "answered"
    await steward.close()


async def test_whoever_asks_may_be_cancelled_twice_and_nothing_stays_busy(tmp_path: Path) -> None:
    begun = asyncio.Event()
    steward, _ = steward_in(
        plant(tmp_path / "repository"), [begun.set, {"text": "A", "hang": True}, {"text": "Still here."}]
    )
    asking = asyncio.create_task(asked(steward, "Hello"))
    async with asyncio.timeout(60):
        await begun.wait()
        for _ in range(2):
            asking.cancel()
            await asyncio.sleep(0)
        with contextlib.suppress(asyncio.CancelledError):
            await asking
    assert not steward.busy
    assert (await asked(steward, "Are you there?"))[-1].reason == "answered"
    await steward.close()


async def test_a_patch_that_is_stored_after_its_turn_was_broken_off_is_told_to_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {"calls": [patch("README.md", "small", "big")]}
    steward, gateway = steward_in(plant(tmp_path / "repository"), [calls, {"text": "I see."}])
    await steward.start()
    changes = steward._house.changes  # pyright: ignore[reportPrivateUsage]
    store, storing, go_on = changes.put, threading.Event(), threading.Event()

    def slowly(proposal: Proposal, read: Proposal | None = None) -> None:
        storing.set()
        go_on.wait(60)
        store(proposal, read)

    monkeypatch.setattr(changes, "put", slowly)
    async with asyncio.timeout(60), aclosing(steward.listen()) as heard:
        asking = asyncio.create_task(asked(steward, "Make it big"))
        await asyncio.to_thread(storing.wait)
        steward.interrupt()
        assert (await asking)[-1].reason == "interrupted"
        go_on.set()
        while not isinstance(event := await anext(heard), ProposalMade):
            pass
    assert event.proposal.id == "change-001"
    await asked(steward, "And now?")
    assert "did propose change-001; it is pending." in gateway.sent()[-1]["content"]
    await steward.close()
