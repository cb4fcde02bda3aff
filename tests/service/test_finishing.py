"""Whatever fails between writing a change and recording it, disk and store agree in the end."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.errors import StorageError, WrongStatus
from steward.events import Notice
from steward.proposals import Proposal
from steward.proposals.disk import Disk
from steward.storage import ChangeStore, database
from tests.proposals.watched import Cut, Once, Watched
from tests.service.rooms import AFTER, BEFORE, ONE, Patch, Rooms, Status, applied_by, settled
from tests.support import plant, steward_in


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "repository")


class Failing(ChangeStore):
    """A store that cannot record what was applied or undone."""

    def settle(self, proposal: Proposal, to: Status) -> None:
        raise StorageError(
            "The steward's database is locked by another process; try again when it has finished."
        )


class Dying(ChangeStore):
    """The process dies before it can record what was applied or undone."""

    def settle(self, proposal: Proposal, to: Status) -> None:
        raise Cut


def test_applied_and_not_recorded_is_told_and_settled_at_the_next_start(root: Path) -> None:
    rooms = Rooms(root, store=Failing)
    change = rooms.propose(ONE).id
    done = applied_by(rooms, change)
    assert done.paths == ("src/app.py",)
    (warning,) = done.warnings
    assert warning.startswith(f"{change} is applied; clean-up is unfinished") and "locked" in warning
    assert rooms.desk.news() == (f"The person applied {change}.",)
    assert rooms.store.statuses() == {change: "pending"}
    rooms.close()
    assert settled(root) == (["applied"], ["applied"])
    assert (root / "src/app.py").read_bytes() == AFTER


def test_undone_and_not_recorded_is_told_and_settled_at_the_next_start(root: Path) -> None:
    first = Rooms(root)
    change = first.propose(ONE).id
    applied_by(first, change)
    first.close()
    rooms = Rooms(root, store=Failing)
    (warning,) = rooms.desk.undo(change).warnings
    assert warning.startswith(f"{change} is undone; clean-up is unfinished")
    rooms.close()
    assert settled(root) == (["undone"], ["applied", "undone"])
    assert (root / "src/app.py").read_bytes() == BEFORE


def test_a_locked_database_is_such_a_fault(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    blocker: list[sqlite3.Connection] = []

    def block() -> None:
        blocker.append(sqlite3.connect(rooms.database.file, isolation_level=None))
        blocker[0].execute("BEGIN IMMEDIATE")

    rooms = Rooms(root, disk=Once(block, "exchange"))
    change = rooms.propose(ONE).id
    done = applied_by(rooms, change)
    assert "locked" in done.warnings[0] and (root / "src/app.py").read_bytes() == AFTER
    blocker[0].execute("ROLLBACK")
    blocker[0].close()
    rooms.close()
    assert settled(root) == (["applied"], ["applied"])


def test_a_journal_that_cannot_be_closed_is_told_and_closed_later(root: Path) -> None:
    class Failing(Watched):
        broken = False

        def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
            if self.broken and name in ("unlink", "rename", "write"):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return do()

    class Breaking(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            super().settle(proposal, to)
            disk.broken = True

    disk = Failing(Disk())
    rooms = Rooms(root, disk=disk, store=Breaking)
    done = applied_by(rooms, rooms.propose(ONE).id)
    assert "clean-up is unfinished" in done.warnings[0]
    rooms.close()
    assert settled(root) == (["applied"], ["applied"])


def test_a_process_that_dies_before_the_record_leaves_it_to_the_next(root: Path) -> None:
    rooms = Rooms(root, store=Dying)
    change = rooms.propose(ONE).id
    with pytest.raises(Cut):
        applied_by(rooms, change)
    rooms.close()
    assert settled(root) == (["applied"], ["applied"])


async def test_what_is_taken_back_before_another_change_is_discarded_is_said(root: Path) -> None:
    steward, _ = steward_in(root, [])
    await steward.start()

    def die() -> None:
        raise Cut

    rooms = Rooms(root, disk=Once(die, "exchange"))
    other, change = rooms.propose(Patch("web/page.js", "x = 1", "x = 2")).id, rooms.propose(ONE).id
    with pytest.raises(Cut):
        applied_by(rooms, change)
    rooms.close()
    await steward.discard_change(other)
    (told,) = steward.unheard()
    assert isinstance(told, Notice) and f"Applying {change} was cut off" in told.text
    await steward.close()


@pytest.mark.parametrize("decide", ["apply", "apply_stamped", "discard"])
def test_what_is_applied_and_not_recorded_yet_counts_as_applied(root: Path, decide: str) -> None:
    rooms = Rooms(root, store=Failing)
    change = rooms.propose(ONE).id
    stamp = rooms.show(change).stamp
    rooms.desk.apply(change, stamp)
    rooms.close()
    again = Rooms(root)
    again.desk.shown(again.store.get(change))
    deeds: dict[str, Callable[[], object]] = {
        "apply": lambda: again.desk.apply(change, stamp),
        "apply_stamped": lambda: again.desk.apply_stamped(change, stamp[:12]),
        "discard": lambda: again.desk.discard(change),
    }
    with pytest.raises(WrongStatus, match="is applied"):
        deeds[decide]()
    again.desk.undo(change)
    again.close()
    assert settled(root) == (["undone"], ["applied", "undone"])
    assert (root / "src/app.py").read_bytes() == BEFORE


@pytest.mark.parametrize("again", [False, True])
def test_a_journal_whose_change_the_database_lost_does_not_stop_a_start(root: Path, again: bool) -> None:
    rooms = Rooms(root, store=Failing)
    applied_by(rooms, rooms.propose(ONE).id)
    rooms.close()
    for file in rooms.state.glob("steward.db*"):
        file.unlink()
    fresh = Rooms(root)
    if again:
        # The id is in use again, for another change.
        assert fresh.propose(Patch("web/page.js", "x = 1", "x = 2")).id == "change-001"
    (note,) = fresh.desk.recover()
    assert note.startswith("A change-001 was applied on the disk that is not what the database knows")
    assert fresh.desk.recover() == ()
    assert fresh.store.statuses() == ({"change-001": "pending"} if again else {})
    assert fresh.desk.history().warnings == ()
    fresh.close()


@pytest.mark.parametrize("deed", ["applied", "undone"])
def test_what_was_amended_before_a_death_is_not_taken_for_what_was_written(root: Path, deed: str) -> None:
    other = Rooms(root)
    change = other.propose(ONE).id
    if deed == "undone":
        applied_by(other, change)

    class Amended(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            with other.database.write() as cursor:
                cursor.execute(
                    "UPDATE change_files SET result = CAST('unread' AS BLOB) WHERE change = ?", (change,)
                )
            raise Cut

    rooms = Rooms(root, store=Amended)
    with pytest.raises(Cut):
        rooms.desk.undo(change) if deed == "undone" else applied_by(rooms, change)
    rooms.close()
    (note,) = other.desk.recover()
    assert note.startswith(f"A {change} was {deed} on the disk")
    assert other.store.statuses()[change] == ("pending" if deed == "applied" else "applied")
    other.close()
