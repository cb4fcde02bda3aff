"""Apply beside writing the same files with the usual care: write, fsync, rename."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.journal import opened
from tests.bench import test_apply_bench as plainly
from tests.bench.measure import Row, Scale, compared
from tests.proposals.ground import plot

MOST = {1: 3.0, 20: 2.0}


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of applying."""
    for count, most in MOST.items():
        ours = plain = float("inf")
        with tempfile.TemporaryDirectory(prefix="steward-bench-") as room:
            with plot(vars(plainly)["_scene"](count), Path(room)) as at:
                for _ in range(4 * scale.repeat):
                    at.reset()
                    # As it is from the first change on.
                    with opened(at.state, Disk(), create=True):
                        pass
                    began = time.perf_counter()
                    apply(at.proposal, at.workspace, at.state)
                    ours = min(ours, time.perf_counter() - began)
                    at.reset()
                    began = time.perf_counter()
                    vars(plainly)["_plainly"](at)
                    plain = min(plain, time.perf_counter() - began)
        named = "1 file" if count == 1 else f"{count} files"
        yield compared(f"apply, {named}", ours, plain, "write, fsync, rename", most)
