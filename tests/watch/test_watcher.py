"""What changes in a watched directory is told, once for a burst, and nothing else is."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.watch import Watcher

Moves = queue.Queue[frozenset[Path]]


@pytest.fixture
def told() -> Moves:
    return queue.Queue()


@pytest.fixture
def watcher(told: Moves) -> Iterator[Watcher]:
    made = Watcher(told.put, lambda sentence: None)
    yield made
    made.close()


def until(told: Moves, path: Path) -> set[Path]:
    seen: set[Path] = set()
    while path not in seen:
        seen |= told.get(timeout=10)
    return seen


def test_a_changed_file_is_told(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    watcher.watch([tmp_path])
    (tmp_path / "a").write_text("x")
    assert until(told, tmp_path / "a") == {tmp_path / "a"}


def test_an_editor_that_saves_by_renaming_is_told(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    (tmp_path / "a").write_text("x")
    watcher.watch([tmp_path])
    (tmp_path / ".a.tmp").write_text("y")
    (tmp_path / ".a.tmp").replace(tmp_path / "a")
    assert tmp_path / "a" in until(told, tmp_path / "a")


def test_reading_wakes_nobody(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    (tmp_path / "a").write_text("x")
    watcher.watch([tmp_path])
    for _ in range(50):
        (tmp_path / "a").read_text()
        os.listdir(tmp_path)
    (tmp_path / "b").write_text("the end")
    assert until(told, tmp_path / "b") == {tmp_path / "b"}


def test_directories_below_and_beside_are_not_watched(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    for name in ("watched/below", "beside"):
        (tmp_path / name).mkdir(parents=True)
    watcher.watch([tmp_path / "watched"])
    (tmp_path / "watched/below/x").write_text("x")
    (tmp_path / "beside/x").write_text("x")
    (tmp_path / "watched/end").write_text("x")
    assert {p.name for p in until(told, tmp_path / "watched/end")} <= {"end", "below"}


def test_a_burst_is_few_calls(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    watcher.watch([tmp_path])
    for n in range(2000):
        (tmp_path / f"f{n}").write_text("x")
    until(told, tmp_path / "f1999")
    assert told.qsize() < 50


def test_a_directory_that_vanishes_and_comes_back_is_watched_again(
    tmp_path: Path, watcher: Watcher, told: Moves
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    watcher.watch([tmp_path, inner])
    inner.rmdir()
    until(told, inner)
    watcher.watch([tmp_path, inner])
    inner.mkdir()
    until(told, inner)
    watcher.watch([tmp_path, inner])
    (inner / "a").write_text("x")
    assert inner / "a" in until(told, inner / "a")


def test_what_is_no_longer_wanted_is_no_longer_told(tmp_path: Path, watcher: Watcher, told: Moves) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    watcher.watch([tmp_path / "one", tmp_path / "two"])
    watcher.watch([tmp_path / "two"])
    (tmp_path / "one/x").write_text("x")
    (tmp_path / "two/x").write_text("x")
    assert until(told, tmp_path / "two/x") == {tmp_path / "two/x"}


def test_reaching_the_limit_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    watcher = Watcher(lambda moved: None, said.append)
    try:

        def refuse(*_: object, **__: object) -> None:
            raise OSError(28, "inotify watch limit reached")

        monkeypatch.setattr("watchdog.observers.api.BaseObserver.schedule", refuse)
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        watcher.watch([tmp_path / "a", tmp_path / "b"])
        watcher.watch([tmp_path / "a", tmp_path / "b"])
    finally:
        watcher.close()
    assert said == [
        "2 of 2 directories cannot be watched (the system's limit is reached); "
        "changes there are noticed when they are looked at."
    ]


def test_closing_ends_its_threads(tmp_path: Path) -> None:
    before = threading.active_count()
    for _ in range(5):
        watcher = Watcher(lambda moved: None, lambda sentence: None)
        watcher.watch([tmp_path])
        (tmp_path / "x").write_text("x")
        watcher.close()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join(5)
    assert threading.active_count() <= before + 1
