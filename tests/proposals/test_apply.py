"""What apply writes, what it keeps, and what it refuses, on the real disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import ApplyFailed, Conflict, PathRefused, StaleProposal, StewardError, WrongStatus
from steward.proposals.apply import apply
from steward.proposals.proposal import FileChange, Proposal
from steward.proposals.recover import acknowledge, recover
from steward.workspace import Workspace
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, PAIR, SMALL, SWAPPED, Scene, applied
from tests.proposals.watched import Lacking, Unsynced, VisitBefore, Watched


@pytest.fixture
def everything(tmp_path: Path) -> Generator[Plot]:
    with plot(EVERYTHING, tmp_path) as at:
        yield at


@pytest.fixture
def pair(tmp_path: Path) -> Generator[Plot]:
    with plot(PAIR, tmp_path) as at:
        yield at


def _one(at: Plot, change: FileChange) -> Proposal:
    return Proposal("change-001", "One file", "2026-01-01T00:00:00Z", (change,), at.workspace.identity)


def _identity(path: Path) -> tuple[int, int, int]:
    """What any write, and any change of mode, would change."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def test_every_kind_of_change_is_written_with_nothing_left_over(everything: Plot) -> None:
    done = apply(everything.proposal, everything.workspace, everything.state)
    assert everything.tree == EVERYTHING.after
    assert done.warnings == ()
    assert set(done.paths) == {p for c in EVERYTHING.changes for p in (c.path, c.source)}
    assert sorted(os.listdir(everything.state)) == ["journal", "lock"]


def test_files_that_trade_names_and_a_new_file_in_a_freed_name_come_out_right(tmp_path: Path) -> None:
    with plot(SWAPPED, tmp_path) as at:
        apply(at.proposal, at.workspace, at.state)
        assert at.tree == SWAPPED.after


def test_the_state_directory_is_private(pair: Plot) -> None:
    apply(pair.proposal, pair.workspace, pair.state)
    for directory, _, files in os.walk(pair.state):
        assert stat.S_IMODE(Path(directory).stat().st_mode) == 0o700
        assert all(stat.S_IMODE(Path(directory, name).stat().st_mode) == 0o600 for name in files)


@pytest.mark.parametrize("count", [1, 20])
def test_a_change_syncs_each_file_and_four_times_besides_and_the_first_one_once_more(
    count: int, tmp_path: Path
) -> None:
    files = {f"f{number}.txt": (b"old\n", 0o644) for number in range(count)}
    changes = tuple(FileChange(path, "modify", b"old\n", b"new\n", 0o644, 0o644) for path in files)
    with plot(Scene(files, changes), tmp_path) as at:
        at.state.mkdir()
        (at.state / "journal").mkdir(mode=0o700)
        for besides in (5, 4):
            at.again()
            disk = Watched(Unsynced())
            apply(at.proposal, at.workspace, at.state, disk)
            assert disk.names.count("fsync") + disk.names.count("datasync") == count + besides
            assert at.tree == at.scene.after
            disk = Watched(Unsynced())
            acknowledge(at.state, at.proposal.id, disk)
            assert disk.names.count("fsync") + disk.names.count("datasync") == 1


def test_a_journal_whose_maker_died_is_on_the_disk_before_anything_is_written_to_it(pair: Plot) -> None:
    pair.state.mkdir()
    journal = pair.state / "journal"
    journal.mkdir(mode=0o500)
    disk = Watched(Unsynced())
    apply(pair.proposal, pair.workspace, pair.state, disk)
    syncs = [number for number, name in enumerate(disk.names) if name == "fsync"]
    assert disk.names.index("chmod") > syncs[1] and disk.names.index("chmod") < disk.names.index("write")
    assert stat.S_IMODE(journal.stat().st_mode) == 0o700


def test_nothing_of_the_files_contents_enters_the_journal(pair: Plot) -> None:
    apply(pair.proposal, pair.workspace, pair.state)
    (name,) = pair.journal
    assert b"old a" not in (pair.state / "journal" / name).read_bytes()


def _write(path: Path) -> None:
    path.write_bytes(b"old b, changed\n")


def _same_length(path: Path) -> None:
    path.write_bytes(b"OLD b\n")


def _mode(path: Path) -> None:
    path.chmod(0o755)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def _hard_link(path: Path) -> None:
    os.link(path, path.with_name("second"))


def _read_only(path: Path) -> None:
    path.chmod(0o444)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _giant(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 40)


def _parent_link(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))
    path.parent.symlink_to("moved")


def _parent_file(path: Path) -> None:
    path.unlink()
    path.parent.rmdir()
    path.parent.write_bytes(b"")


