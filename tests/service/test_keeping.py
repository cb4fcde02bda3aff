"""Finished changes keep their contents for as long as the person says; then they say that they no longer do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.config import Settings
from steward.errors import NoLongerKept, WrongStatus
from steward.storage.clock import days_ago
from tests.service.rooms import Patch, Rooms
from tests.support import plant

ONE = Patch("src/app.py", "41", "42")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "repository")


@pytest.fixture
def rooms(root: Path) -> Iterator[Rooms]:
    with_rooms = Rooms(root)
    yield with_rooms
    with_rooms.close()


def settings(**proposals: int) -> Settings:
    return Settings.model_validate({"proposals": proposals})


def applied(rooms: Rooms, patch: Patch = ONE, *, days: int = 0) -> str:
    change = rooms.propose(patch).id
    shown = rooms.show(change)
    rooms.desk.apply(change, shown.stamp)
    with rooms.database.write() as cursor:
        cursor.execute("UPDATE changes SET updated = ? WHERE id = ?", (days_ago(days), change))
    return change


def test_after_fourteen_days_a_start_lets_go_and_says_so(rooms: Rooms) -> None:
    old = applied(rooms, days=15)
    young = applied(rooms, Patch("web/page.js", "x = 1", "x = 2"), days=13)
    (note,) = rooms.desk.recover()
    assert old in note and young not in note and "14 days" in note
    assert rooms.desk.recover() == ()
    with pytest.raises(NoLongerKept, match=f"The contents of {old} are no longer kept; it cannot be undone"):
        rooms.desk.undo(old)
    with pytest.raises(NoLongerKept, match="it cannot be shown"):
        rooms.desk.review(old)
    assert (rooms.workspace.root / "src/app.py").read_bytes() == b"def answer():\n    return 42\n"
    rooms.desk.undo(young)


def test_days_and_bytes_are_what_the_settings_say(root: Path) -> None:
    first = Rooms(root, settings=settings(keep_days=1_000))
    change = applied(first, days=999)
    assert first.desk.recover() == ()
    first.close()
    second = Rooms(root, settings=settings(keep_days=1_000, keep_bytes=10))
    assert "10 bytes" in second.changes.recover()[0], "the house passes its settings on"
    assert not second.store.get(change).kept
    second.close()


def test_a_list_still_shows_what_a_change_was(rooms: Rooms) -> None:
    change = applied(rooms, days=15)
    (before,) = rooms.desk.listed(everything=True)
    rooms.desk.recover()
    (after,) = rooms.desk.listed(everything=True)
    assert after.counts == before.counts and (after.added, after.removed) == (1, 1)
    assert (after.proposal.id, after.proposal.stamp) == (change, before.proposal.stamp)
    assert rooms.desk.history(change).warnings == ()


def test_undo_of_the_last_one_does_not_reach_back_to_an_earlier_one(rooms: Rooms) -> None:
    applied(rooms, Patch("web/page.js", "x = 1", "x = 2"), days=1)
    last = applied(rooms)
    with rooms.database.write() as cursor:
        cursor.execute("UPDATE changes SET updated = ? WHERE id = ?", (days_ago(15), last))
    rooms.desk.recover()
    with pytest.raises(NoLongerKept, match=last):
        rooms.desk.undo(None)


def test_a_pruned_change_cannot_be_applied_again(rooms: Rooms) -> None:
    change = rooms.propose(ONE)
    rooms.show(change.id)
    rooms.desk.discard(change.id)
    rooms.store.prune(0, 0)
    with pytest.raises(WrongStatus):
        rooms.desk.apply(change.id, change.stamp)
    with pytest.raises(WrongStatus):
        rooms.desk.apply_stamped(change.id, change.stamp)
    with pytest.raises(WrongStatus):
        rooms.desk.undo(change.id)
