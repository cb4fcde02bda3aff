"""Quick looks at the files of one directory: whole files are passed over by their bytes, all else is given back."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.workspace import RepoPath, Workspace
from steward.workspace.policy import Policy

NAMES = ["before", "odd", "after"]


def _larger(at: Path) -> None:
    at.write_bytes(b"x" * 101)


def _socket(at: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(at))


def _link(at: Path) -> None:
    at.symlink_to("before")


def _nothing(at: Path) -> None:
    assert not at.exists()


class Bytes:
    """Passes over all files but those of ``wanted`` bytes, and keeps what it was shown."""

    def __init__(self, wanted: bytes = b"") -> None:
        self.seen: list[bytes] = []
        self._wanted = wanted

    def __call__(self, data: bytes) -> bool:
        self.seen.append(data)
        return not (self._wanted and self._wanted in data)


@pytest.mark.parametrize("make", [_larger, _socket, _link, os.mkfifo, Path.mkdir, _nothing])
def test_what_is_no_file_of_readable_size_is_given_back_and_its_neighbours_are_read(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (below / "before").write_bytes(b"one")
    (below / "after").write_bytes(b"")
    make(below / "odd")
    may_skip = Bytes()
    with Workspace.open(tmp_path, Policy(max_file_bytes=100)) as workspace:
        assert list(workspace.sift(RepoPath(("a", "b")), NAMES, may_skip)) == ["odd"]
    assert may_skip.seen == [b"one", b""]


def test_a_file_that_is_worth_it_is_given_back(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(f"it is {name}")
    with Workspace.open(tmp_path) as workspace:
        assert list(workspace.sift(RepoPath(), NAMES, Bytes(b"is odd"))) == ["odd"]


def test_a_file_that_grows_while_it_is_read_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_bytes(b"line\n")
    read = os.pread

    def later(descriptor: int, size: int, offset: int) -> bytes:
        with (tmp_path / "log").open("ab") as log:
            log.write(b"needle\n")
        return read(descriptor, size, offset)

    with Workspace.open(tmp_path) as workspace:
        monkeypatch.setattr(os, "pread", later)
        assert list(workspace.sift(RepoPath(), ["log"], Bytes())) == ["log"]


def test_what_a_pipe_holds_is_not_taken_out_of_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "odd")
    pipe = os.open(tmp_path / "odd", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(pipe, b"for somebody else")
        with Workspace.open(tmp_path) as workspace:
            assert list(workspace.sift(RepoPath(), ["odd"], Bytes())) == ["odd"]
        assert os.read(pipe, 100) == b"for somebody else"
    finally:
        os.close(pipe)


def test_a_directory_that_became_a_link_gives_every_name_back(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "before").write_text("secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a").symlink_to("../outside")
    may_skip = Bytes()
    with Workspace.open(tmp_path / "root") as workspace:
        assert list(workspace.sift(RepoPath(("a",)), ["before", "after"], may_skip)) == ["before", "after"]
    assert may_skip.seen == []


def test_no_descriptor_is_left_open_when_the_looks_end_early(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(name)
    descriptors = "/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd"
    with Workspace.open(tmp_path) as workspace:
        before = os.listdir(descriptors)
        worth = workspace.sift(RepoPath(), NAMES, Bytes(b"o"))
        assert next(worth) == "before"
        worth.close()
        assert os.listdir(descriptors) == before
