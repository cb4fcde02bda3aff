"""A process that dies, or a disk that fails, at every single operation of apply, undo, acknowledge and recovery."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from steward.errors import StewardError, StorageError
from steward.proposals.apply import Applied, apply
from steward.proposals.disk import Disk
from steward.proposals.recover import Recovery, acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, PAIR, SMALL, Scene, applied
from tests.proposals.watched import OPERATIONS, Cut, CutAt, FailAt, Unsynced, Watched

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EMFILE, errno.EINTR)
SCENES = pytest.mark.parametrize("scene", [SMALL, EVERYTHING], ids=["small", "everything"])


def _descriptors() -> int:
    return len(os.listdir("/dev/fd"))


def _apply(at: Plot, disk: Disk) -> Applied:
    return apply(at.proposal, at.workspace, at.state, disk)


def _undo(at: Plot, disk: Disk) -> Applied:
    return undo(applied(at.proposal), at.workspace, at.state, disk)


def _apply_to_end(at: Plot) -> None:
    _apply(at, Unsynced())
    acknowledge(at.state, "change-001", Unsynced())


def _settled(at: Plot, before: object, after: object) -> bool:
    """Recover, and check that it is all or nothing; whether it is all."""
    recovery = recover(at.workspace, at.state, Unsynced())
    done = bool(recovery.committed or recovery.undone)
    assert at.tree == (after if done else before)
    assert at.journal == [] or done
    return done


@SCENES
def test_every_operation_of_the_seam_is_used(scene: Scene, tmp_path: Path) -> None:
    with plot(scene, tmp_path) as at:
        os.setxattr(at.root / "a.txt", "user.test", b"value")
        disk = Watched(Unsynced())
        _apply(at, disk)
        acknowledge(at.state, "change-001", disk)
        _undo(at, disk)
        assert set(OPERATIONS) - set(disk.names) <= {"chown", "link", "removexattr", "rmdir"}


@SCENES
@pytest.mark.parametrize("what", ["apply", "undo"])
def test_a_death_before_any_operation_leaves_all_or_nothing(scene: Scene, what: str, tmp_path: Path) -> None:
    act, before, after = (
        (_apply, scene.before, scene.after) if what == "apply" else (_undo, scene.after, scene.before)
    )
    outcomes: list[bool] = []
    with plot(scene, tmp_path) as at:
        number = 0
        while True:
            at.reset()
            if what == "undo":
                _apply_to_end(at)
            disk = CutAt(Unsynced(), number)
            try:
                act(at, disk)
            except Cut:
                disk.reap()
            else:
                break
            outcomes.append(_settled(at, before, after))
            number += 1
    assert number > 100
    # Nothing up to one moment, everything from there on.
    assert outcomes == sorted(outcomes) and outcomes[0] is False and outcomes[-1] is True


def test_a_death_before_any_operation_of_recovery_is_recovered_from(tmp_path: Path) -> None:
    scene = SMALL
    recoveries = 0
    with plot(scene, tmp_path) as at:
        watched = Watched(Unsynced())
        _apply(at, watched)
        mutating = {"rename", "rename_new", "exchange", "unlink", "mkdir", "write", "open"}
        moments = [n + 1 for n, name in enumerate(watched.names) if name in mutating]
        for moment in moments[:: max(1, len(moments) // 14)]:
            number = 0
            while True:
                at.reset()
                dying = CutAt(Unsynced(), moment)
                with pytest.raises(Cut):
                    _apply(at, dying)
                dying.reap()
                again = CutAt(Unsynced(), number)
                try:
                    recover(at.workspace, at.state, again)
                except Cut:
                    again.reap()
                else:
                    break
                _settled(at, scene.before, scene.after)
                recoveries += 1
                number += 1
    assert recoveries > 300


@pytest.mark.parametrize("what", ["apply", "undo"])
@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[n] for n in ERRORS])
def test_an_error_at_any_operation_is_one_sentence_and_leaves_all_or_nothing(
    what: str, number: int, tmp_path: Path
) -> None:
    _fail_everywhere(SMALL, tmp_path, what, (number,))


def test_an_error_at_any_operation_of_a_change_that_only_replaces_leaves_all_or_nothing(
    tmp_path: Path,
) -> None:
    _fail_everywhere(PAIR, tmp_path, "undo", ERRORS)


@pytest.mark.parametrize("what", ["apply", "undo"])
def test_an_error_at_any_operation_of_a_larger_change_leaves_all_or_nothing(
    what: str, tmp_path: Path
) -> None:
    _fail_everywhere(EVERYTHING, tmp_path, what, ERRORS)


@pytest.mark.parametrize("what", ["apply", "undo"])
@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[n] for n in ERRORS])
def test_a_disk_that_fails_for_good_leaves_all_or_nothing_to_recovery(
    what: str, number: int, tmp_path: Path
) -> None:
    _fail_everywhere(SMALL, tmp_path, what, (number,), forever=True)


def _fail_everywhere(
    scene: Scene, tmp_path: Path, what: str, errors: tuple[int, ...], *, forever: bool = False
) -> None:
    """Fail at every operation, with each of the errors in turn."""
    act, before, after = (
        (_apply, scene.before, scene.after) if what == "apply" else (_undo, scene.after, scene.before)
    )
    with plot(scene, tmp_path) as at:
        open_before = _descriptors()
        moment = 0
        while True:
            at.reset()
            if what == "undo":
                _apply_to_end(at)
            disk = FailAt(Unsynced(), moment, errors[moment % len(errors)], forever=forever)
            try:
                done = act(at, disk)
            except StorageError as error:
                # Taking back failed as well: recovery's turn.
                _check_sentence(error)
                assert forever or "recorded" in str(error) or "cannot be used" in str(error), error
                _settled(at, before, after)
            except StewardError as error:
                _check_sentence(error)
                assert at.tree == before, (moment, disk.names[moment], error)
                assert recover(at.workspace, at.state, Unsynced()) == Recovery()
                assert at.tree == before
            else:
                assert at.tree == after or done.warnings, (moment, disk.names[moment])
                assert _settled(at, before, after)
                if len(disk.names) <= moment:
                    break
            assert _descriptors() == open_before, (moment, disk.names[moment])
            moment += 1
        assert moment > 80


def _check_sentence(error: StewardError) -> None:
    assert str(error).endswith((".", ")")), error
    assert not any(word.strip("'\"(").startswith("/") for word in str(error).split()), error


@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[n] for n in ERRORS])
def test_an_error_at_any_operation_of_recovery_can_be_tried_again(number: int, tmp_path: Path) -> None:
    with plot(SMALL, tmp_path) as at:
        watched = Watched(Unsynced())
        _apply(at, watched)
        switched = max(n for n, name in enumerate(watched.names) if name == "rename_new") + 1
        committed = max(n for n, name in enumerate(watched.names) if name == "unlink")
        for moment in (switched, committed):
            failing = 0
            while True:
                at.reset()
                dying = CutAt(Unsynced(), moment)
                with pytest.raises(Cut):
                    _apply(at, dying)
                dying.reap()
                disk = FailAt(Unsynced(), failing, number)
                try:
                    recover(at.workspace, at.state, disk)
                except StewardError as error:
                    _check_sentence(error)
                    _settled(at, SMALL.before, SMALL.after)
                else:
                    assert _settled(at, SMALL.before, SMALL.after) == (moment == committed)
                    if len(disk.names) <= failing:
                        break
                failing += 1
            assert failing > 30


@pytest.mark.parametrize("number", ERRORS, ids=[errno.errorcode[n] for n in ERRORS])
def test_an_error_while_acknowledging_tells_once_more_and_harms_nothing(number: int, tmp_path: Path) -> None:
    with plot(SMALL, tmp_path) as at:
        failing = 0
        while True:
            at.reset()
            _apply(at, Unsynced())
            disk = FailAt(Unsynced(), failing, number)
            try:
                acknowledge(at.state, "change-001", disk)
            except StewardError as error:
                _check_sentence(error)
            if len(disk.names) <= failing:
                break
            assert recover(at.workspace, at.state, Unsynced()).committed in ((), ("change-001",))
            assert at.tree == SMALL.after
            acknowledge(at.state, "change-001", Unsynced())
            assert at.journal == []
            failing += 1
        assert failing > 5
