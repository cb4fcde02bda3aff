"""Undo brings back exactly what a change replaced, by the same protocol, and only where its result still stands."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import NoLongerKept, StaleProposal, WrongStatus
from steward.proposals.apply import apply
from steward.proposals.proposal import FileChange, Remains
from steward.proposals.recover import acknowledge, recover
from steward.proposals.undo import reversed_files, undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, SWAPPED, Scene, applied
from tests.proposals.watched import Lacking, Unsynced


@pytest.fixture(params=[EVERYTHING, SWAPPED], ids=["everything", "swapped"])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Plot]:
    scene: Scene = request.param
    with plot(scene, tmp_path) as there:
        apply(there.proposal, there.workspace, there.state, Unsynced())
        acknowledge(there.state, "change-001", Unsynced())
        yield there


def test_undo_brings_back_every_byte_and_mode(at: Plot) -> None:
    done = undo(applied(at.proposal), at.workspace, at.state)
    assert at.tree == at.scene.before
    assert done.warnings == ()
    assert recover(at.workspace, at.state).undone == ("change-001",)
    acknowledge(at.state, "change-001")
    assert at.journal == []


def test_undo_leaves_no_empty_directory_behind_but_every_one_that_is_in_use(tmp_path: Path) -> None:
    changes = tuple(
        FileChange(path, "create", None, b"new\n", None, 0o644) for path in ("a/b/c/x", "a/b/d/y", "e/f/z")
    )
    scene = Scene({"e/old": (b"old\n", 0o644)}, changes)
    with plot(scene, tmp_path) as there:
        apply(there.proposal, there.workspace, there.state)
        acknowledge(there.state, "change-001")
        (there.root / "a" / "b" / "d" / "mine").write_bytes(b"mine\n")
        undo(applied(there.proposal), there.workspace, there.state)
        assert sorted(p for p, f in there.tree.items() if f[0] == "directory") == ["a", "a/b", "a/b/d", "e"]
        assert (there.root / "a" / "b" / "d" / "mine").read_bytes() == b"mine\n"


def test_a_change_whose_bytes_are_no_longer_kept_is_not_undone(at: Plot) -> None:
    gone = tuple(
        replace(file, base=None, result=None, remains=Remains(file.base_sha256, file.result_sha256, 1, 1))
        for file in at.proposal.files
    )
    with pytest.raises(NoLongerKept):
        undo(replace(applied(at.proposal), files=gone), at.workspace, at.state)
    assert at.tree == at.scene.after


def test_undo_works_where_files_cannot_be_exchanged(at: Plot) -> None:
    undo(applied(at.proposal), at.workspace, at.state, Lacking("exchange"))
    assert at.tree == at.scene.before


def test_a_change_can_be_applied_again_after_its_undo(at: Plot) -> None:
    undo(applied(at.proposal), at.workspace, at.state)
    acknowledge(at.state, "change-001")
    apply(at.proposal, at.workspace, at.state)
    assert at.tree == at.scene.after


def test_undo_touches_nothing_when_one_result_was_changed_since(at: Plot) -> None:
    path = at.scene.changes[0].path
    (at.root / path).write_bytes(b"edited since\n")
    before = at.tree
    with pytest.raises(StaleProposal) as caught:
        undo(applied(at.proposal), at.workspace, at.state)
    assert caught.value.paths == (path,)
    assert at.tree == before


def test_undo_leaves_what_was_written_beside_the_change(at: Plot) -> None:
    (at.root / "new.txt").write_bytes(b"later work\n")
    undo(applied(at.proposal), at.workspace, at.state)
    assert (at.root / "new.txt").read_bytes() == b"later work\n"


def test_only_an_applied_change_is_undone(at: Plot) -> None:
    with pytest.raises(WrongStatus):
        undo(at.proposal, at.workspace, at.state)
    with pytest.raises(WrongStatus):
        undo(replace(at.proposal, status="undone"), at.workspace, at.state)
    assert at.tree == at.scene.after


def test_a_change_whose_apply_is_not_recorded_yet_is_not_undone(tmp_path: Path) -> None:
    with plot(EVERYTHING, tmp_path) as there:
        apply(there.proposal, there.workspace, there.state)
        with pytest.raises(WrongStatus, match="not recorded yet"):
            undo(applied(there.proposal), there.workspace, there.state)
        assert there.tree == EVERYTHING.after


def test_reversing_twice_is_the_change_itself(at: Plot) -> None:
    back = replace(at.proposal, files=reversed_files(at.proposal))
    plain = tuple(replace(file, edits=()) for file in at.proposal.files)
    assert reversed_files(back) == plain


def test_undo_restores_the_attributes_of_a_renamed_file(tmp_path: Path) -> None:
    scene = Scene(
        {"a": (b"x", 0o4750)}, (FileChange("b", "rename", b"x", b"y", 0o4750, 0o4750, old_path="a"),)
    )
    with plot(scene, tmp_path) as there:
        os.setxattr(there.root / "a", "user.origin", b"here")
        apply(there.proposal, there.workspace, there.state)
        acknowledge(there.state, "change-001")
        undo(applied(there.proposal), there.workspace, there.state)
        assert there.tree == scene.before
        assert os.getxattr(there.root / "a", "user.origin") == b"here"
