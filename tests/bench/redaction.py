"""How much of real source trees is taken for a key: ``python -m tests.bench.redaction [DIRECTORY …]``."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steward.tools.redact import redacted_bytes

LARGEST = 2_000_000
"""Bytes of a file that is looked at."""
_PASSED = frozenset({"site-packages", "__pycache__", ".git"})


@dataclass(frozen=True, slots=True)
class Marked:
    """A line of which something was taken for a key."""

    path: Path
    line: int
    shown: str
    """The line as a model would be shown it."""


@dataclass(slots=True)
class Measured:
    """What one tree came to."""

    files: int = 0
    lines: int = 0
    bytes: int = 0
    marked: int = 0
    files_marked: int = 0


def measure(tree: Path) -> Iterator[Marked | Measured]:
    """Every line of the tree's text files that is marked, then the sum."""
    total = Measured()
    for path in sorted(tree.rglob("*")):
        if _PASSED & {*path.relative_to(tree).parts} or path.is_symlink() or not path.is_file():
            continue
        if path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        total.files += 1
        total.lines += data.count(b"\n")
        total.bytes += len(data)
        clean = redacted_bytes(data)
        if clean is data:
            continue
        total.files_marked += 1
        pairs = zip(data.split(b"\n"), clean.split(b"\n"), strict=True)
        for number, (before, after) in enumerate(pairs, 1):
            if before != after:
                total.marked += 1
                yield Marked(path.relative_to(tree), number, after.decode("utf-8", "replace").strip()[:120])
    yield total


def main() -> None:
    """Print the marked lines, so that they can be judged, and a sum for each tree."""
    trees = [Path(name) for name in sys.argv[1:]] or [
        Path(sysconfig.get_path("stdlib")),
        Path(sysconfig.get_path("purelib")),
    ]
    for tree in trees:
        for found in measure(tree):
            match found:
                case Marked(path, line, shown):
                    print(f"{path}:{line}: {shown}")
                case Measured(files, lines, size, marked, in_files):
                    print(
                        f"{tree}: {marked:,} of {lines:,} lines marked, in {in_files:,} of {files:,} files "
                        f"({size / 1e6:,.0f} MB)\n"
                    )


if __name__ == "__main__":
    main()
