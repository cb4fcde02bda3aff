"""Whatever comes in between showing a change and deciding on it, it is decided on once and as it was shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from steward.errors import (
    Busy,
    EditRefused,
    NeedsPerson,
    StaleProposal,
    StampMismatch,
    StewardError,
    WrongStatus,
)
from steward.proposals import Proposal
from steward.proposals.disk import Disk
from steward.service.revising import edit_result
from steward.storage import ChangeStore
from tests.proposals.watched import Once, VisitBefore
from tests.service.rooms import AFTER, BEFORE, ONE, Patch, Rooms, Status, applied_by, settled
from tests.support import plant


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return plant(tmp_path / "repository")


# Another process in between


Deed = Callable[[Rooms, str, str], object]

DEEDS: dict[str, Deed] = {
    "apply": lambda rooms, change, stamp: rooms.desk.apply_stamped(change, stamp),
    "discard": lambda rooms, change, _: rooms.desk.discard(change),
    "amend": lambda rooms, change, _: rooms.propose(Patch("src/app.py", "answer", "unread"), change=change),
    "revise": lambda rooms, change, stamp: edit_result(
        rooms.desk, change, stamp, "src/app.py", b"unread\n", limit=99
    ),
}
LEAVES = {"apply": AFTER, "discard": BEFORE, "amend": BEFORE, "revise": BEFORE}


def _in_turns(root: Path, first: str, second: str, number: int) -> tuple[set[str], bool]:
    """Who succeeds when another process does the second deed before operation ``number`` of the first one's disk."""
    root = plant(root / f"{first}-{number}" / "repository")
    succeeded: set[str] = set()
    refused: list[StewardError] = []

    def visit(at: int) -> None:
        if at == number:
            attempt(second, other)

    def attempt(name: str, rooms: Rooms) -> None:
        try:
            DEEDS[name](rooms, change, stamp)
        except (Busy, WrongStatus, StampMismatch, EditRefused) as error:
            refused.append(error)
        else:
            succeeded.add(name)

    other = Rooms(root)
    disk = VisitBefore(Disk(), visit)
    rooms = Rooms(root, disk=disk)
    change = rooms.propose(ONE).id
    stamp = rooms.show(change).stamp
    attempt(first, rooms)
    reached = len(disk.names) > number
    stored = rooms.store.get(change)
    assert len(refused) == 2 - len(succeeded) - (not reached)
    decided = [name for name in ("apply", "discard") if name in succeeded]
    assert stored.status == {"apply": "applied", "discard": "discarded"}.get("".join(decided), "pending")
    if "apply" in succeeded:
        assert stored.stamp == stamp
    elif {"amend", "revise"} & succeeded:
        assert stored.stamp != stamp
    assert (root / "src/app.py").read_bytes() == LEAVES["".join(decided) or "amend"]
    assert rooms.desk.recover() == () and rooms.desk.history().warnings == ()
    other.close()
    rooms.close()
    return succeeded, reached


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("apply", "discard"),
        ("apply", "amend"),
        ("apply", "revise"),
        ("discard", "apply"),
        ("discard", "amend"),
        ("revise", "apply"),
        ("amend", "apply"),
    ],
)
def test_wherever_another_process_comes_in_between_a_change_is_decided_on_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    monkeypatch.setattr("steward.proposals.lock.PATIENCE", 0.0)
    winners: set[str] = set()
    for number in count():
        succeeded, reached = _in_turns(tmp_path, first, second, number)
        if not reached:
            break
        assert (
            len(succeeded) == 1
            or (first, second) == ("discard", "amend")
            or succeeded == {"amend", "discard"}
        )
        winners |= succeeded
    assert winners == {first, second}


def test_an_amendment_of_the_same_process_waits_for_the_decision(root: Path) -> None:
    """The model's turn goes on in a thread while the person applies; what it amends then is applied already."""
    refused: list[StewardError] = []

    def amend() -> None:
        try:
            rooms.propose(Patch("src/app.py", "answer", "unread"), change=change)
        except StewardError as error:
            refused.append(error)

    thread = threading.Thread(target=amend)

    def meanwhile() -> None:
        thread.start()
        thread.join(0.5)  # It would be done by then if it did not wait.

    rooms = Rooms(root, disk=Once(meanwhile, "exchange"))
    change = rooms.propose(ONE).id
    applied_by(rooms, change)
    thread.join()
    assert len(refused) == 1
    assert (root / "src/app.py").read_bytes() == AFTER
    rooms.close()


