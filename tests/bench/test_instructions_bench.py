"""What instructions cost: resolving grows with depth alone, and `append` re-sends next to nothing.

Run with `pytest tests/bench/test_instructions_bench.py -n 0 --benchmark-enable` to see times; what is asserted are
counts of operations and bytes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from steward.agents_md import Disk, Folder, Memory, Resolver
from steward.prompts.briefing import Briefing


class CountingDisk(Disk):
    """The disk, with a count of what was asked of it."""

    def __init__(self) -> None:
        self.count = 0

    def open(self, path: str) -> Any:
        self.count += 1
        found = super().open(path)
        return None if found is None else CountingFolder(found, self)

    def stat(self, path: str) -> os.stat_result | None:
        self.count += 1
        return super().stat(path)


class CountingFolder:
    """A folder that counts for its disk."""

    def __init__(self, folder: Folder, disk: CountingDisk) -> None:
        self.folder = folder
        self.disk = disk

    def stat(self, name: str) -> os.stat_result | None:
        self.disk.count += 1
        return self.folder.stat(name)

    def enter(self, name: str) -> CountingFolder | None:
        self.disk.count += 1
        found = self.folder.enter(name)
        return None if found is None else CountingFolder(found, self.disk)

    def names(self, most: int) -> list[str]:
        self.disk.count += 1
        return self.folder.names(most)

    def read(self, name: str, most: int) -> tuple[bytes, os.stat_result]:
        self.disk.count += 1
        return self.folder.read(name, most)

    def close(self) -> None:
        self.folder.close()


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that is gone after the test, however many files it held."""
    path = Path(tempfile.mkdtemp(prefix="steward-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def make(root: Path, depth: int, files: int) -> str:
    """A repository with a way down of ``depth`` directories, a document in every third, and more files around."""
    (root / ".git").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    at = root
    for level in range(depth):
        if level % 3 == 0:
            (at / "AGENTS.md").write_text("Use the formatter.\n" * 50)
        at = at / f"level-{level}"
        at.mkdir()
    for start in range(0, files, 1000):
        crowd = root / f"crowd-{start // 1000}"
        crowd.mkdir()
        fill(crowd, min(1000, files - start))
    return "/".join(f"level-{level}" for level in range(depth)) + "/file.py"


def fill(directory: Path, files: int) -> None:
    """Put so many empty files into a directory."""
    for number in range(files):
        os.close(os.open(directory / f"file-{number}", os.O_CREAT | os.O_WRONLY))


def operations(root: Path, target: str) -> int:
    """What one resolution asks of the disk."""
    disk = CountingDisk()
    resolver = Resolver(root, files=disk)
    resolver.resolve(target)
    before = disk.count
    resolver.resolve(target)
    return disk.count - before


@pytest.mark.parametrize("depth", [5, 15, 30])
def test_resolving_costs_a_few_operations_for_each_directory(depth: int, place: Path, benchmark: Any) -> None:
    target = make(place, depth, files=100)
    assert operations(place, target) <= 8 * (depth + 1) + 12
    benchmark(Resolver(place).resolve, target)


@pytest.mark.parametrize("large", [False, True])
def test_the_size_of_the_repository_does_not_matter(large: bool, place: Path, benchmark: Any) -> None:
    files = 100 if not large else 100_000 if benchmark.enabled else 5_000
    target = make(place, 10, files)
    assert operations(place, target) <= 8 * 11 + 12
    benchmark(Resolver(place).resolve, target)


def test_one_directory_of_very_many_files_does_not_matter_either(place: Path, benchmark: Any) -> None:
    target = make(place, 10, 100)
    fill(place, 20_000 if benchmark.enabled else 2_500)
    assert operations(place, target) <= 8 * 11 + 12 + 10
    benchmark(Resolver(place).resolve, target)


def test_a_resolution_on_a_path_of_ten_directories(place: Path, benchmark: Any) -> None:
    target = make(place, 10, files=100)
    resolver = Resolver(place)
    assert len(benchmark(resolver.resolve, target).documents) == 4


Refresh = Literal["append", "replace"]


def session(mode: Refresh) -> dict[str, int]:
    """Bytes over 30 rounds with 12 nested documents: sent, not at the place where a prompt cache knows them, and
    among these the ones that the request before had carried already, unchanged."""
    tree = {".git/HEAD": "x"}
    ways = ["/".join(f"d{level}" for level in range(depth)) for depth in range(12)]
    for way in ways:
        tree[f"{way}/AGENTS.md" if way else "AGENTS.md"] = f"Rules of {way or 'the root'}.\n" * 60
    briefing = Briefing(Resolver("/repository", files=Memory(tree)), "secret", mode)
    system = briefing.opening(".")
    later = before = ""
    found = {"sent": 0, "evaluated": 0, "evaluated though sent before": 0}
    for number in range(30):
        request = system + later
        shared = _shared(before, request)
        known = Counter(before[shared:].splitlines()) & Counter(request[shared:].splitlines())
        found["sent"] += len(request)
        found["evaluated"] += len(request) - shared
        found["evaluated though sent before"] += sum(len(line) * count for line, count in known.items())
        before = request
        step = number % 22
        path = f"{ways[step if step < 12 else 22 - step]}/file.py".lstrip("/")
        later += f"call {number}\n{briefing.touch(path).text}" + f"result {number}\n" * 40
        if mode == "replace":
            system = briefing.opening(path)
    return found


def _shared(before: str, after: str) -> int:
    """How many characters two requests have in common from the start."""
    return next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )


def test_append_sends_nothing_twice_that_a_cache_does_not_know(benchmark: Any) -> None:
    append, replace = session("append"), session("replace")
    benchmark.extra_info.update({"append": append, "replace": replace})
    assert append["evaluated though sent before"] == 0
    assert replace["evaluated though sent before"] > 100_000
    assert append["evaluated"] * 4 < replace["evaluated"]
    benchmark(session, "append")