CHANGED: dict[str, tuple[Callable[[Path], None], str]] = {
    "other bytes": (_write, "holds other bytes"),
    "other bytes of the same length": (_same_length, "holds other bytes"),
    "another mode": (_mode, "has mode 0755 and had 0644"),
    "gone": (Path.unlink, "is gone"),
    "a symbolic link": (_link, "is a symbolic link now"),
    "a hard link": (_hard_link, "is a hard link"),
    "read-only": (_read_only, "has mode 0444"),
    "a directory": (_directory, "is not a regular file any more"),
    "a pipe": (_pipe, "is not a regular file any more"),
    "a sparse giant": (_giant, "holds other bytes"),
    "below a link": (_parent_link, "symbolic link"),
    "below a file": (_parent_file, "is not a directory"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_file_that_changed_makes_the_change_stale_and_nothing_is_touched(name: str, pair: Plot) -> None:
    change, reason = CHANGED[name]
    change(pair.root / "d" / "b.txt")
    untouched = _identity(pair.root / "a.txt")
    with pytest.raises(StaleProposal, match=reason) as caught:
        apply(pair.proposal, pair.workspace, pair.state)
    assert caught.value.paths == ("d/b.txt",)
    assert (pair.root / "a.txt").read_bytes() == b"old a\n"
    assert _identity(pair.root / "a.txt") == untouched
    assert not list(pair.root.rglob(".steward-*")) and pair.journal == []


def test_all_files_that_changed_are_named(pair: Plot) -> None:
    _write(pair.root / "a.txt")
    (pair.root / "d" / "b.txt").unlink()
    with pytest.raises(StaleProposal) as caught:
        apply(pair.proposal, pair.workspace, pair.state)
    assert caught.value.paths == ("a.txt", "d/b.txt")


def test_a_new_file_never_replaces_one_that_appeared(tmp_path: Path) -> None:
    with plot(SMALL, tmp_path) as at:
        (at.root / "n").mkdir()
        (at.root / "n" / "c.txt").write_bytes(b"somebody's\n")
        with pytest.raises(StaleProposal, match=r"n/c\.txt exists now"):
            apply(at.proposal, at.workspace, at.state)
        assert (at.root / "n" / "c.txt").read_bytes() == b"somebody's\n"


@pytest.mark.parametrize("dangling", [True, False])
def test_a_new_file_is_never_written_through_a_link(dangling: bool, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    if not dangling:
        outside.write_bytes(b"outside\n")
    with plot(SMALL, tmp_path) as at:
        (at.root / "n").mkdir()
        (at.root / "n" / "c.txt").symlink_to(outside)
        with pytest.raises(StaleProposal):
            apply(at.proposal, at.workspace, at.state)
        assert outside.exists() != dangling and (dangling or outside.read_bytes() == b"outside\n")


def test_a_directory_moved_out_of_the_workspace_meanwhile_gets_its_old_file_back(tmp_path: Path) -> None:
    with plot(PAIR, tmp_path) as at:
        away = tmp_path / "away"

        def visit(number: int) -> None:
            if not away.exists() and b"the new b\n" in [p.read_bytes() for p in (at.root / "d").iterdir()]:
                (at.root / "d").rename(away)

        with pytest.raises(StaleProposal, match="directory was moved"):
            apply(at.proposal, at.workspace, at.state, VisitBefore(Unsynced(), visit))
        assert (at.root / "a.txt").read_bytes() == b"old a\n"
        assert [p.name for p in away.iterdir()] == ["b.txt"] and (away / "b.txt").read_bytes() == b"old b\n"


def test_a_directory_replaced_by_a_link_at_any_moment_never_leads_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_bytes(b"old b\n")
    with plot(PAIR, tmp_path) as at:
        number = 0
        while True:
            at.reset()

            def visit(operation: int, moment: int = number) -> None:
                if operation == moment:
                    (at.root / "d").rename(at.root / "e")
                    (at.root / "d").symlink_to(outside)

            disk = VisitBefore(Unsynced(), visit)
            try:
                apply(at.proposal, at.workspace, at.state, disk)
            except StewardError:
                pass
            assert {p.name: p.read_bytes() for p in outside.iterdir()} == {"b.txt": b"old b\n"}, number
            if len(disk.names) <= number:
                break
            number += 1
        assert number > 100


def test_a_protected_path_is_refused(pair: Plot) -> None:
    change = FileChange(".git/hooks/post-commit", "create", None, b"#!/bin/sh\n", None, 0o755)
    with pytest.raises(PathRefused):
        apply(_one(pair, change), pair.workspace, pair.state)
    assert pair.tree == PAIR.before


def test_a_change_of_another_workspace_is_refused(pair: Plot) -> None:
    with pytest.raises(Conflict, match="another workspace"):
        apply(PAIR.proposal("ffffffffffffffff"), pair.workspace, pair.state)
    assert pair.tree == PAIR.before


def test_only_a_pending_change_is_applied(pair: Plot) -> None:
    with pytest.raises(WrongStatus):
        apply(applied(pair.proposal), pair.workspace, pair.state)
    with pytest.raises(WrongStatus):
        apply(replace(pair.proposal, status="discarded"), pair.workspace, pair.state)
    assert pair.tree == PAIR.before


def test_a_change_that_is_applied_and_not_yet_recorded_is_not_applied_twice(pair: Plot) -> None:
    apply(pair.proposal, pair.workspace, pair.state)
    with pytest.raises(WrongStatus):
        apply(pair.proposal, pair.workspace, pair.state)
    assert recover(pair.workspace, pair.state).committed == ("change-001",)
    acknowledge(pair.state, "change-001")
    assert recover(pair.workspace, pair.state).committed == ()
    with pytest.raises(StaleProposal):
        apply(pair.proposal, pair.workspace, pair.state)


def test_two_files_of_one_change_cannot_write_one_path(pair: Plot) -> None:
    twice = replace(pair.proposal, files=(PAIR.changes[0], PAIR.changes[0]))
    with pytest.raises(ApplyFailed, match=r"Two parts of the change write a\.txt"):
        apply(twice, pair.workspace, pair.state)
    assert pair.tree == PAIR.before


def test_a_file_that_is_as_wished_already_is_left_alone(pair: Plot) -> None:
    same = FileChange("a.txt", "modify", b"old a\n", b"old a\n", 0o644, 0o644)
    before = _identity(pair.root / "a.txt")
    done = apply(_one(pair, same), pair.workspace, pair.state)
    assert done.paths == () and _identity(pair.root / "a.txt") == before and pair.journal == []


@pytest.mark.parametrize(
    "name", ["with space", "tab\there", "neu\u00e9", "e\u0301", "new\nline", "-rf", "\U0001f600", "x" * 255]
)
def test_names_of_all_kinds_are_written(name: str, pair: Plot) -> None:
    apply(_one(pair, FileChange(name, "create", None, b"x", None, 0o644)), pair.workspace, pair.state)
    assert (pair.root / name).read_bytes() == b"x"


def test_bytes_of_all_kinds_are_written_as_they_are(pair: Plot) -> None:
    data = bytes(range(256)) * 9000 + b"no newline\r"
    apply(_one(pair, FileChange("x", "create", None, data, None, 0o644)), pair.workspace, pair.state)
    assert (pair.root / "x").read_bytes() == data


def test_a_disk_that_takes_little_at_a_time_gets_all(pair: Plot) -> None:
    class Sipping(Unsynced):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            return super().write(fd, data[:3])

        def read(self, fd: int, size: int) -> bytes:
            return super().read(fd, min(size, 3))

    apply(pair.proposal, pair.workspace, pair.state, Sipping())
    assert pair.tree == PAIR.after


@pytest.mark.parametrize(
    "missing", [("exchange",), ("exchange", "rename_new"), ("exchange", "rename_new", "link")]
)
@pytest.mark.parametrize("scene", [EVERYTHING, SWAPPED], ids=["everything", "swapped"])
def test_where_files_cannot_be_exchanged_all_is_written_and_the_window_is_told(
    scene: Scene, missing: tuple[str, ...], tmp_path: Path
) -> None:
    with plot(scene, tmp_path) as at:
        done = apply(at.proposal, at.workspace, at.state, Lacking(*missing))
        assert at.tree == scene.after
        assert "cannot exchange two files in one step" in done.warnings[0]
        assert any("only look before it renames" in text for text in done.warnings) == ("link" in missing)
        assert recover(at.workspace, at.state).committed == ("change-001",)


def test_a_file_written_through_an_open_descriptor_after_the_commit_is_kept_and_told(pair: Plot) -> None:
    held = os.open(pair.root / "a.txt", os.O_WRONLY | os.O_APPEND)
    try:
        watched = Watched(Unsynced())
        with plot(PAIR, pair.root.parent / "other") as other:
            apply(other.proposal, other.workspace, other.state, watched)
        commit = max(
            number
            for number, name in enumerate(watched.names[:-1])
            if name == "fsync" and watched.names[number - 1] == "rename"
        )

        def visit(number: int) -> None:
            if number == commit:
                os.write(held, b"late words\n")

        done = apply(pair.proposal, pair.workspace, pair.state, VisitBefore(Unsynced(), visit))
    finally:
        os.close(held)
    (kept,) = pair.root.glob(".steward-kept-*")
    assert kept.read_bytes() == b"old a\nlate words\n"
    assert done.warnings == (
        f"a.txt was changed by another program at the same time; the version that gave way is kept as {kept.name}.",
    )
    assert (pair.root / "a.txt").read_bytes() == b"the new a\n"


def test_a_failed_clean_up_after_the_commit_is_a_warning_and_follows_later(pair: Plot) -> None:
    class Sticky(Unsynced):
        def unlink(self, name: str, *, at: int) -> None:
            if name.startswith(".steward-"):
                raise OSError(5, "Input/output error")
            super().unlink(name, at=at)

    done = apply(pair.proposal, pair.workspace, pair.state, Sticky())
    assert done.warnings == (
        "change-001 is applied; clean-up is unfinished and follows when steward next starts.",
    )
    assert list(pair.root.glob(".steward-*"))
    acknowledge(pair.state, "change-001")
    assert recover(pair.workspace, pair.state).committed == ()
    assert pair.tree == PAIR.after and pair.journal == []


def test_apply_works_in_both_ways_of_opening_paths(tmp_path: Path) -> None:
    for engine in ("openat2", "walk"):
        with plot(EVERYTHING, tmp_path / engine) as at, Workspace.open(at.root, engine=engine) as workspace:
            apply(at.proposal, workspace, at.state)
            assert at.tree == EVERYTHING.after
