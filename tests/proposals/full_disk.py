"""A program that fills a small file system to every level and applies there; it prints what it found.

It runs in a mount namespace of its own, so that the mount ends with it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from steward.errors import ApplyFailed, StewardError
from steward.proposals.apply import apply
from steward.proposals.proposal import FileChange
from steward.proposals.recover import acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import EVERYTHING, Scene, applied

PAGE = 4096
BIG = Scene(
    files={**EVERYTHING.files, "big.txt": (b"old big\n" * 1500, 0o644)},
    changes=(
        *EVERYTHING.changes,
        FileChange("big.txt", "modify", b"old big\n" * 1500, b"new big\n" * 4000, 0o644, 0o644),
    ),
)
"""So that one file spans several pages."""


def main(where: str) -> None:
    """Mount, fill and apply at every level of free space and of free inodes."""
    counted: Counter[str] = Counter()
    for options, fill in (("size=400k", _fill_pages), ("size=4m,nr_inodes=60", _fill_inodes)):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", where], check=True)
        try:
            with plot(BIG, Path(where)) as at:
                for free in range(40):
                    _level(at, fill, free, counted)
        finally:
            os.chdir("/")
            subprocess.run(["umount", where], check=True)
    print(json.dumps(counted))


def _level(at: Plot, fill: Callable[[Path, int], None], free: int, counted: Counter[str]) -> None:
    filler = at.root.parent / "filler"
    shutil.rmtree(filler, ignore_errors=True)
    at.reset()
    fill(filler, free)
    try:
        apply(at.proposal, at.workspace, at.state)
    except ApplyFailed as error:
        counted[str(error)] += 1
        assert at.tree == BIG.before, free
    except StewardError as error:
        counted[f"{type(error).__name__}: {error}"] += 1
    else:
        counted["applied"] += 1
        assert at.tree == BIG.after, free
        with suppress(StewardError):
            acknowledge(at.state, "change-001")
        shutil.rmtree(filler, ignore_errors=True)
        fill(filler, free // 2)
        try:
            undo(applied(at.proposal), at.workspace, at.state)
        except ApplyFailed:
            counted["undo refused"] += 1
            assert at.tree == BIG.after, free
        else:
            counted["undone"] += 1
    found = at.tree
    shutil.rmtree(filler, ignore_errors=True)
    recover(at.workspace, at.state)
    assert at.tree == found, free


def _fill_pages(filler: Path, free: int) -> None:
    """Use up all space but ``free`` pages."""
    filler.mkdir()
    with (filler / "pages").open("wb", buffering=0) as file:
        with suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        size = file.tell() // PAGE * PAGE
        file.truncate(max(0, size - free * PAGE))


def _fill_inodes(filler: Path, free: int) -> None:
    """Use up all inodes but ``free``."""
    filler.mkdir()
    made: list[Path] = []
    with suppress(OSError):
        while True:
            path = filler / str(len(made))
            path.touch()
            made.append(path)
    for path in made[:free]:
        path.unlink()


if __name__ == "__main__":
    main(sys.argv[1])
