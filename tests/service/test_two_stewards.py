"""Two stewards in one workspace: whatever one does in the midst of the other's work, neither loses or misreports it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from steward.conversation import Assistant, Conversation, System, User
from steward.errors import Busy, EditRefused, NoSuchThing, StampMismatch, StorageError
from steward.proposals import Proposal
from steward.proposals.disk import Disk
from steward.proposals.record import standing
from steward.service.history import news
from steward.service.record import Record
from steward.service.revising import edit_result
from steward.service.views import History
from steward.storage import ChangeStore, SessionRow
from tests.proposals.watched import Cut, VisitBefore
from tests.service.rooms import AFTER, BEFORE, ONE, Patch, Rooms, Status, settled
from tests.storage.between import in_turns
from tests.support import asked, plant, steward_in

TWO = Patch("web/page.js", "x = 1", "x = 2")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process in between cannot wait for the one that it has stopped."""
    monkeypatch.setattr("steward.proposals.lock.PATIENCE", 0.0)
    monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", 0.0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "repository")


def apply(rooms: Rooms, change: str) -> tuple[str, ...]:
    return rooms.desk.apply_stamped(change, rooms.store.get(change).stamp).warnings


def undo(rooms: Rooms, change: str) -> tuple[str, ...]:
    return rooms.desk.undo(change).warnings


# Writing


MEANWHILE: dict[str, Callable[[Rooms, str], tuple[str, ...]]] = {
    "starts": lambda rooms, _: rooms.desk.recover(),
    "applies another": apply,
}


def _comes_in_between(
    root: Path, number: int, deed: Callable[[Rooms, str], tuple[str, ...]], meanwhile: str
) -> bool:
    """Whether there was an operation of that number on the deed's disk, before which another steward did its own."""
    told: list[str] = []
    reached: list[int] = []

    def visit(at: int) -> None:
        if at == number:
            reached.append(at)
            with suppress(Busy):
                told.extend(MEANWHILE[meanwhile](other, second))

    other = Rooms(root)
    first, second = other.propose(ONE).id, other.propose(TWO).id
    if deed is undo:
        apply(other, first)
    rooms = Rooms(root, disk=VisitBefore(Disk(), visit))
    told.extend(deed(rooms, first))
    assert told == []
    assert (root / "src/app.py").read_bytes() == (AFTER if deed is apply else BEFORE)
    assert other.desk.recover() == ()
    assert other.store.statuses()[first] == ("applied" if deed is apply else "undone")
    assert other.desk.history().warnings == () and not any(standing(rooms.state / "journal"))
    rooms.close()
    other.close()
    return bool(reached)


@pytest.mark.parametrize(("deed", "meanwhile"), [(apply, "starts"), (undo, "applies another")])
def test_nobody_is_told_of_a_fault_that_is_only_another_steward(
    tmp_path: Path, deed: Callable[[Rooms, str], tuple[str, ...]], meanwhile: str
) -> None:
    number = 0
    while _comes_in_between(plant(tmp_path / str(number) / "repository"), number, deed, meanwhile):
        number += 1
    assert number > 50


