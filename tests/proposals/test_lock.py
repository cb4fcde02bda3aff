"""One change at a time in a workspace; the second gets one clear sentence at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from steward.errors import Busy
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.lock import locked
from tests.proposals.ground import plot
from tests.proposals.scenes import PAIR
from tests.proposals.watched import Unsynced, VisitBefore

_HOLD = """
import sys, time
from pathlib import Path
from steward.proposals.disk import Disk
from steward.proposals.lock import locked
with locked(Path(sys.argv[1]), Disk()):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_loser_is_told_who_holds_the_lock_and_nothing_is_written(tmp_path: Path) -> None:
    with plot(PAIR, tmp_path) as at:
        at.state.mkdir()
        with subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(at.state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
            with pytest.raises(Busy) as caught:
                apply(at.proposal, at.workspace, at.state)
            assert caught.value.holder == holder.pid
            assert str(caught.value) == (
                f"Another steward (process {holder.pid}) is busy with a change in this workspace; nothing was written."
            )
            assert at.tree == PAIR.before
            holder.send_signal(signal.SIGKILL)
        # The lock died with its holder.
        apply(at.proposal, at.workspace, at.state)
        assert at.tree == PAIR.after


def test_two_threads_of_one_process_are_kept_apart_too(tmp_path: Path) -> None:
    with plot(PAIR, tmp_path) as at:
        said: list[str] = []

        def second() -> None:
            try:
                apply(at.proposal, at.workspace, at.state, Unsynced())
            except Busy as error:
                said.append(str(error))

        def visit(number: int) -> None:
            if number == 60:
                thread = threading.Thread(target=second)
                thread.start()
                thread.join()

        apply(at.proposal, at.workspace, at.state, VisitBefore(Unsynced(), visit))
        assert len(said) == 1 and at.tree == PAIR.after


def test_a_holder_that_wrote_no_number_yet_is_not_named(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        assert Disk().lock(fd)
        with pytest.raises(Busy) as caught, locked(tmp_path, Disk()):
            pass
        assert caught.value.holder is None
    finally:
        os.close(fd)


def test_the_lock_is_not_inherited_by_programs_that_are_started(tmp_path: Path) -> None:
    with locked(tmp_path, Disk()):
        child = subprocess.Popen(["sleep", "30"], close_fds=False)
    try:
        with locked(tmp_path, Disk()):
            assert int((tmp_path / "lock").read_text()) == os.getpid()
    finally:
        child.kill()
        child.wait()


def test_a_lock_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lock").symlink_to("precious")
    with pytest.raises(OSError), locked(tmp_path, Disk()):
        pass
    assert (tmp_path / "precious").read_text() == "precious"