def test_another_process_may_settle_it_first(root: Path) -> None:
    other = Rooms(root)

    class Slow(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            other.desk.recover()
            super().settle(proposal, to)

    rooms = Rooms(root, store=Slow)
    assert applied_by(rooms, rooms.propose(ONE).id).warnings == ()
    rooms.close()
    other.close()
    assert settled(root) == (["applied"], ["applied"])


def test_another_process_may_even_undo_it_first(root: Path) -> None:
    other = Rooms(root)

    class Slow(ChangeStore):
        def settle(self, proposal: Proposal, to: Status) -> None:
            other.desk.undo(proposal.id)
            super().settle(proposal, to)

    rooms = Rooms(root, store=Slow)
    assert applied_by(rooms, rooms.propose(ONE).id).paths == ("src/app.py",)
    rooms.close()
    other.close()
    assert settled(root) == (["undone"], ["applied", "undone"])
    assert (root / "src/app.py").read_bytes() == BEFORE


def test_nobody_discards_what_another_process_is_writing(root: Path) -> None:
    other = Rooms(root)
    refused: list[StewardError] = []

    def discard() -> None:
        with pytest.raises(Busy) as caught:
            other.desk.discard(change)
        refused.append(caught.value)

    rooms = Rooms(root, disk=Once(discard, "exchange"))
    change = rooms.propose(ONE).id
    applied_by(rooms, change)
    assert len(refused) == 1
    rooms.close()
    other.close()
    assert settled(root) == (["applied"], ["applied"])


def test_a_start_leaves_alone_what_a_live_process_has_in_hand(root: Path) -> None:
    other = Rooms(root)
    found: list[tuple[str, ...]] = []
    rooms = Rooms(root, disk=Once(lambda: found.append(other.desk.recover()), "exchange"))
    applied_by(rooms, rooms.propose(ONE).id)
    assert found == [()]
    rooms.close()
    other.close()
    assert (root / "src/app.py").read_bytes() == AFTER


def test_the_slower_of_two_is_told_that_it_is_applied_and_not_that_it_is_stale(root: Path) -> None:
    other = Rooms(root)
    rooms = Rooms(root, disk=Once(lambda: other.desk.apply_stamped(change, stamp), "mkdir"))
    change = rooms.propose(ONE).id
    stamp = rooms.show(change).stamp
    with pytest.raises(WrongStatus, match="is applied"):
        rooms.desk.apply(change, stamp)
    assert (root / "src/app.py").read_bytes() == AFTER
    rooms.close()
    other.close()


# The directory in between


def leftovers(root: Path) -> list[str]:
    return [path.name for path in root.rglob(".steward-*")]


def _removed(root: Path) -> None:
    (root / "src/app.py").unlink()
    (root / "src/AGENTS.md").unlink()
    (root / "src/deep/inner.py").unlink()
    (root / "src/deep/AGENTS.md").unlink()
    (root / "src/deep").rmdir()
    (root / "src").rmdir()


def _moved(root: Path) -> None:
    (root / "src").rename(root / "elsewhere")


def _linked_outside(root: Path) -> None:
    (root / "src").rename(root.parent / "outside")
    (root / "src").symlink_to(root.parent / "outside")


def _linked_inside(root: Path) -> None:
    (root / "src").rename(root / "elsewhere")
    (root / "src").symlink_to("elsewhere")


def _became_a_file(root: Path) -> None:
    _moved(root)
    (root / "src").write_bytes(b"a file\n")


def _replaced(root: Path) -> None:
    _moved(root)
    (root / "src").mkdir()


@pytest.mark.parametrize(
    "act", [_removed, _moved, _linked_outside, _linked_inside, _became_a_file, _replaced]
)
def test_a_directory_that_changed_in_between_is_never_written_through(
    root: Path, act: Callable[[Path], None]
) -> None:
    rooms = Rooms(root)
    change = rooms.propose(ONE, Patch("web/page.js", "x = 1", "x = 2")).id
    shown = rooms.show(change)
    act(root)
    with pytest.raises(StewardError) as caught:
        rooms.desk.apply(change, shown.stamp)
    assert "src" in str(caught.value) and str(root) not in str(caught.value)
    assert rooms.store.statuses() == {change: "pending"}
    for place in (root, root.parent / "outside"):
        assert all(path.read_bytes() == BEFORE for path in place.rglob("app.py") if not path.is_symlink())
    assert (root / "web/page.js").read_bytes().startswith(b"let x = 1"), "not half of it either"
    assert leftovers(root.parent) == []
    (told,) = rooms.desk.news()
    assert told.startswith(f"The person tried to apply {change}; it was refused.")
    rooms.close()


def test_a_new_file_goes_into_the_directory_that_is_there_now(root: Path) -> None:
    rooms = Rooms(root)
    change = rooms.propose(Patch("web/new.js", "", "x\n")).id
    shown = rooms.show(change)
    (root / "web").rename(root / "old")
    rooms.desk.apply(change, shown.stamp)
    assert (root / "web/new.js").read_bytes() == b"x\n"
    rooms.close()


def test_undo_without_an_id_takes_back_what_was_applied_last(root: Path) -> None:
    rooms = Rooms(root)
    first, second = rooms.propose(ONE).id, rooms.propose(Patch("web/page.js", "x = 1", "x = 2")).id
    applied_by(rooms, second)
    applied_by(rooms, first)
    assert rooms.desk.undo(None).id == first
    assert rooms.desk.undo(None).id == second
    rooms.close()


# Another change in between


def test_an_overlapping_change_that_cannot_be_carried_over_is_stale_and_the_other_is_applied(
    root: Path,
) -> None:
    rooms = Rooms(root)
    first = rooms.propose(ONE).id
    second = rooms.propose(Patch("src/app.py", "return 41", "return 40")).id
    done = applied_by(rooms, first)
    assert done.warnings == (f"{second} touches the same file and is stale now.",)
    assert rooms.store.statuses() == {first: "applied", second: "pending"}
    shown = rooms.show(second)
    with pytest.raises(StaleProposal):
        rooms.desk.apply(second, shown.stamp)
    rooms.close()


def test_an_amended_change_must_be_read_again(root: Path) -> None:
    rooms = Rooms(root)
    change = rooms.propose(ONE).id
    shown = rooms.show(change)
    rooms.propose(Patch("src/app.py", "answer", "unread"), change=change)
    with pytest.raises(StampMismatch):
        rooms.desk.apply(change, shown.stamp)
    with pytest.raises(StampMismatch):
        rooms.desk.apply(change, rooms.store.get(change).stamp)
    with pytest.raises(NeedsPerson):
        Rooms(root).desk.apply(change, rooms.store.get(change).stamp)
    assert (root / "src/app.py").read_bytes() == BEFORE
    rooms.close()
