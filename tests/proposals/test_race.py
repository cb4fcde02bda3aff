"""Six processes race to apply one change: exactly one does, and the others each get one clear sentence."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from steward.errors import Busy, StaleProposal, StewardError, WrongStatus
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.recover import acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, applied
from tests.proposals.watched import Unsynced

RACERS = 6


def _race(at: Plot, *, undoing: bool, disk: Disk) -> list[str]:
    """What each of the racers says: the name of its error and the sentence, or ``done``."""
    gate, release = os.pipe()
    readers: list[int] = []
    children: list[int] = []
    for _ in range(RACERS):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            answer = "crashed"
            try:
                os.close(release)
                os.read(gate, 1)
                if undoing:
                    undo(applied(at.proposal), at.workspace, at.state, disk)
                else:
                    apply(at.proposal, at.workspace, at.state, disk)
                answer = "done"
            except StewardError as error:
                answer = f"{type(error).__name__}: {error}"
            finally:
                os.write(writer, answer.encode())
                os._exit(0)
        os.close(writer)
        readers.append(reader)
        children.append(child)
    os.close(gate)
    os.close(release)
    said: list[str] = []
    for reader, child in zip(readers, children, strict=True):
        with os.fdopen(reader, "rb") as pipe:
            said.append(pipe.read().decode())
        os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("patience", [0.0, 30.0])
def test_of_six_processes_exactly_one_applies_and_exactly_one_undoes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    monkeypatch.setattr("steward.proposals.lock.PATIENCE", patience)
    losers: Counter[str] = Counter()
    with plot(EVERYTHING, tmp_path) as at:
        for number in range(12):
            at.reset()
            disk = Disk() if number % 4 == 0 else Unsynced()
            for undoing in (False, True):
                said = _race(at, undoing=undoing, disk=disk)
                assert said.count("done") == 1, said
                for sentence in said:
                    name = sentence.partition(":")[0]
                    assert name in ("done", Busy.__name__, StaleProposal.__name__, WrongStatus.__name__), (
                        sentence
                    )
                    losers[name] += 1
                found = recover(at.workspace, at.state)
                assert (found.undone if undoing else found.committed) == ("change-001",)
                acknowledge(at.state, "change-001")
                if not undoing:
                    assert at.tree == EVERYTHING.after
            assert {p: f for p, f in at.tree.items() if f[0] == "file"} == {
                p: f for p, f in EVERYTHING.before.items() if f[0] == "file"
            }
    assert (losers["Busy"] == 0) is (patience > 0) and losers.total() == 12 * 2 * RACERS


def test_stewards_that_apply_recover_and_undo_all_the_time_never_leave_a_mixture(tmp_path: Path) -> None:
    with plot(EVERYTHING, tmp_path) as at:
        children: list[int] = []
        for racer in range(RACERS):
            child = os.fork()
            if child == 0:
                _quarrel(at, racer)
            children.append(child)
        statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert statuses == [0] * RACERS
        recover(at.workspace, at.state)
        files = {p: f for p, f in at.tree.items() if f[0] == "file"}
        assert files in (
            {p: f for p, f in tree.items() if f[0] == "file"}
            for tree in (EVERYTHING.before, EVERYTHING.after)
        )


def _quarrel(at: Plot, racer: int) -> None:
    """Sixty acts of one process; ends it, with 1 when anything but a refusal comes of them."""
    status = 1
    try:
        for number in range(60):
            try:
                match (number + racer) % 3:
                    case 0:
                        apply(at.proposal, at.workspace, at.state, Unsynced())
                        acknowledge(at.state, "change-001")
                    case 1:
                        undo(applied(at.proposal), at.workspace, at.state, Unsynced())
                        acknowledge(at.state, "change-001")
                    case _:
                        recover(at.workspace, at.state, Unsynced())
            except (Busy, StaleProposal, WrongStatus):
                pass
        status = 0
    finally:
        os._exit(status)
