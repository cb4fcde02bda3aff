"""Quick looks at the files of one directory: all bytes or none, and nothing but files is read."""

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


@pytest.mark.parametrize("make", [_larger, _socket, _link, os.mkfifo, Path.mkdir, _nothing])
def test_what_is_no_file_of_readable_size_is_none_and_its_neighbours_are_read(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (below / "before").write_bytes(b"one")
    (below / "after").write_bytes(b"")
    make(below / "odd")
    with Workspace.open(tmp_path, Policy(max_file_bytes=100)) as workspace:
        assert list(workspace.glances(RepoPath(("a", "b")), NAMES)) == [b"one", None, b""]


def test_a_file_that_grows_while_it_is_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_bytes(b"line\n")
    read = os.read

    def later(descriptor: int, size: int) -> bytes:
        with (tmp_path / "log").open("ab") as log:
            log.write(b"needle\n")
        return read(descriptor, size)

    with Workspace.open(tmp_path) as workspace:
        monkeypatch.setattr(os, "read", later)
        assert list(workspace.glances(RepoPath(), ["log"])) == [None]


def test_a_directory_that_became_a_link_gives_none_for_each_name(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "before").write_text("secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a").symlink_to("../outside")
    with Workspace.open(tmp_path / "root") as workspace:
        assert list(workspace.glances(RepoPath(("a",)), ["before", "after"])) == [None, None]


def test_no_descriptor_is_left_open_when_the_looks_end_early(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(name)
    with Workspace.open(tmp_path) as workspace:
        before = os.listdir("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd")
        glances = workspace.glances(RepoPath(), NAMES)
        assert next(glances) == b"before"
        glances.close()
        assert os.listdir("/proc/self/fd" if Path("/proc/self/fd").exists() else "/dev/fd") == before
