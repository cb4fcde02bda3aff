"""Recovery: what it reports, what it refuses, and what it never touches."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import Busy, StewardError, StorageError
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.lock import locked
from steward.proposals.recover import Recovery, acknowledge, recover
from steward.proposals.undo import reversed_files
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import PAIR, SMALL
from tests.proposals.watched import Cut, CutAt, Unsynced, Watched


@pytest.fixture
def at(tmp_path: Path) -> Generator[Plot]:
    with plot(PAIR, tmp_path) as there:
        yield there


def _moment(at: Plot, name: str, which: int = -1) -> int:
    """The number of the ``which``-th operation of a name in a whole apply."""
    disk = Watched(Unsynced())
    apply(at.proposal, at.workspace, at.state, disk)
    at.reset()
    return [number for number, operation in enumerate(disk.names) if operation == name][which]


def _die(at: Plot, moment: int) -> None:
    disk = CutAt(Unsynced(), moment)
    with pytest.raises(Cut):
        apply(at.proposal, at.workspace, at.state, disk)
    disk.reap()


def _halfway(at: Plot) -> None:
    """Die between the switch of the first file and that of the second."""
    _die(at, _moment(at, "exchange", 1))
    assert at.tree["a.txt"][2] == b"the new a\n" and at.tree["d/b.txt"][2] == b"old b\n"


def test_a_workspace_without_a_state_directory_has_nothing_to_recover(at: Plot) -> None:
    assert recover(at.workspace, at.state) == Recovery()
    assert not at.state.exists()
    acknowledge(at.state, "change-001")


def test_half_a_change_is_taken_back_and_told(at: Plot) -> None:
    _halfway(at)
    recovery = recover(at.workspace, at.state)
    assert recovery.rolled_back == ("change-001",)
    assert recovery.notes == ("Applying change-001 was cut off; all of its files are as they were before.",)
    assert at.tree == PAIR.before and at.journal == []
    assert recover(at.workspace, at.state) == Recovery()


def test_apply_recovers_by_itself_before_it_begins(at: Plot) -> None:
    _halfway(at)
    done = apply(PAIR.proposal(at.workspace.identity, "change-002"), at.workspace, at.state)
    assert at.tree == PAIR.after
    assert done.warnings == ("Applying change-001 was cut off; all of its files are as they were before.",)


def test_a_committed_change_is_told_until_it_is_acknowledged(at: Plot) -> None:
    apply(at.proposal, at.workspace, at.state)
    for _ in range(3):
        assert recover(at.workspace, at.state).committed == ("change-001",)
    acknowledge(at.state, "change-002")
    assert recover(at.workspace, at.state).committed == ("change-001",)
    acknowledge(at.state, "change-001")
    assert recover(at.workspace, at.state) == Recovery()


def test_recovery_tells_which_stamp_was_committed_so_that_a_reused_id_is_noticed(at: Plot) -> None:
    apply(at.proposal, at.workspace, at.state)
    assert recover(at.workspace, at.state).stamps == {"change-001": at.proposal.stamp}
    # The database was lost, and its ids begin again.
    other = replace(at.proposal, files=reversed_files(at.proposal))
    apply(other, at.workspace, at.state)
    assert at.tree == PAIR.before
    assert recover(at.workspace, at.state).stamps == {"change-001": other.stamp}


def test_the_state_directory_may_lie_behind_a_link(at: Plot) -> None:
    (at.root.parent / "far" / "away").mkdir(parents=True)
    at.state.symlink_to(at.root.parent / "far" / "away")
    apply(at.proposal, at.workspace, at.state)
    assert recover(at.workspace, at.state / "below") == Recovery()
    assert recover(at.workspace, at.state).committed == ("change-001",)


def test_an_edit_after_the_commit_is_not_touched_by_recovery(at: Plot) -> None:
    apply(at.proposal, at.workspace, at.state)
    (at.root / "a.txt").write_bytes(b"edited after it\n")
    assert recover(at.workspace, at.state).committed == ("change-001",)
    assert (at.root / "a.txt").read_bytes() == b"edited after it\n"


def test_an_edit_of_the_new_version_before_the_cut_is_kept_in_its_place(at: Plot) -> None:
    _halfway(at)
    (at.root / "a.txt").write_bytes(b"edited half way\n")
    recovery = recover(at.workspace, at.state)
    (kept,) = at.root.glob(".steward-kept-*")
    assert (at.root / "a.txt").read_bytes() == b"edited half way\n" and kept.read_bytes() == b"old a\n"
    assert f"kept as {kept.name}" in recovery.notes[1]
    assert at.tree["d/b.txt"][2] == b"old b\n"


def test_a_file_of_the_half_change_that_was_removed_comes_back(at: Plot) -> None:
    _halfway(at)
    (at.root / "a.txt").unlink()
    recover(at.workspace, at.state)
    assert at.tree == PAIR.before


def test_a_directory_that_is_gone_is_told_and_hinders_nothing(at: Plot) -> None:
    _die(at, _moment(at, "exchange", 1) + 1)
    (at.root / "d").rename(at.root.parent / "elsewhere")
    recovery = recover(at.workspace, at.state)
    assert "The directory d of d/b.txt is no longer where it was" in " ".join(recovery.notes)
    assert at.tree["a.txt"][2] == b"old a\n" and at.journal == []


def test_a_directory_that_became_a_link_is_not_followed(at: Plot) -> None:
    outside = at.root.parent / "outside"
    _die(at, _moment(at, "exchange", 1) + 1)
    (at.root / "d").rename(outside)
    (at.root / "d").symlink_to(outside)
    held = {p.name: p.read_bytes() for p in outside.iterdir()}
    recover(at.workspace, at.state)
    assert {p.name: p.read_bytes() for p in outside.iterdir()} == held


def _record(at: Plot) -> Path:
    (name,) = at.journal
    return at.state / "journal" / name


def _truncated(data: bytes) -> bytes:
    return data.rstrip(b"\n")[:-1]


def _emptied(data: bytes) -> bytes:
    return b""


def _flipped(data: bytes) -> bytes:
    last = len(data.rstrip(b"\n")) - 20
    return data[:last] + bytes([data[last] ^ 1]) + data[last + 1 :]


def _zeros(data: bytes) -> bytes:
    return bytes(len(data))


def _newer(data: bytes) -> bytes:
    return data.replace(b"steward-journal-3", b"steward-journal-9", 1)


def _binary(data: bytes) -> bytes:
    return b"\xff\xfe\n" + data


@pytest.mark.parametrize("damage", [_truncated, _emptied, _flipped, _zeros, _newer, _binary])
def test_a_record_that_cannot_be_read_is_refused_and_explained_and_nothing_is_touched(
    damage: Callable[[bytes], bytes], at: Plot
) -> None:
    _halfway(at)
    record = _record(at)
    record.write_bytes(damage(record.read_bytes()))
    before = at.tree
    for act in (
        lambda: recover(at.workspace, at.state),
        lambda: apply(PAIR.proposal(at.workspace.identity, "change-002"), at.workspace, at.state),
        lambda: acknowledge(at.state, "change-001"),
    ):
        with pytest.raises(StorageError, match=r"change-001\.apply\.switching .* cannot be read"):
            act()
    assert at.tree == before and _record(at) == record


def test_one_damaged_record_keeps_the_others_from_being_acted_on(at: Plot) -> None:
    _halfway(at)
    (at.state / "journal" / "change-002.apply.committed").write_bytes(b"junk")
    before = at.tree
    with pytest.raises(StorageError, match="change-002"):
        recover(at.workspace, at.state)
    assert at.tree == before


def test_a_record_of_another_workspace_is_refused(at: Plot, tmp_path: Path) -> None:
    _halfway(at)
    with plot(PAIR, tmp_path / "other") as other:
        other.state.parent.mkdir(exist_ok=True)
        at.state.rename(other.state)
        with pytest.raises(StorageError, match="belongs to another workspace"):
            recover(other.workspace, other.state)
        assert other.tree == PAIR.before


def test_a_record_cannot_lead_out_of_the_workspace(at: Plot) -> None:
    _halfway(at)
    head, body = _record(at).read_bytes().split(b"\n", 1)
    shape = json.loads(body.rstrip(b"\n"))
    outside = at.root.parent / "outside.txt"
    outside.write_bytes(b"the new a\n")
    shape["entries"][0]["path"] = "../outside.txt"
    forged = json.dumps(shape).encode()
    _record(at).write_bytes(
        b"%s %d %s\n" % (head.rsplit(b" ", 2)[0], len(forged), hashlib.sha256(forged).hexdigest().encode())
        + forged
    )
    with pytest.raises(StewardError):
        recover(at.workspace, at.state)
    assert outside.read_bytes() == b"the new a\n"


def test_recovery_while_another_process_applies_is_busy(at: Plot) -> None:
    _halfway(at)
    before = at.tree
    with locked(at.state, Disk()), pytest.raises(Busy) as caught:
        recover(at.workspace, at.state)
    assert caught.value.holder == os.getpid()
    assert at.tree == before


def test_a_file_that_somebody_makes_after_a_cut_stays_though_the_change_would_have_made_the_same(
    tmp_path: Path,
) -> None:
    with plot(SMALL, tmp_path) as at:
        seen = Watched(Unsynced())
        apply(at.proposal, at.workspace, at.state, seen)
        at.reset()
        renames = [number for number, name in enumerate(seen.names) if name == "rename"]
        _die(at, max(number for number in renames if number < seen.names.index("exchange")))
        (at.root / "n" / "c.txt").write_bytes(b"created\n")
        assert recover(at.workspace, at.state).rolled_back == ("change-001",)
        assert at.tree == {**SMALL.before, **{path: at.tree[path] for path in ("n", "n/c.txt")}}


def test_directories_made_for_a_change_that_was_cut_off_go_unless_somebody_uses_them(tmp_path: Path) -> None:
    for used in (False, True):
        with plot(SMALL, tmp_path / str(used)) as at:
            _die(at, _moment(at, "rename_new") + 1)
            if used:
                (at.root / "n" / "mine.txt").write_bytes(b"mine\n")
            recover(at.workspace, at.state)
            assert (at.root / "n").exists() == used
            assert not (at.root / "n" / "c.txt").exists()
