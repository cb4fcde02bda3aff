"""Conversations are found, resumed, renamed, forked, deleted and expire; two stewards do not harm each other."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.conversation import Usage, User
from steward.errors import Conflict, NoSuchThing, UsageError
from steward.events import Notice, TurnEnded
from steward.service import House, Steward
from steward.service.talk import Talk
from steward.service.views import CostView
from tests.monorepo import PROJECT
from tests.support import ScriptedGateway, asked, call, only, patch, plant, steward_in

Opener = Callable[..., Awaitable[tuple[Steward, ScriptedGateway]]]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Opener]:
    stewards: list[Steward] = []

    async def open_one(replies: list[Any], **more: Any) -> tuple[Steward, ScriptedGateway]:
        root = tmp_path / "repository"
        if not root.exists():
            plant(root)
        steward, gateway = steward_in(root, replies, **more)
        await steward.start()
        stewards.append(steward)
        return steward, gateway

    yield open_one
    for steward in stewards:
        await steward.close()


def words(steward: Steward) -> list[str]:
    return [m.text for m in steward.transcript() if isinstance(m, User)]


def house(folder: Path) -> House:
    return House(folder / "repository", Settings(), state=folder / "state")


async def test_a_session_is_resumed_by_a_beginning_of_its_id_with_or_without_the_date(opened: Opener) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "one")
    first = steward.session_id
    await steward.new_session()
    await asked(steward, "two")
    for name in (first, first[:-3], first.partition("-")[2][:6], first.upper()):
        await steward.resume(name)
        assert (steward.session_id, words(steward)) == (first, ["one"])
    with pytest.raises(UsageError, match="Several sessions begin with"):
        await steward.resume(first[:8])
    for name in ("nothing", "", " "):
        with pytest.raises(NoSuchThing):
            await steward.resume(name)
    await steward.resume()
    assert words(steward) == ["two"]


async def test_a_title_given_by_hand_stays(opened: Opener) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "one")
    assert await steward.rename("  My own\ntitle ") == "My own title"
    assert steward.session_title == "My own title"
    await asked(steward, "two")
    assert [view.title for view in await steward.sessions()] == ["My own title"]
    await steward.new_session()
    await steward.rename("Another", (await steward.sessions())[0].id[:14])
    assert [view.title for view in await steward.sessions()] == ["Another"]
    with pytest.raises(UsageError):
        await steward.rename(" \n ")
    await steward.rename("Before the first question")
    assert steward.session_title == "Before the first question"


async def test_a_title_given_by_another_process_is_not_undone_by_this_one(
    opened: Opener, tmp_path: Path
) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "one")
    other = house(tmp_path)
    other.sessions.rename(steward.session_id, "From outside")
    other.close()
    await asked(steward, "two")
    assert [view.title for view in await steward.sessions()] == ["From outside"]


async def test_a_fork_holds_all_before_the_question_and_leaves_the_other_alone(opened: Opener) -> None:
    steward, gateway = await opened(
        [
            {"calls": [call("readFile", path="src/app.py")]},
            {"text": "A."},
            {"calls": [call("readFile", path="web/page.js")]},
            {"text": "B."},
            {"calls": [call("readFile", path="web/page.js")]},
            {"text": "Otherwise."},
        ]
    )
    await asked(steward, "one")
    await asked(steward, "two")
    session, before = steward.session_id, steward.transcript()
    assert [(q.number, q.text) for q in await steward.questions()] == [(1, "one"), (2, "two")]
    assert await steward.fork(2) == "two"
    assert steward.session_id != session and words(steward) == ["one"]
    await asked(steward, "two, otherwise")
    assert steward.session_id and steward.session_id != session
    sent = json.dumps(gateway.sent())
    # What was told after the question is told again; what was told before it is not.
    assert sent.count("Web rules") == 1 and sent.count("Source rules") == 1
    forked = next(view for view in await steward.sessions() if view.id == steward.session_id)
    assert forked.parent == session
    await steward.resume(session)
    assert steward.transcript() == before
    for wrong in (0, 3):
        with pytest.raises(NoSuchThing):
            await steward.fork(wrong)


async def test_a_fork_from_the_first_question_is_empty_but_for_the_system_message(opened: Opener) -> None:
    steward, gateway = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "one")
    assert await steward.fork(1) == "one"
    await asked(steward, "another one")
    assert gateway.sent()[0] == gateway.sent(0)[0]
    assert [m["content"] for m in gateway.sent()[1:]] == ["another one"]


async def test_a_deleted_session_is_gone_and_its_changes_stay(opened: Opener) -> None:
    steward, _ = await opened(
        [
            {"calls": [call("readFile", path="src/app.py")]},
            {"calls": [patch("src/app.py", "41", "42")]},
            {"text": "A."},
        ]
    )
    await asked(steward, "one")
    session = steward.session_id
    assert await steward.delete(session[:12]) == session
    assert await steward.sessions() == () and steward.transcript() == () and steward.session_id == ""
    assert [view.proposal.id for view in await steward.changes()] == ["change-001"]
    with pytest.raises(NoSuchThing):
        await steward.delete(session)


async def test_sessions_are_found_by_words_of_titles_questions_and_answers(opened: Opener) -> None:
    steward, _ = await opened([{"text": "Der Fuchs heißt Ümit."}, {"text": "100% of it"}])
    await asked(steward, "Wie heißt der Fuchs?")
    await steward.new_session()
    await asked(steward, "how much")
    found = await steward.sessions("ümit fuchs")
    assert [view.title for view in found] == ["Wie heißt der Fuchs?"] and "Ümit" in found[0].found
    assert [view.title for view in await steward.sessions("100%")] == ["how much"]
    assert await steward.sessions("nowhere") == () and len(await steward.sessions("  ")) == 2
    # Neither the system message nor the names of the stored fields are searched.
    assert await steward.sessions("kind") == () == await steward.sessions("Root rules")


async def test_sessions_not_used_for_long_are_deleted_and_that_is_said(
    opened: Opener, tmp_path: Path
) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "old")
    old = steward.session_id
    await steward.new_session()
    await asked(steward, "new")
    await steward.close()
    raw = sqlite3.connect(next((tmp_path / "state").glob("*/steward.db")))
    raw.execute("UPDATE sessions SET updated = '2020-01-01T00:00:00.000Z' WHERE id = ?", (old,))
    raw.commit()
    raw.close()
    again, _ = await opened([{"text": "C."}])
    assert [view.title for view in await again.sessions()] == ["new"]
    events = await asked(again, "more")
    assert [e.text[:21] for e in only(events, Notice)] == ["1 session was deleted"]


async def test_what_changed_in_the_instructions_is_said_on_resume(opened: Opener, tmp_path: Path) -> None:
    root = tmp_path / "repository"
    steward, _ = await opened([{"calls": [call("readFile", path="src/app.py")]}, {"text": "A."}])
    await asked(steward, "one")
    await steward.close()
    same, _ = await opened([{"text": "B."}])
    await same.resume()
    assert only(await asked(same, "two"), Notice) == []
    await same.close()
    (root / "AGENTS.md").write_text("# Other rules\n")
    (root / "src/AGENTS.md").unlink()
    (root / "src/AGENTS.override.md").write_text("# Override\n")
    again, gateway = await opened([{"calls": [call("readFile", path="src/app.py")]}, {"text": "C."}])
    await again.resume()
    events = await asked(again, "three")
    (told,) = [e.text for e in only(events, Notice) if e.text.startswith("Since this session")]
    assert "AGENTS.md changed" in told
    assert "src/AGENTS.md is gone" in told and "src/AGENTS.override.md is new" in told
    assert "Other rules" in json.dumps(gateway.sent())


async def test_in_conversation_mode_resume_reads_the_instructions_again(
    opened: Opener, tmp_path: Path
) -> None:
    from steward.config.settings import Instructions

    settings = Settings(instructions=Instructions(refresh="conversation"))
    steward, _ = await opened([{"text": "A."}], settings=settings)
    await asked(steward, "one")
    await steward.close()
    (tmp_path / "repository/AGENTS.md").write_text("# Other rules\n")
    again, gateway = await opened([{"text": "B."}], settings=settings)
    await again.resume()
    await asked(again, "two")
    assert "Other rules" in gateway.sent()[0]["content"]
    assert "Root rules" not in json.dumps(gateway.sent())
    assert [m["content"] for m in gateway.sent()[1:]] == ["one", "A.", "two"]


async def test_two_stewards_that_go_on_with_one_session_keep_both_conversations(opened: Opener) -> None:
    first, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(first, "one")
    session = first.session_id
    second, _ = await opened([{"text": "C."}, {"text": "D."}])
    await second.resume()
    await asked(second, "two of the second")
    events = await asked(first, "two of the first")
    assert any("another steward" in e.text for e in only(events, Notice))
    assert first.session_id != session == second.session_id
    await asked(second, "three of the second")
    kept = house_messages(first)
    assert kept[session] == ["one", "two of the second", "three of the second"]
    assert kept[first.session_id] == ["one", "two of the first"]


def house_messages(steward: Steward) -> dict[str, list[str]]:
    store = steward._house.sessions  # pyright: ignore[reportPrivateUsage] -- what is stored is the point
    return {row.id: [m.text for m in store.messages(row.id) if isinstance(m, User)] for row in store.all()}


async def test_a_session_deleted_under_a_running_steward_is_not_lost_to_it(
    opened: Opener, tmp_path: Path
) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B."}])
    await asked(steward, "one")
    other = house(tmp_path)
    other.sessions.delete(steward.session_id)
    other.close()
    await asked(steward, "two")
    (view,) = await steward.sessions()
    assert view.id == steward.session_id and view.messages == 5


async def test_costs_are_summed_per_turn_and_session_and_survive_a_resume(opened: Opener) -> None:
    usage = {"prompt": 10, "completion": 2, "cached": 4, "cost": 0.25}
    steward, _ = await opened(
        [
            {"calls": [call("readFile", path="README.md")], "usage": usage},
            {"text": "A.", "usage": usage},
            {"text": "B.", "usage": usage},
        ]
    )
    assert steward.cost() == CostView(Usage(), Usage())
    await asked(steward, "one")
    assert steward.cost() == CostView(Usage(20, 4, 8, 0.5), Usage(20, 4, 8, 0.5))
    await asked(steward, "two")
    assert steward.cost() == CostView(Usage(10, 2, 4, 0.25), Usage(30, 6, 12, 0.75))
    await steward.close()
    again, _ = await opened([])
    await again.resume()
    assert again.cost() == CostView(Usage(), Usage(30, 6, 12, 0.75))


async def test_the_meter_takes_the_providers_number_and_adds_what_came_since(opened: Opener) -> None:
    steward, _ = await opened(
        [
            {"calls": [call("readFile", path="src/app.py")], "usage": {"prompt": 5000, "completion": 50}},
            {"text": "A.", "usage": {"prompt": 5100, "completion": 7}},
        ]
    )
    seen: list[int] = []
    async for event in steward.ask("one"):
        if type(event).__name__ in ("RoundEnded", "ToolFinished"):
            seen.append(steward.context().total)
    assert seen[0] == 5050 and 5050 < seen[1] < 5400 and seen[2] == 5107
    assert steward.context().total == 5107


async def test_nothing_is_taken_up_while_a_turn_runs(opened: Opener) -> None:
    steward, _ = await opened([{"text": "A."}, {"text": "B"}])
    await asked(steward, "one")
    turn = steward.ask("two")
    await anext(turn)
    for work in (
        steward.new_session(),
        steward.resume(),
        steward.fork(1),
        steward.delete(steward.session_id),
    ):
        with pytest.raises(Conflict):
            await work
    await turn.aclose()


async def test_a_question_that_comes_while_another_conversation_is_being_made_stays_in_this_one(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, _ = await opened([{"text": "A."}])
    loading, go_on = threading.Event(), threading.Event()
    make = steward._new_talk  # pyright: ignore[reportPrivateUsage]

    def slowly(*given: Any) -> Talk:
        loading.set()
        go_on.wait(60)
        return make(*given)

    monkeypatch.setattr(steward, "_new_talk", slowly)
    beginning = asyncio.create_task(steward.new_session())
    await asyncio.to_thread(loading.wait)
    turn = steward.ask("one")
    await anext(turn)
    go_on.set()
    with pytest.raises(Conflict, match="interrupt it to begin another conversation"):
        await beginning
    ended = [event async for event in turn][-1]
    assert isinstance(ended, TurnEnded) and ended.reason == "answered"
    assert steward.transcript()[1].text == "one"


# The database


@pytest.mark.parametrize("fault", ["newer", "damaged", "locked", "read-only"])
async def test_a_database_that_cannot_be_used_is_one_sentence_and_stays_as_it_is(
    opened: Opener, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", 0.05)
    steward, _ = await opened([{"text": "A."}])
    await asked(steward, "one")
    await steward.close()
    (file,) = (tmp_path / "state").glob("*/steward.db")
    rival = None
    match fault:
        case "newer":
            raw = sqlite3.connect(file)
            raw.execute("PRAGMA user_version = 999")
            raw.close()
        case "damaged":
            file.write_bytes(b"\0" * 4096 + file.read_bytes()[4096:])
        case "locked":
            rival = sqlite3.connect(file, isolation_level=None)
            rival.execute("BEGIN EXCLUSIVE")
        case _:
            pass
    before = file.read_bytes()
    script = (
        "import asyncio, sys; from pathlib import Path\n"
        "from steward.config import Settings; from steward.errors import StorageError\n"
        "import steward.storage.database as d; d.BUSY_SECONDS = 0.05\n"
        "from steward.service import open_steward\n"
        "async def main():\n"
        "    s = open_steward(Path(sys.argv[1]), Settings(), state=Path(sys.argv[2]), worker=False, watch=False)\n"
        "    await s.start()\n"
        "try:\n    asyncio.run(main())\n"
        "except StorageError as error:\n    print(error)\n"
    )
    state = str(tmp_path / "state")
    command = [sys.executable, "-c", script, str(tmp_path / "repository"), state]
    if fault == "read-only":
        mounted = f"mount --bind {shlex.quote(state)} {shlex.quote(state)} && mount -o remount,ro,bind "
        run = f"{mounted}{shlex.quote(state)} && exec {shlex.join(command)}"
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", run]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    if rival is not None:
        rival.close()
    wanted = {
        "newer": "newer steward",
        "damaged": "damaged|another program",
        "locked": "locked by another process",
        "read-only": "cannot be written|cannot be used",
    }[fault]
    assert re.search(wanted, done.stdout), (done.stdout, done.stderr)
    assert len(done.stdout.strip().splitlines()) == 1 and done.stderr == ""
    assert file.read_bytes() == before


PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from tests.support import call, patch, steward_in
from steward.events import RoundStarted
root, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
async def main():
    replies = [{"calls": [call("readFile", path="src/app.py")]}]
    for n in range(count):
        replies += [{"text": f"Round {n}.", "calls": [patch(f"src/{name}-{n}.txt", "", "x" * 1000, change="new")]}]
    steward, gateway = steward_in(root, [*replies, {"text": "Done."}])
    await steward.start()
    async for event in steward.ask(f"Work as {name}", rounds=1000):
        if isinstance(event, RoundStarted):
            print(event.number, flush=True)
    made = [v.proposal.id for v in await steward.changes() if v.proposal.session == steward.session_id]
    print(json.dumps([type(event).__name__, getattr(event, "reason", ""), made]), flush=True)
    await steward.close()
asyncio.run(main())
"""


