"""What changes in a watched directory is told, once for a burst, and nothing else is."""

from __future__ import annotations

import errno
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from steward.watch import Watcher
from tests.workspace.test_bounds import in_child

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


def test_what_is_watched_can_be_gone_through_while_another_thread_arranges_it(
    tmp_path: Path, watcher: Watcher
) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    watcher.watch([tmp_path / "a", tmp_path / "b"])
    seen = iter(watcher._watches)  # pyright: ignore[reportPrivateUsage]
    first = next(seen)
    watcher.watch([tmp_path / "c"])
    assert {first, *seen} == {tmp_path / "a", tmp_path / "b"}
    assert watcher.directories == {tmp_path / "c"}


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


def gone(thread: threading.Thread) -> None:
    thread.join(10)
    assert not thread.is_alive()


def test_closing_ends_its_threads(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    for _ in range(5):
        watcher = Watcher(lambda moved: None, lambda sentence: None)
        watcher.watch([tmp_path])
        (tmp_path / "x").write_text("x")
        watcher.close()
    for thread in set(threading.enumerate()) - before:
        gone(thread)


def watched_at_last(watcher: Watcher, directory: Path) -> None:
    for _ in range(1000):
        if directory in watcher.directories:
            return
        time.sleep(0.01)
    raise AssertionError(f"{directory} is not watched")


def test_a_directory_is_waited_for_from_wherever_something_exists(
    tmp_path: Path, watcher: Watcher, told: Moves
) -> None:
    inner = tmp_path / "one/two/three"
    watcher.watch([inner])
    assert watcher.directories == {tmp_path}
    inner.mkdir(parents=True)
    watched_at_last(watcher, inner)
    (inner / "a").write_text("x")
    assert inner / "a" in until(told, inner / "a")
    assert watcher.directories == {inner}


def test_a_directory_that_is_made_again_is_watched_again_without_being_asked(
    tmp_path: Path, watcher: Watcher, told: Moves
) -> None:
    root = tmp_path / "root"
    for _ in range(3):
        (root / "inner").mkdir(parents=True)
        watcher.watch([root, root / "inner"])
        shutil.rmtree(root)
        until(told, root)
    (root / "inner").mkdir(parents=True)
    watched_at_last(watcher, root / "inner")
    (root / "inner/a").write_text("x")
    assert root / "inner/a" in until(told, root / "inner/a")


def test_a_directory_that_is_made_again_with_the_same_inode_is_watched_again(
    tmp_path: Path, watcher: Watcher, told: Moves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def the_same_inode(directory: Path) -> tuple[int, int]:
        return (1, 1)

    monkeypatch.setattr("steward.watch.watcher._identity", the_same_inode)
    root = tmp_path / "root"
    root.mkdir()
    watcher.watch([root])
    for _ in range(3):
        root.rmdir()
        root.mkdir()
        watcher.watch([root])
        until(told, root)
    (root / "a").write_text("x")
    assert root / "a" in until(told, root / "a")


def test_another_directory_under_the_same_name_is_noticed_when_asked(
    tmp_path: Path, watcher: Watcher, told: Moves
) -> None:
    (tmp_path / "a").mkdir()
    watcher.watch([tmp_path / "a"])
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").mkdir()
    watcher.watch([tmp_path / "a"])
    (tmp_path / "a/x").write_text("x")
    assert tmp_path / "a/x" in until(told, tmp_path / "a/x")


def test_a_storm_of_ten_thousand_files_is_few_calls_and_no_thread_each(
    tmp_path: Path, watcher: Watcher, told: Moves, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher.watch([tmp_path])
    monkeypatch.setattr("steward.watch.watcher.MOST_PATHS", 100)
    threads = threading.active_count()
    for n in range(10_000):
        (tmp_path / f"f{n}").touch()
        if n % 1000 == 0:
            assert threading.active_count() <= threads + 1
    calls = 0
    largest = 0
    with suppress(queue.Empty):
        while True:
            largest = max(largest, len(told.get(timeout=2)))
            calls += 1
    assert 1 <= calls < 100
    assert 1 <= largest <= 103


def test_a_dead_thread_is_said_once_and_nothing_is_watched_any_more(tmp_path: Path) -> None:
    said: list[str] = []
    watcher = Watcher(lambda moved: None, said.append)
    try:
        watcher.watch([tmp_path])
        observer = watcher._observer  # pyright: ignore[reportPrivateUsage]
        assert observer is not None
        observer.stop()
        gone(observer)
        (tmp_path / "below").mkdir()
        watcher.watch([tmp_path, tmp_path / "below"])
        watcher.watch([tmp_path])
        assert watcher.directories == frozenset()
    finally:
        watcher.close()
    assert said == ["Watching files has stopped working; changes are noticed when they are looked at."]


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSYS])
def test_where_nothing_can_be_watched_that_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("watchdog.observers.inotify_c.InotifyFD._create_inotify_fd", refuse)
    said: list[str] = []
    watcher = Watcher(lambda moved: None, said.append)
    watcher.watch([tmp_path])
    watcher.watch([tmp_path])
    watcher.close()
    assert said == ["Files cannot be watched on this system; changes are noticed when they are looked at."]


def test_a_directory_that_may_not_be_read_is_named_as_that_and_the_others_are_watched() -> None:
    with tempfile.TemporaryDirectory() as room:
        place = Path(room)
        place.chmod(0o755)
        (place / "open").mkdir()
        (place / "shut/in").mkdir(parents=True)
        (place / "shut").chmod(0)

        def work() -> str:
            said: list[str] = []
            watcher = Watcher(lambda moved: None, said.append)
            watcher.watch([place / "open", place / "shut", place / "shut/in"])
            names = sorted(found.name for found in watcher.directories)
            watcher.close()
            return f"{names} {said}"

        answer = in_child(65534, work)
        (place / "shut").chmod(0o755)
    assert answer == (
        "['open'] ['1 of 2 directories cannot be watched (permission denied); "
        "changes there are noticed when they are looked at.']"
    )


def test_the_systems_own_limit_is_reached_without_a_word_on_the_terminal(tmp_path: Path) -> None:
    program = (
        "import watchdog.observers, watchdog.events, logging\n"
        "import resource, sys, pathlib; from steward.watch import Watcher\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "held = []\n"
        "try:\n"
        "    while True: held.append(open('/dev/null'))\n"
        "except OSError: pass\n"
        "watcher = Watcher(lambda moved: None, print)\n"
        "watcher.watch([pathlib.Path(sys.argv[1])])\n"
        "for file in held: file.close()\n"
        "watcher.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert (
        done.stdout
        == "Files cannot be watched on this system; changes are noticed when they are looked at.\n"
    )
    assert done.stderr == ""


def test_closing_does_not_wait_for_threads_that_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher = Watcher(lambda moved: None, lambda sentence: None)
    watcher.watch([tmp_path])
    hanging = threading.Event()
    ended: list[bool] = []
    observer = watcher._observer  # pyright: ignore[reportPrivateUsage]
    assert observer is not None
    stop = observer.stop
    monkeypatch.setattr(observer, "stop", lambda: ended.append(hanging.wait(20)))
    watcher.close()
    assert ended == []
    hanging.set()
    stop()


def test_after_closing_nothing_is_told(tmp_path: Path) -> None:
    closed = threading.Event()
    late: list[object] = []
    for _ in range(20):
        closed.clear()
        watcher = Watcher(
            lambda moved: late.append(moved) if closed.is_set() else None, lambda sentence: None
        )
        watcher.watch([tmp_path])
        (tmp_path / "x").write_text("x")
        watcher.close()
        closed.set()
    time.sleep(0.2)
    assert late == []
