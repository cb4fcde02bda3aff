"""Search, lists and completion in a large repository, beside ripgrep over the same files."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from steward.config import Settings
from steward.confine.programs import find_program
from steward.service import House
from steward.service.completion import PathIndex
from steward.tools.search_engine import Engine
from steward.tools.search_files import SearchFilesArguments, SearchFilesTool
from steward.tui.running import short_looks_for_garbage
from steward.workspace import Workspace
from tests.bench.measure import Row, Scale, absolute, best, compared
from tests.bench.tree import NEEDLE, grow, names

TYPED = (
    "",
    "d",
    "drivers",
    "drivers_net",
    "gpoi",
    "leds crypto",
    "kernel12/mm",
    "Kconfig",
    "zqxj",
    "a/b",
    "e",
)


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of searching."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as room, _as_on_the_screen():
        grow(Path(room), scale.files)
        with Workspace.open(Path(room)) as workspace, asyncio.Runner() as runner:
            yield from _searches(workspace, scale, runner)
        yield _watches(Path(room))
    yield _keys(scale)


@contextmanager
def _as_on_the_screen() -> Generator[None]:
    """Garbage is looked for as rarely as while the screen is open."""
    before = gc.get_threshold()
    short_looks_for_garbage()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class _Named:
    """As many files as in the largest repositories, by name alone."""

    def __init__(self, files: int) -> None:
        self._names = names(files)

    def files(self, limit: int | None = None, stop: Callable[[], bool] | None = None) -> list[str]:
        return self._names[:limit]


def _searches(workspace: Workspace, scale: Scale, runner: asyncio.Runner) -> Iterator[Row]:
    program = find_program(Path("/nowhere"))
    assert program is not None

    def ripgrep(*arguments: str) -> None:
        command = [program, "--no-config", "--hidden", "--glob=!.git", *arguments]
        subprocess.run(command, cwd=workspace.root, stdout=subprocess.DEVNULL, check=False)

    with_ripgrep = SearchFilesTool(workspace)
    without = SearchFilesTool(workspace, engine=Engine(None))

    def search(tool: SearchFilesTool, query: str, *, regex: bool = False) -> None:
        runner.run(tool.run(SearchFilesArguments(query=query, regex=regex)))

    size = f"{scale.files:,} files"
    other, ours, python = best(
        partial(ripgrep, "--files-with-matches", "--fixed-strings", "--", NEEDLE, "."),
        partial(search, with_ripgrep, NEEDLE),
        partial(search, without, NEEDLE),
        repeat=scale.repeat,
    )
    yield compared(f"searchFiles, a rare text, {size}", ours, other, "`rg -l`", 1.3)
    yield compared(f"searchFiles without ripgrep, {size}", python, other, "`rg -l`", 3)
    pattern = rf"^/\* {NEEDLE[:10]}\w+"
    other, ours = best(
        partial(ripgrep, "--files-with-matches", "--regexp", pattern, "."),
        partial(search, with_ripgrep, pattern, regex=True),
        repeat=scale.repeat,
    )
    yield compared(f"searchFiles, a regular expression, {size}", ours, other, "`rg -l`", 1.3)
    ours, other = best(
        partial(search, with_ripgrep, "return"),
        partial(ripgrep, "--fixed-strings", "--", "return", "."),
        repeat=scale.repeat,
    )
    yield compared("searchFiles, a common text, to its limit", ours, other, "`rg`, all of it", 0.5)
    ours, other = best(workspace.files, partial(ripgrep, "--files", "."), repeat=scale.repeat)
    yield compared(f"list of {size} for completion", ours, other, "`rg` listing files", 1.5)


def _watches(root: Path) -> Row:
    """How many directories are watched for the deepest place of the tree, of how many there are."""
    places = [Path(place) for place, _, _ in os.walk(root)]
    deepest = max(places, key=lambda place: len(place.parts))
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as state:
        house = House(root, Settings(), state=Path(state))
        watched = house.directories_that_matter(deepest.relative_to(root).as_posix())
        house.close()
    levels = len(deepest.relative_to(root).parts) + 1
    beside = f"of {len(places):,} directories"
    return Row(
        "watches for a focus at the bottom",
        f"{len(watched)}",
        beside,
        f"≤ {levels}",
        None,
        len(watched) <= levels,
    )


def _keys(scale: Scale) -> Row:
    many = max(scale.files, 100_000) if scale.repeat > 1 else scale.files
    index = PathIndex(_Named(many))
    index.complete("zqxj", 12)
    worst, text = 0.0, ""
    for typed in TYPED:
        (took,) = best(partial(index.complete, typed, 12), repeat=max(scale.repeat, 2))
        if took > worst:
            worst, text = took, typed
    index.close()
    return absolute(f"`@` completion, {many:,} files, the slowest key", worst, 0.03, f"`{text}`")
