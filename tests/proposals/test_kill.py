"""kill -9 and errors at every system call by which apply, undo and recovery change or sync anything, by strace."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from steward.errors import StewardError
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.recover import acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals import mutants
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, PAIR, SMALL, applied
from tests.proposals.watched import Cut, CutAt, Unsynced, Watched

CALLS = (
    ("openat", "openat2", "flock"),
    ("write", "pwrite64", "fsync", "fdatasync"),
    ("rename", "renameat", "renameat2", "link", "linkat"),
    ("unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "fchmod", "fchown", "fsetxattr"),
    ("close",),
)
"""System calls in groups of about the same number of kills."""


@cache
def _strace() -> str | None:
    """The strace that can be used here, if there is one."""
    found = shutil.which("strace")
    if found is None:
        return None
    release, attached = _fork(lambda: None)
    tracer = _attach(found, attached, "close", "signal=KILL:when=60000")
    os.close(release)
    os.waitpid(attached, 0)
    return found if tracer is not None and tracer.wait() == 0 else None


def _fork(act: Callable[[], object]) -> tuple[int, int]:
    """A process that waits until the returned descriptor is closed, then acts; and its number."""
    gate, release = os.pipe()
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(release)
            os.close(ready)
            # Where Yama restricts ptrace, a sibling may trace only whom allowed it (PR_SET_PTRACER, any).
            ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1 & (1 << 64) - 1), 0, 0, 0)
            # From here on it makes no call but those of the act, so that a tracer counts them alone.
            os.write(tell, b"1")
            os.read(gate, 1)
            act()
            status = _DONE
        except StewardError:
            status = _REFUSED
        finally:
            os._exit(status)
    os.close(gate)
    os.close(tell)
    os.read(ready, 1)
    os.close(ready)
    return release, child


def _attach(strace: str, child: int, call: str, fault: str) -> subprocess.Popen[str] | None:
    """A tracer that lets ``fault`` happen to ``child`` at some such call; returns once it is attached."""
    command = [strace, "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{fault}"]
    tracer = subprocess.Popen([*command, "-p", str(child)], stderr=subprocess.PIPE, text=True)
    assert tracer.stderr is not None
    for line in tracer.stderr:
        if "attached" in line:
            return tracer
    tracer.wait()
    return None


def _needed() -> str | None:
    """strace, or ``None`` where its deaths are to be had through the seam; never so in continuous integration."""
    strace = _strace()
    if strace is None and os.environ.get("CI"):
        pytest.fail(
            "strace is missing or may not trace here; the kill -9 campaign needs it (Debian: apt install strace)"
        )
    return strace


@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls[0])
@pytest.mark.parametrize("what", ["apply", "undo", "taking back", "finishing"])
def test_a_kill_at_any_system_call_leaves_all_or_nothing(
    what: str, calls: tuple[str, ...], tmp_path: Path
) -> None:
    with plot(EVERYTHING, tmp_path) as at:
        assert _kill_at_each(at, what, calls) > 0


def test_a_kill_at_any_system_call_leaves_all_or_nothing_where_a_change_only_replaces(tmp_path: Path) -> None:
    with plot(PAIR, tmp_path) as at:
        for calls in CALLS:
            assert _kill_at_each(at, "undo", calls) > 0


@pytest.mark.parametrize(
    "name",
    [
        "drops the old files before the commit",
        "forgets the record before it took back",
        "stages before it writes its intent",
        "switches while the record says that nothing is switched",
        "names a stage before it is complete",
    ],
)
def test_the_kills_notice_every_broken_protocol(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mutants.PROTOCOLS[name](monkeypatch.setattr)
    # Where a change creates files, it begins in a phase in which a stage may hold anything.
    scene = PAIR if name == "names a stage before it is complete" else SMALL
    with plot(scene, tmp_path) as at, pytest.raises(AssertionError):
        for calls in CALLS:
            _kill_at_each(at, "apply", calls)
            _kill_at_each(at, "taking back", calls)


def _kill_at_each(at: Plot, what: str, calls: tuple[str, ...]) -> int:
    """Kill at the first, second, … call of each name until none is left to kill at."""
    strace = _needed()
    if strace is None:
        return _by_seam(at, what)
    kills = 0
    for call in calls:
        number = 1
        while _at_call(strace, at, what, call, number, "signal=KILL") == -signal.SIGKILL:
            _check(at, what)
            kills += 1
            number += 1
    return kills


@pytest.mark.parametrize("calls", CALLS, ids=lambda calls: calls[0])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EACCES", "EMFILE", "EINTR"])
def test_an_error_of_any_system_call_leaves_all_or_nothing(
    error: str, calls: tuple[str, ...], tmp_path: Path
) -> None:
    strace = _needed()
    tries = 0
    with plot(SMALL, tmp_path) as at:
        if strace is None:
            tries = _by_seam(at, "apply")
        else:
            for call in calls:
                for number in range(1, _count(strace, at, call) + 1):
                    status = _at_call(strace, at, "apply", call, number, f"error={error}")
                    # The child says by its status which it was; a crash of its interpreter would be another.
                    assert status in (_DONE, _REFUSED), (call, number)
                    _check(at, "apply")
                    tries += 1
    assert tries > 0


_DONE, _REFUSED = 0, 3


def _count(strace: str, at: Plot, call: str) -> int:
    """How many such calls an apply makes."""
    number = 1
    while _at_call(strace, at, "apply", call, number, "signal=KILL") == -signal.SIGKILL:
        number += 1
    return number - 1


def _at_call(strace: str, at: Plot, what: str, call: str, number: int, fault: str) -> int:
    """Begin again, act in a process of its own, and let ``fault`` happen at one call; how the process ended."""
    _prepare(at, what)
    release, child = _fork(lambda: _act(at, what, Disk()))
    tracer = _attach(strace, child, f"?{call}", f"{fault}:when={number}")
    assert tracer is not None
    os.close(release)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tracer.communicate()
    return status


def _act(at: Plot, what: str, disk: Disk) -> object:
    match what:
        case "apply":
            return apply(at.proposal, at.workspace, at.state, disk)
        case "undo":
            return undo(applied(at.proposal), at.workspace, at.state, disk)
        case _:
            return recover(at.workspace, at.state, disk)


def _by_seam(at: Plot, what: str) -> int:
    """The same deaths without strace: before every operation of the seam."""
    number = 0
    while True:
        _prepare(at, what)
        disk = CutAt(Unsynced(), number)
        try:
            _act(at, what, disk)
        except Cut:
            disk.reap()
        else:
            return number
        _check(at, what)
        number += 1


def _prepare(at: Plot, what: str) -> None:
    """Begin again; for undo with a change that is applied, for recovery with one that died on its way."""
    at.reset()
    if what == "undo":
        apply(at.proposal, at.workspace, at.state, Unsynced())
        acknowledge(at.state, "change-001", Unsynced())
    elif what != "apply":
        disk = CutAt(Unsynced(), _moment(at, committed=what == "finishing"))
        with pytest.raises(Cut):
            apply(at.proposal, at.workspace, at.state, disk)
        disk.reap()


_moments: dict[tuple[int, bool], int] = {}


def _moment(at: Plot, *, committed: bool) -> int:
    """An operation by which all files are switched, or by which some old files are removed already."""
    key = (id(at.scene), committed)
    if key not in _moments:
        watched = Watched(Unsynced())
        apply(at.proposal, at.workspace, at.state, watched)
        at.reset()
        # The last two renames of an apply are those of the journal.
        name, which = ("unlink", 0) if committed else ("rename", -3)
        _moments[key] = [n for n, operation in enumerate(watched.names) if operation == name][which] + 1
    return _moments[key]


def _check(at: Plot, what: str) -> None:
    scene = at.scene
    before, after = (scene.after, scene.before) if what == "undo" else (scene.before, scene.after)
    recovery = recover(at.workspace, at.state, Unsynced())
    done = bool(recovery.committed or recovery.undone)
    assert at.tree == (after if done else before)
    assert bool(at.journal) == done
