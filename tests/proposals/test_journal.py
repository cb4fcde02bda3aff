"""The file that one record after another is written into: when it counts, when it is free, what is spared."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.journal import opened
from steward.proposals.proposal import FileChange
from steward.proposals.record import FREE, PAGE, SPARE, Entry, Image, Record, begun, decode, encode, standing
from steward.proposals.recover import Recovery, acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import PAIR, SMALL, Scene, applied
from tests.proposals.watched import Cut, CutAt, Unsynced, Watched

ONE = Scene({"a.txt": (b"old\n", 0o644)}, (FileChange("a.txt", "modify", b"old\n", b"new\n", 0o644, 0o644),))
MANY = Scene(
    {f"{n:03}.txt": (b"old\n", 0o644) for n in range(40)},
    tuple(FileChange(f"{n:03}.txt", "modify", b"old\n", b"new\n", 0o644, 0o644) for n in range(40)),
)
IMAGE = Image("0" * 64, 12, 0o644)


def _record(nonce: str, id: str = "change-001", path: str = "a.txt") -> Record:
    entry = Entry("swap", path, f".steward-{id}-{nonce}-0", IMAGE, IMAGE)
    return Record(id, "apply", "stamp", "0" * 16, nonce, (entry,))


@pytest.fixture
def at(tmp_path: Path) -> Generator[Plot]:
    with plot(ONE, tmp_path) as there:
        yield there


def _there_and_back(at: Plot) -> None:
    apply(at.proposal, at.workspace, at.state, Unsynced())
    acknowledge(at.state, "change-001", Unsynced())
    undo(applied(at.proposal), at.workspace, at.state, Unsynced())
    acknowledge(at.state, "change-001", Unsynced())


def _names(at: Plot) -> list[Path]:
    return sorted((at.state / "journal").iterdir())


def _die(at: Plot, operation: str, which: int, *, past: int = 1) -> None:
    """Apply, and die after the ``which``-th operation of a name."""
    seen = Watched(Unsynced())
    apply(at.proposal, at.workspace, at.state, seen)
    acknowledge(at.state, "change-001", Unsynced())
    at.again()
    moment = [n for n, name in enumerate(seen.names) if name == operation][which] + past
    dying = CutAt(Unsynced(), moment)
    with pytest.raises(Cut):
        apply(at.proposal, at.workspace, at.state, dying)
    dying.reap()


# What is in it


def test_a_record_is_read_as_it_was_written_whatever_follows_it() -> None:
    record = replace(_record("aa"), phase="switching", file="bb.spare")
    data = encode(record)
    assert len(data) == PAGE
    assert decode(record.file, data) == begun(record.file, data) == record
    assert begun(record.file, data + b"the rest of a longer one") == record


def test_no_mixture_of_two_records_counts() -> None:
    old, new = encode(_record("aa", "change-001")), encode(_record("ab", "change-002", "b.txt"))
    whole = len(new.rstrip(b"\n"))
    for one, other in ((old, new), (FREE + old[len(FREE) :], new), (old, FREE + old[len(FREE) :])):
        for cut in range(whole + 10):
            for mixed in (one[:cut] + other[cut:], other[:cut] + one[cut:]):
                found = begun("aa.spare", mixed)
                assert found is None or mixed.rstrip(b"\n") == new.rstrip(b"\n")


@pytest.mark.parametrize("data", [b"", bytes(PAGE), b"\xff" * PAGE, FREE, b"steward-journal-3 ab", b"\n"])
def test_what_is_no_record_in_a_spare_is_passed_over(data: bytes) -> None:
    assert begun("aa.spare", data) is None


# One file after another


def test_one_file_is_written_into_by_one_change_after_another(at: Plot) -> None:
    _there_and_back(at)
    (spare,) = _names(at)
    assert spare.name.endswith(SPARE) and at.journal == []
    inode = spare.stat().st_ino
    apply(at.proposal, at.workspace, at.state, Unsynced())
    (record,) = _names(at)
    assert (record.name, record.stat().st_ino) == ("change-001.apply.clean", inode)
    acknowledge(at.state, "change-001", Unsynced())
    (spare,) = _names(at)
    assert spare.name.endswith(SPARE) and spare.stat().st_ino == inode


def test_two_changes_at_once_leave_one_file(at: Plot) -> None:
    apply(at.proposal, at.workspace, at.state, Unsynced())
    at.again()
    apply(at.scene.proposal(at.workspace.identity, "change-002"), at.workspace, at.state, Unsynced())
    assert recover(at.workspace, at.state).committed == ("change-001", "change-002")
    for change in ("change-001", "change-002"):
        acknowledge(at.state, change, Unsynced())
    assert len(_names(at)) == 1 and recover(at.workspace, at.state) == Recovery()


def test_a_long_record_fits_over_a_short_one_and_a_short_one_over_a_long_one(tmp_path: Path) -> None:
    with plot(MANY, tmp_path) as at:
        one = replace(at.proposal, files=at.proposal.files[:1])
        apply(one, at.workspace, at.state, Unsynced())
        acknowledge(at.state, "change-001", Unsynced())
        assert _names(at)[0].stat().st_size == PAGE
        at.again()
        _die(at, "exchange", 5)
        (record,) = _names(at)
        assert record.stat().st_size > PAGE
        assert recover(at.workspace, at.state).rolled_back == ("change-001",) and at.tree == MANY.before
        apply(one, at.workspace, at.state, Unsynced())
        (record,) = _names(at)
        assert record.stat().st_size > PAGE and recover(at.workspace, at.state).committed == ("change-001",)


@pytest.mark.parametrize(("operation", "which"), [("datasync", 0), ("open", -3), ("exchange", 0)])
def test_a_change_that_was_cut_off_is_taken_back_where_its_record_stands_in_a_spare(
    at: Plot, operation: str, which: int
) -> None:
    _there_and_back(at)
    _die(at, operation, which)
    assert at.journal != []
    assert recover(at.workspace, at.state).rolled_back == ("change-001",)
    assert at.tree == ONE.before and at.journal == []
    assert recover(at.workspace, at.state) == Recovery()


def test_a_start_with_nothing_to_settle_reads_the_spare_and_touches_nothing(at: Plot) -> None:
    _there_and_back(at)
    disk = Watched(Unsynced())
    assert recover(at.workspace, at.state, disk) == Recovery()
    assert disk.names == ["open", "fstat", "listdir", "open", "read", "fstat", "close", "close"]


def test_what_is_not_settled_is_seen_from_outside_and_a_spare_is_nothing_of_it(at: Plot) -> None:
    journal = at.state / "journal"
    _there_and_back(at)
    assert list(standing(journal)) == []
    _die(at, "datasync", 0)
    (begun_in,) = _names(at)
    assert begun_in.name.endswith(SPARE) and list(standing(journal)) == [begun_in.name]
    recover(at.workspace, at.state)
    assert list(standing(journal)) == []
    apply(at.proposal, at.workspace, at.state, Unsynced())
    assert list(standing(journal)) == ["change-001.apply.clean"]


# What is not written into


def _linked(spare: Path, precious: Path) -> None:
    spare.unlink()
    spare.symlink_to(precious)


def _hard_linked(spare: Path, precious: Path) -> None:
    precious.unlink()
    os.link(spare, precious)


def _piped(spare: Path, precious: Path) -> None:
    spare.unlink()
    os.mkfifo(spare)


def _large(spare: Path, precious: Path) -> None:
    os.truncate(spare, 1 << 40)


def _foreign(spare: Path, precious: Path) -> None:
    spare.unlink()
    spare.write_bytes(b"somebody's\n")
    precious.unlink()
    os.link(spare, precious)


def _not_free(spare: Path, precious: Path) -> None:
    spare.write_bytes(encode(_record(spare.name.partition(".")[0])))


@pytest.mark.parametrize("spoil", [_linked, _hard_linked, _piped, _large, _foreign, _not_free])
def test_a_spare_that_is_not_known_to_be_free_and_ours_alone_is_not_written_into(
    spoil: Callable[[Path, Path], None], at: Plot
) -> None:
    _there_and_back(at)
    (spare,) = _names(at)
    precious = at.root.parent / "precious"
    precious.write_bytes(b"precious\n")
    spoil(spare, precious)
    held = precious.read_bytes()
    spoilt = os.open(spare, os.O_PATH | os.O_NOFOLLOW)
    assert recover(at.workspace, at.state) == Recovery()
    apply(at.proposal, at.workspace, at.state)
    assert at.tree == ONE.after and precious.read_bytes() == held
    (record,) = _names(at)
    assert record.name == "change-001.apply.clean" and record.stat().st_ino != os.fstat(spoilt).st_ino
    os.close(spoilt)
    acknowledge(at.state, "change-001")
    assert recover(at.workspace, at.state) == Recovery()


# What an earlier version wrote


def _as_before(record: Path) -> None:
    """Write a record as the version before this one did."""
    body = record.read_bytes().partition(b"\n")[2].rstrip(b"\n")
    head = b"steward-journal-2 %d %s\n" % (len(body), sha256(body).hexdigest().encode("ascii"))
    record.write_bytes(head + body)
    assert json.loads(body)["id"] == "change-001"


@pytest.mark.parametrize(
    ("operation", "which", "phase"),
    [("rename", 0, "intent"), ("exchange", 0, "switching"), ("unlink", 0, "committed")],
)
def test_records_of_an_earlier_version_are_taken_back_or_finished(
    operation: str, which: int, phase: str, tmp_path: Path
) -> None:
    with plot(PAIR, tmp_path) as at:
        seen = Watched(Unsynced())
        apply(at.proposal, at.workspace, at.state, seen)
        at.reset()
        moment = [n for n, name in enumerate(seen.names) if name == operation][which] + 1
        dying = CutAt(Unsynced(), moment)
        with pytest.raises(Cut):
            apply(at.proposal, at.workspace, at.state, dying)
        dying.reap()
        (record,) = _names(at)
        _as_before(record)
        record = record.rename(record.with_suffix(f".{phase}"))
        if phase == "intent":
            # A stage had its name from the beginning.
            stage = decode(record.name, record.read_bytes()).entries[0].stage
            (at.root / stage).write_bytes(b"half of the n")
        done = phase == "committed"
        assert bool(recover(at.workspace, at.state).committed) is done
        assert at.tree == (PAIR.after if done else PAIR.before)
        acknowledge(at.state, "change-001")
        assert at.journal == [] and recover(at.workspace, at.state) == Recovery()


def test_drafts_of_an_earlier_version_are_swept(at: Plot) -> None:
    with opened(at.state, Disk(), create=True):
        pass
    draft = at.state / "journal" / "change-001.apply.00aa.tmp"
    draft.write_bytes(encode(_record("aa")))
    _as_before(draft)
    assert recover(at.workspace, at.state) == Recovery() and _names(at) == []


def test_a_full_disk_forgets_a_record_without_another_name(tmp_path: Path) -> None:
    with plot(SMALL, tmp_path) as at:

        class Full(Unsynced):
            def rename(self, old: str, new: str, *, at: int) -> None:
                if new.endswith(SPARE):
                    raise OSError(28, "no room")
                super().rename(old, new, at=at)

        apply(at.proposal, at.workspace, at.state, Full())
        acknowledge(at.state, "change-001", Full())
        assert _names(at) == [] and at.tree == SMALL.after
