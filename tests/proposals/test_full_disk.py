"""A full disk at every level: the change is whole or not there at all, and the sentence says why."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.errors import ApplyFailed, StewardError
from steward.proposals.apply import apply
from steward.proposals.recover import recover
from tests.proposals.ground import plot
from tests.proposals.scenes import EVERYTHING
from tests.proposals.watched import Unsynced, Watched

REPOSITORY = Path(__file__).parents[2]


def _namespace() -> list[str] | None:
    """The command before a program that may mount: a mount namespace, with a user namespace when not root."""
    unshare = shutil.which("unshare")
    for options in (["--mount"], ["--mount", "--map-root-user"]):
        if unshare and subprocess.run([unshare, *options, "true"], capture_output=True).returncode == 0:
            return [unshare, *options]
    return None


def test_a_small_file_system_filled_to_every_level_holds_all_or_nothing(tmp_path: Path) -> None:
    command = _namespace()
    if command is None:
        # Without a mount of its own there is the seam, which every machine has.
        assert _fill_by_seam(tmp_path, "write") > 3
        return
    done = subprocess.run(
        [*command, sys.executable, "-m", "tests.proposals.full_disk", str(tmp_path)],
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    counted: dict[str, int] = json.loads(done.stdout)
    assert counted.pop("change-001 was not applied: the disk is full. Nothing was changed.") > 10
    assert counted.pop("applied") > 10
    assert counted.pop("undone") > 5
    assert set(counted) <= {"undo refused"}


@pytest.mark.parametrize("operation", ["write", "open", "mkdir", "rename", "exchange", "fsync"])
def test_a_disk_that_is_full_from_some_operation_on_can_still_take_back(
    operation: str, tmp_path: Path
) -> None:
    assert _fill_by_seam(tmp_path, operation) >= 3


def _fill_by_seam(tmp_path: Path, operation: str) -> int:
    """Apply on a disk on which, from one operation on, nothing of that kind finds space any more."""
    with plot(EVERYTHING, tmp_path) as at:
        number = 0
        while True:
            at.reset()
            disk = _Full(operation, number)
            try:
                done = apply(at.proposal, at.workspace, at.state, disk)
            except ApplyFailed as error:
                assert "the disk is full" in str(error)
                assert at.tree == EVERYTHING.before and at.journal == []
            except StewardError:
                committed = recover(at.workspace, at.state).committed
                assert at.tree == (EVERYTHING.after if committed else EVERYTHING.before)
            else:
                recover(at.workspace, at.state)
                assert at.tree == EVERYTHING.after
                if not done.warnings:
                    return number
            number += 1


class _Full(Watched):
    """Operations of one name find no space, from the ``first`` on; what only frees or moves works."""

    def __init__(self, operation: str, first: int) -> None:
        super().__init__(Unsynced())
        self._operation = operation
        self._left = first

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        if name == self._operation:
            self._left -= 1
            if self._left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return do()
