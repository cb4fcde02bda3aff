"""A directory that turns into a link to the outside while tools read never gets them there."""

from __future__ import annotations

import ctypes
import os
import signal
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from steward.errors import PathRefused
from steward.workspace import ROOT, RepoPath, Workspace
from steward.workspace.engine import EngineName

pytestmark = pytest.mark.timeout(120)
OUTSIDE = b"OUTSIDE-BYTES"
READS, LISTS = 100_000, 5_000


@contextmanager
def swapping(pairs: list[tuple[Path, Path]]) -> Generator[None]:
    """While it lasts another process exchanges each pair as fast as it can."""
    child = os.fork()
    if child == 0:
        exchange = _exchange()
        parent = os.getppid()
        try:
            while os.getppid() == parent:
                for _ in range(1000):
                    for one, other in pairs:
                        exchange(os.fsencode(one), os.fsencode(other))
        finally:
            os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _exchange() -> Callable[[bytes, bytes], object]:
    call = getattr(ctypes.CDLL(None), "renameat2", None)
    if call is not None:
        return lambda one, other: call(-100, one, -100, other, 2)

    def by_turns(one: bytes, other: bytes) -> None:
        os.rename(one, one + b".away")
        os.rename(other, one)
        os.rename(one + b".away", other)

    return by_turns


@pytest.mark.parametrize("engine", ["openat2", "walk"])
def test_a_swap_race_never_reads_lists_or_walks_outside(tmp_path: Path, engine: EngineName) -> None:
    root = tmp_path / "ws"
    (root / "deep" / "dir").mkdir(parents=True)
    (root / "deep" / "dir" / "file").write_bytes(b"inside")
    (root / "plain").write_bytes(b"inside")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(OUTSIDE)
    (tmp_path / "outside" / "stolen").write_bytes(OUTSIDE)
    (root / "deep" / "link").symlink_to(tmp_path / "outside")
    (root / "other").symlink_to(tmp_path / "outside" / "file")
    pairs = [(root / "deep" / "dir", root / "deep" / "link"), (root / "plain", root / "other")]
    through, final, directory = (RepoPath.parse(p) for p in ("deep/dir/file", "plain", "deep/dir"))
    seen: Counter[str] = Counter()
    with Workspace.open(root, engine=engine) as workspace, swapping(pairs):
        for turn in range(READS):
            try:
                data = workspace.read(through if turn % 2 else final).data
                assert data == b"inside"
                seen["read"] += 1
            except PathRefused as refused:
                assert OUTSIDE.decode() not in str(refused)
                seen[refused.kind] += 1
        for _ in range(LISTS):
            try:
                assert [entry.name for entry in workspace.entries(directory)] == ["file"]
                seen["listed"] += 1
            except PathRefused as refused:
                seen[refused.kind] += 1
            assert not [path for path, _ in workspace.walk(ROOT) if path.name == "stolen"]
    # The race was real: both sides of it were met many times.
    assert seen["read"] > 1000
    assert seen["link"] > 1000
    assert seen["listed"] > 100
