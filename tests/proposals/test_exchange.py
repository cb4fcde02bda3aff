"""The two renames that POSIX lacks, on the real file system."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from steward.proposals.disk import Disk
from steward.proposals.exchange import MISSING, exchange, rename_new
from steward.proposals.moves import move_new
from tests.proposals.watched import Lacking


@pytest.fixture
def at(tmp_path: Path) -> Generator[int]:
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_two_files_trade_their_names(at: int, tmp_path: Path) -> None:
    inodes = (tmp_path / "one").stat().st_ino, (tmp_path / "two").stat().st_ino
    exchange(at, "one", at, "two")
    assert ((tmp_path / "two").stat().st_ino, (tmp_path / "one").stat().st_ino) == inodes


def test_an_exchange_needs_both_names(at: int) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(at, "one", at, "none")
    with pytest.raises(FileNotFoundError):
        exchange(at, "none", at, "one")


def test_a_file_trades_its_name_with_whatever_is_there(at: int, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    exchange(at, "one", at, "link")
    assert (tmp_path / "one").is_symlink() and (tmp_path / "link").read_text() == "1"


def test_a_move_to_a_new_name_never_replaces(at: int, tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        rename_new(at, "one", at, "two")
    rename_new(at, "one", at, "three")
    assert (tmp_path / "three").read_text() == "1" and (tmp_path / "two").read_text() == "2"
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        rename_new(at, "two", at, "dangling")


@pytest.mark.parametrize("missing", [(), ("rename_new",), ("rename_new", "link")])
def test_every_stand_in_for_it_moves_and_refuses_alike(
    missing: tuple[str, ...], at: int, tmp_path: Path
) -> None:
    disk = Lacking(*missing)
    with pytest.raises(FileExistsError):
        move_new(disk, at, "one", "two")
    assert move_new(disk, at, "one", "three") == ("link" not in missing)
    assert sorted(os.listdir(tmp_path)) == ["three", "two"]
    assert (tmp_path / "three").stat().st_nlink == 1


def test_a_file_system_without_the_operation_is_told_from_other_errors(at: int) -> None:
    fd = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    try:
        with pytest.raises(OSError) as caught:
            rename_new(fd, "status", fd, "other")
    finally:
        os.close(fd)
    assert caught.value.errno in MISSING | {errno.EPERM, errno.EACCES, errno.EXDEV, errno.ENOENT, errno.EROFS}


def test_names_that_are_not_text_survive_the_way_through_the_system(at: int, tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\n")
    Disk().rename_new("one", name, at=at)
    assert name in os.listdir(at)