def start(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder / "repository"), name, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )


def test_a_killed_process_loses_at_most_the_round_in_flight(tmp_path: Path) -> None:
    plant(tmp_path / "repository")
    for number, after in enumerate((3, 8, 15)):
        process = start(tmp_path, f"run{number}", 200)
        assert process.stdout is not None
        reached = 0
        while reached < after:
            reached = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        kept = house(tmp_path)
        assert kept.changes.recover() == ()
        row = next(r for r in kept.sessions.all() if r.title == f"Work as run{number}")
        stored = kept.sessions.messages(row.id)
        answers = sum(type(m).__name__ == "ToolAnswer" for m in stored)
        assert answers >= reached - 1
        assert kept.audit.broken() is None
        kept.close()


def test_two_stewards_ask_and_propose_at_once_and_each_keeps_its_own(tmp_path: Path) -> None:
    plant(tmp_path / "repository")
    both = [start(tmp_path, name, 12) for name in ("left", "right")]
    results: list[Any] = []
    for process in both:
        out, err = process.communicate(timeout=120)
        assert err == "" and process.returncode == 0
        results.append(json.loads(out.splitlines()[-1]))
    assert [(r[0], r[1], len(r[2])) for r in results] == [(TurnEnded.__name__, "answered", 12)] * 2
    assert not set(results[0][2]) & set(results[1][2])
    kept = house(tmp_path)
    assert {row.title for row in kept.sessions.all()} == {"Work as left", "Work as right"}
    assert len({len(kept.sessions.messages(row.id)) for row in kept.sessions.all()}) == 1
    assert len(kept.changes.store.pending()) == 24 and kept.audit.broken() is None
    kept.close()


async def test_a_full_disk_ends_the_turn_with_one_sentence_and_keeps_what_was(opened: Opener) -> None:
    steward, _ = await opened(
        [
            {"text": "A."},
            {"text": "".join(f"{n * n:x} " for n in range(60_000)), "chunk": 60_000},
            {"text": "C."},
        ]
    )
    await asked(steward, "one")
    database = steward._house.database  # pyright: ignore[reportPrivateUsage] -- to fill its disk
    with database.read() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + 2}")
    events = await asked(steward, "two")
    assert events[-1].reason == "failed" and "disk" in events[-1].error and "full" in events[-1].error
    with database.read() as cursor:
        cursor.execute("PRAGMA max_page_count = 1000000")
    await asked(steward, "three")
    assert house_messages(steward)[steward.session_id] == ["one", "two", "three"]
