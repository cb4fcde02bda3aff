"""One row of the table of figures, and how times are taken: the best of a few, all sides in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, ours beside something of the same run, and the figure to reach."""

    what: str
    ours: str
    beside: str
    figure: str
    ratio: float | None = None
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the ground is, and how often each thing is measured."""

    files: int = 30_000
    repeat: int = 5
    messages: int = 5_000
    """Messages of a long conversation."""


SMALL = Scale(files=600, repeat=1, messages=200)


def best(*works: Callable[[], object], repeat: int) -> list[float]:
    """Seconds of each work at its best; they take turns, so that a busy machine is busy for all of them."""
    times = [float("inf")] * len(works)
    for _ in range(repeat):
        for number, work in enumerate(works):
            began = time.perf_counter()
            work()
            times[number] = min(times[number], time.perf_counter() - began)
    return times


def compared(what: str, ours: float, other: float, name: str, most: float) -> Row:
    """A row in which ``ours`` may take ``most`` times what ``name`` takes."""
    ratio = ours / other
    return Row(what, ms(ours), f"{name}: {ms(other)}", f"≤ {most:g} ×", ratio, ratio <= most)


def absolute(what: str, ours: float, most: float, beside: str = "") -> Row:
    """A row in which ``ours`` seconds may be ``most`` seconds."""
    return Row(what, ms(ours), beside, f"≤ {ms(most)}", None, ours <= most)


def ms(seconds: float) -> str:
    """Milliseconds in a few digits."""
    value = seconds * 1000
    return f"{value:.3g} ms" if value < 100 else f"{value:,.0f} ms"