def test_what_another_undid_and_could_not_record_is_not_forgotten_with_what_was_applied_here(
    root: Path,
) -> None:
    class Dying(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            if to == "undone":
                raise Cut
            super().settle(proposal, to)

    class Slow(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            with pytest.raises(Cut):
                other.desk.undo(proposal.id)
            super().settle(proposal, to)

    other, rooms = Rooms(root, store=Dying), Rooms(root, store=Slow)
    apply(rooms, rooms.propose(ONE).id)
    other.close()
    rooms.close()
    assert settled(root) == (["undone"], ["applied", "undone"])
    assert (root / "src/app.py").read_bytes() == BEFORE


# Reading and amending


def test_a_decision_at_this_moment_is_no_contradiction_in_the_log(root: Path) -> None:
    rooms, other = Rooms(root), Rooms(root)

    def turn() -> tuple[Callable[[], History], Callable[[], object]]:
        change = rooms.propose(ONE).id
        with (
            rooms.database.write() as cursor
        ):  # So that there are not more and more statements to come in between.
            cursor.execute("UPDATE changes SET status = 'reserved' WHERE id != ?", (change,))
        return lambda: rooms.desk.history(change), lambda: other.desk.discard(change)

    for history in in_turns(rooms.database, turn):
        assert history.broken is None and history.contradicted == ()
    rooms.close()
    other.close()


def test_what_another_decides_at_this_moment_is_told_once(root: Path) -> None:
    rooms, other = Rooms(root), Rooms(root)
    told = rooms.store.audit.last()

    def turn() -> tuple[Callable[[], tuple[int, str]], Callable[[], object]]:
        change = rooms.propose(ONE).id
        return lambda: (rooms.desk.catch_up(told, "another session"), change), lambda: other.desk.discard(
            change
        )

    for last, change in in_turns(rooms.database, turn):
        told = rooms.desk.catch_up(last, "another session")
        assert rooms.desk.news() == (f"The person discarded {change}.",)
    rooms.close()
    other.close()


def test_what_could_not_be_logged_here_does_not_hide_what_another_logs_in_its_place(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms, other = Rooms(root), Rooms(root)
    change = rooms.propose(ONE).id
    told, write = rooms.store.audit.last(), rooms.database.write

    @contextmanager
    def failing() -> Generator[sqlite3.Cursor]:
        with write() as cursor:
            yield cursor
            raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(rooms.database, "write", failing)
    with pytest.raises(StorageError):
        rooms.desk.discard(change)
    apply(other, change)
    assert tuple(news(rooms.store, told)) == (f"The person applied {change}.",)
    rooms.close()
    other.close()


def test_what_a_person_writes_into_a_change_is_not_lost_to_a_model_that_amends_it(root: Path) -> None:
    rooms, other = Rooms(root), Rooms(root)
    mine = AFTER + b"# mine\n"
    came: set[tuple[str, ...]] = set()
    changes: list[tuple[str, list[str]]] = []

    def turn() -> tuple[Callable[[], object], Callable[[], object]]:
        change = rooms.propose(ONE)
        done: list[str] = []
        changes.append((change.id, done))

        def amend() -> None:
            try:
                rooms.propose(Patch("src/app.py", "answer", "unread"), change=change.id)
            except EditRefused:
                return
            done.append("amended")

        def revise() -> None:
            try:
                edit_result(other.desk, change.id, change.stamp, "src/app.py", mine, limit=999)
            except (Busy, StampMismatch, StorageError):
                return
            done.append("revised")

        return amend, revise

    for _ in in_turns(rooms.database, turn):
        change, done = changes[-1]
        result = rooms.store.get(change).files[0].result or b""
        assert (b"unread" in result, b"# mine" in result) == ("amended" in done, "revised" in done)
        came.add(tuple(done))
    assert came >= {("amended",), ("revised",), ("revised", "amended")}
    rooms.close()
    other.close()


# Conversations


def conversation(*texts: str) -> Conversation:
    held = Conversation()
    held.append(System("You are here."))
    for text in texts:
        held.append(User(text))
        held.append(Assistant(f"Of {text}."))
    return held


def test_a_conversation_that_nothing_was_said_in_does_not_write_over_one_that_went_on(root: Path) -> None:
    rooms, other = Rooms(root), Rooms(root)
    first, second = Record(rooms.sessions), Record(other.sessions)
    held = conversation("one")
    first.begin("a model", "One")
    first.save(held, "One", "a model", ".", {"told": 1})
    second.take_up(other.sessions.get(first.session), len(held.messages))
    second.save(conversation("one", "two"), "One", "another model", "src", {"told": 2})
    assert first.save(held, "One", "a model", ".", {"told": 1, "words": []}) == ""
    row = other.sessions.get(first.session)
    assert (row.model, row.focus, row.state, row.messages) == ("another model", "src", {"told": 2}, 5)
    told = first.save(conversation("one", "otherwise"), "One", "a model", ".", {"told": 3})
    assert "another steward" in told and first.session != second.session
    assert rooms.sessions.get(first.session).state == {"told": 3}
    rooms.close()
    other.close()


def test_what_a_conversation_is_about_is_stored_with_its_messages(root: Path) -> None:
    rooms, other = Rooms(root), Rooms(root)
    seen: list[tuple[object, int]] = []
    record = Record(rooms.sessions)
    record.begin("a model", "One")
    texts: list[str] = []

    def turn() -> tuple[Callable[[], str], Callable[[], object]]:
        texts.append("more")
        held = conversation(*texts)

        def look() -> None:
            row = other.sessions.get(record.session)
            seen.append((row.state.get("said", 0), row.messages))

        return lambda: record.save(held, "One", "a model", ".", {"said": len(held.messages)}), look

    for said in in_turns(rooms.database, turn):
        assert said == ""
    assert len(seen) > 5 and all(said == messages for said, messages in seen)
    rooms.close()
    other.close()


async def test_a_conversation_that_is_deleted_while_it_is_resumed_is_not_taken_for_an_empty_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steward, _ = steward_in(root, [{"text": "A."}, {"text": "B."}])
    await steward.start()
    await asked(steward, "one")
    session = steward.session_id
    await steward.new_session()
    await asked(steward, "two")
    held, other = steward.session_id, Rooms(root)
    store = steward._house.sessions  # pyright: ignore[reportPrivateUsage]
    find = store.find

    def found_and_deleted(name: str | None) -> SessionRow:
        row = find(name)
        other.sessions.delete(row.id)
        return row

    monkeypatch.setattr(store, "find", found_and_deleted)
    with pytest.raises(NoSuchThing):
        await steward.resume(session)
    assert steward.session_id == held
    other.close()
    await steward.close()
