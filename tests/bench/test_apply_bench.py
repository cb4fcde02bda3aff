"""Apply against writing the same files plainly (write, fsync, rename), and how long others see a mixture."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.proposal import FileChange
from steward.proposals.recover import acknowledge
from steward.proposals.undo import undo
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import Scene, applied


class Benchmark(Protocol):
    """What is used of pytest-benchmark's fixture, whose own types are open."""

    group: str | None
    extra_info: dict[str, float]

    def pedantic(self, target: Callable[[], object], *, setup: Callable[[], object], rounds: int) -> object:
        """Time ``target``."""
        ...


COUNTS = pytest.mark.parametrize("count", [1, 20, 100])


def _scene(count: int) -> Scene:
    """``count`` files of 8 kB over ten directories, each with one line changed."""
    files: dict[str, tuple[bytes, int]] = {}
    changes: list[FileChange] = []
    for number in range(count):
        path = f"d{number % 10}/f{number}.txt"
        old = b"".join(b"line %d of a file\n" % line for line in range(400))
        new = old.replace(b"line 200", b"line two hundred", 1)
        files[path] = (old, 0o644)
        changes.append(FileChange(path, "modify", old, new, 0o644, 0o644))
    return Scene(files, tuple(changes))


class _Timed(Disk):
    """Notes when the first file was switched and when the last."""

    def __init__(self) -> None:
        self.moments: list[float] = []

    def exchange(self, one: str, other: str, *, at: int) -> None:
        super().exchange(one, other, at=at)
        self.moments.append(time.perf_counter())


def _plainly(at: Plot) -> list[float]:
    """What a careful program does for each file by itself; when each was switched."""
    moments: list[float] = []
    for change in at.scene.changes:
        path = at.root / change.path
        stage = path.with_name(f".{path.name}.tmp")
        fd = os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, change.result or b"")
        os.fsync(fd)
        os.close(fd)
        stage.replace(path)
        moments.append(time.perf_counter())
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(directory)
        os.close(directory)
    return moments


@COUNTS
def test_apply(benchmark: Benchmark, count: int, tmp_path: Path) -> None:
    benchmark.group = f"{count} files"
    mixtures: list[float] = []
    with plot(_scene(count), tmp_path) as at:

        def run() -> None:
            disk = _Timed()
            apply(at.proposal, at.workspace, at.state, disk)
            mixtures.append(disk.moments[-1] - disk.moments[0])

        def prepare() -> None:
            acknowledge(at.state, at.proposal.id)
            at.again()

        apply(at.proposal, at.workspace, at.state)
        benchmark.pedantic(run, setup=prepare, rounds=10)
        assert at.tree == at.scene.after
    benchmark.extra_info["mixture, ms"] = round(min(mixtures) * 1000, 3)


@COUNTS
def test_plain_writes(benchmark: Benchmark, count: int, tmp_path: Path) -> None:
    benchmark.group = f"{count} files"
    mixtures: list[float] = []
    with plot(_scene(count), tmp_path) as at:

        def run() -> None:
            moments = _plainly(at)
            mixtures.append(moments[-1] - moments[0])

        benchmark.pedantic(run, setup=at.again, rounds=10)
        assert at.tree == at.scene.after
    benchmark.extra_info["mixture, ms"] = round(min(mixtures) * 1000, 3)


@COUNTS
def test_undo(benchmark: Benchmark, count: int, tmp_path: Path) -> None:
    benchmark.group = f"{count} files"
    with plot(_scene(count), tmp_path) as at:

        def prepare() -> None:
            at.reset()
            apply(at.proposal, at.workspace, at.state)
            acknowledge(at.state, "change-001")

        benchmark.pedantic(
            lambda: undo(applied(at.proposal), at.workspace, at.state), setup=prepare, rounds=10
        )
        assert at.tree == at.scene.before
