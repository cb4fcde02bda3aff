"""Apply beside writing the same files with the usual care: write, fsync, rename."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from steward.proposals.apply import apply
from steward.proposals.recover import acknowledge
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
                # As it is from the second change on: the journal is there, and a file in it to write into.
                apply(at.proposal, at.workspace, at.state)
                acknowledge(at.state, at.proposal.id)
                for _ in range(max(4, 40 // count) * scale.repeat):
                    at.again()
                    began = time.perf_counter()
                    apply(at.proposal, at.workspace, at.state)
                    ours = min(ours, time.perf_counter() - began)
                    acknowledge(at.state, at.proposal.id)
                    at.again()
                    began = time.perf_counter()
                    vars(plainly)["_plainly"](at)
                    plain = min(plain, time.perf_counter() - began)
        named = "1 file" if count == 1 else f"{count} files"
        yield compared(f"apply, {named}", ours, plain, "write, fsync, rename", most)
