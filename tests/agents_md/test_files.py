"""Reads stay inside and never wait, also while somebody swaps what is read."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from steward.agents_md import Disk, Resolver, Settings
from steward.agents_md.files import NotRegular, TooLarge


def swap_until(done: threading.Event, step: object) -> threading.Thread:
    """A thread that calls ``step`` again and again until ``done`` is set."""
    assert callable(step)

    def work() -> None:
        while not done.is_set():
            step()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "AGENTS.md").write_text("wombat\n")
    (outside / "rules.md").write_text("wombat\n")
    return root


def test_a_directory_swapped_for_a_link_never_leads_outside(repository: Path) -> None:
    (repository / "pkg").mkdir()
    (repository / "pkg/AGENTS.md").write_text("inside\n")
    (repository / "link").symlink_to("../outside")
    done = threading.Event()

    def swap() -> None:
        (repository / "pkg").rename(repository / "away")
        (repository / "link").rename(repository / "pkg")
        (repository / "pkg").rename(repository / "link")
        (repository / "away").rename(repository / "pkg")

    thread = swap_until(done, swap)
    try:
        resolver = Resolver(repository)
        seen: set[str] = set()
        for _ in range(4000):
            resolution = resolver.resolve("pkg/a.py")
            seen.update(document.text for document in resolution.documents)
    finally:
        done.set()
        thread.join()
    assert seen == {"inside\n"}


def test_a_linked_document_whose_way_is_swapped_never_leads_outside(repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs/rules.md").write_text("inside\n")
    (repository / "link").symlink_to("../outside")
    (repository / "AGENTS.md").symlink_to("docs/rules.md")
    done = threading.Event()

    def swap() -> None:
        (repository / "docs").rename(repository / "away")
        (repository / "link").rename(repository / "docs")
        (repository / "docs").rename(repository / "link")
        (repository / "away").rename(repository / "docs")

    thread = swap_until(done, swap)
    try:
        resolver = Resolver(repository)
        seen: set[str] = set()
        for _ in range(4000):
            seen.update(document.text for document in resolver.resolve("a.py").documents)
    finally:
        done.set()
        thread.join()
    assert seen == {"inside\n"}


def test_a_document_swapped_for_a_pipe_never_blocks(repository: Path) -> None:
    document, pipe = repository / "AGENTS.md", repository / "pipe"
    document.write_text("inside\n")
    os.mkfifo(pipe)
    done = threading.Event()

    def swap() -> None:
        document.rename(repository / "away")
        pipe.rename(document)
        document.rename(pipe)
        (repository / "away").rename(document)

    thread = swap_until(done, swap)
    try:
        resolver = Resolver(repository)
        for _ in range(3000):
            for found in resolver.resolve("a.py").documents:
                assert found.text == "inside\n"
    finally:
        done.set()
        thread.join()


def test_a_document_that_grows_is_whole_or_over_the_limit(repository: Path) -> None:
    document = repository / "AGENTS.md"
    done = threading.Event()

    def grow() -> None:
        with document.open("ab", buffering=0) as out:
            for _ in range(64):
                out.write(b"0123456789abcdef" * 64)
        document.write_bytes(b"0123456789abcdef")

    document.write_bytes(b"0123456789abcdef")
    thread = swap_until(done, grow)
    try:
        resolver = Resolver(repository, Settings(max_document_bytes=40_000))
        for _ in range(2000):
            for found in resolver.resolve("a.py").documents:
                assert found.bytes == len(found.text) <= 40_000
    finally:
        done.set()
        thread.join()


def test_what_is_not_regular_any_more_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_text("x" * 10)
    folder = Disk().open(str(tmp_path))
    assert folder is not None
    try:
        with pytest.raises(NotRegular):
            folder.read("pipe", 100)
        with pytest.raises(OSError, match="ymbolic link"):
            folder.read("link", 100)
        with pytest.raises(TooLarge) as caught:
            folder.read("file", 9)
        assert caught.value.size == 10
        assert folder.read("file", 10)[0] == b"x" * 10
    finally:
        folder.close()


def test_a_file_that_claims_no_size_is_bounded_too() -> None:
    folder = Disk().open(os.path.realpath("/proc/self"))
    assert folder is not None
    try:
        assert folder.read("status", 1_000_000)[0].startswith(b"Name:")
        with pytest.raises(TooLarge):
            folder.read("status", 20)
    finally:
        folder.close()


def test_a_sparse_giant_is_refused_without_being_read(repository: Path) -> None:
    with (repository / "AGENTS.md").open("wb") as out:
        out.truncate(1 << 40)
    began = time.process_time()
    resolution = Resolver(repository).resolve("a.py")
    assert resolution.outcome == "size-limit"
    assert time.process_time() - began < 5
