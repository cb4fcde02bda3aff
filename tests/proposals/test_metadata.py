"""What a written file keeps of the one before it: mode, owner, attributes, ACLs; and what is refused instead."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from steward.errors import ApplyFailed, StaleProposal
from steward.proposals.apply import apply
from steward.proposals.proposal import FileChange, Proposal
from tests.proposals.ground import Plot, plot
from tests.proposals.scenes import PAIR
from tests.proposals.watched import Unsynced


@pytest.fixture
def pair(tmp_path: Path) -> Generator[Plot]:
    with plot(PAIR, tmp_path) as at:
        yield at


def _one(at: Plot, change: FileChange) -> Proposal:
    return Proposal("change-001", "One file", "2026-01-01T00:00:00Z", (change,), at.workspace.identity)


def _modify(at: Plot, mode: int | None = None) -> Proposal:
    return _one(at, FileChange("a.txt", "modify", b"old a\n", b"new\n", mode, mode))


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o777, 0o4755, 0o2755, 0o6711, 0o1644, 0o666, 0o602])
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o027, 0o077])
def test_mode_bits_are_kept_whatever_the_umask(mode: int, umask: int, pair: Plot) -> None:
    (pair.root / "a.txt").chmod(mode)
    before = os.umask(umask)
    try:
        apply(_modify(pair, mode), pair.workspace, pair.state)
    finally:
        os.umask(before)
    assert stat.S_IMODE((pair.root / "a.txt").stat().st_mode) == mode
    assert (pair.root / "a.txt").read_bytes() == b"new\n"


def test_a_new_file_has_exactly_the_mode_that_was_shown(pair: Plot) -> None:
    before = os.umask(0o077)
    try:
        apply(_one(pair, FileChange("x", "create", None, b"x", None, 0o755)), pair.workspace, pair.state)
    finally:
        os.umask(before)
    assert stat.S_IMODE((pair.root / "x").stat().st_mode) == 0o755


def test_a_new_file_without_a_mode_follows_the_umask(pair: Plot) -> None:
    before = os.umask(0o027)
    try:
        apply(_one(pair, FileChange("x", "create", None, b"x")), pair.workspace, pair.state)
    finally:
        os.umask(before)
    assert stat.S_IMODE((pair.root / "x").stat().st_mode) == 0o640


def test_a_mode_can_be_changed_with_and_without_bytes(pair: Plot) -> None:
    (pair.root / "a.txt").chmod(0o644)
    change = FileChange("a.txt", "modify", b"old a\n", b"old a\n", 0o644, 0o755)
    apply(_one(pair, change), pair.workspace, pair.state)
    assert stat.S_IMODE((pair.root / "a.txt").stat().st_mode) == 0o755


ROOT = os.geteuid() == 0
OWNER = (
    (1234, 2345) if ROOT else (os.geteuid(), min({*os.getgroups()} - {os.getegid()}, default=os.getegid()))
)
"""An owner and a group that a new file would not have by itself, as far as this user may give a file away."""


def test_owner_and_group_are_kept(pair: Plot) -> None:
    os.chown(pair.root / "a.txt", *OWNER)
    apply(_modify(pair), pair.workspace, pair.state)
    found = (pair.root / "a.txt").stat()
    assert (found.st_uid, found.st_gid) == OWNER


def test_a_setuid_bit_survives_a_change_of_owner(pair: Plot) -> None:
    os.chown(pair.root / "a.txt", *OWNER)
    (pair.root / "a.txt").chmod(0o6755)
    apply(_modify(pair, 0o6755), pair.workspace, pair.state)
    found = (pair.root / "a.txt").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (*OWNER, 0o6755)


def test_extended_attributes_are_kept_and_none_is_added(pair: Plot) -> None:
    path = pair.root / "a.txt"
    os.setxattr(path, "user.origin", b"\x00\xffbytes")
    os.setxattr(path, "user.empty", b"")
    apply(_modify(pair), pair.workspace, pair.state)
    assert {n: os.getxattr(path, n) for n in os.listxattr(path)} == {
        "user.origin": b"\x00\xffbytes",
        "user.empty": b"",
    }


def _acl(*entries: tuple[int, int, int]) -> bytes:
    """``system.posix_acl_access`` as the kernel wants it: version 2, then tag, permissions, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


_ANY = 0xFFFFFFFF
ACL = _acl((1, 6, _ANY), (2, 7, os.geteuid()), (4, 4, _ANY), (16, 7, _ANY), (32, 0, _ANY))
"""The owner may write, this user by name may do all, the group may read, others nothing."""


def test_access_control_lists_are_kept(pair: Plot) -> None:
    path = pair.root / "a.txt"
    os.setxattr(path, "system.posix_acl_access", ACL)
    mode = stat.S_IMODE(path.stat().st_mode)
    apply(_modify(pair, mode), pair.workspace, pair.state)
    assert os.getxattr(path, "system.posix_acl_access") == ACL
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_default_list_of_the_directory_is_not_forced_on_a_file_without_one(pair: Plot) -> None:
    os.setxattr(pair.root, "system.posix_acl_default", ACL)
    apply(_modify(pair), pair.workspace, pair.state)
    assert os.listxattr(pair.root / "a.txt") == []


def test_a_renamed_file_takes_owner_mode_and_attributes_along(pair: Plot) -> None:
    path = pair.root / "a.txt"
    os.chown(path, *OWNER)
    path.chmod(0o4711)
    os.setxattr(path, "user.origin", b"x")
    change = FileChange("e/r.txt", "rename", b"old a\n", b"old a\n", 0o4711, 0o4711, old_path="a.txt")
    apply(_one(pair, change), pair.workspace, pair.state)
    found = (pair.root / "e" / "r.txt").stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (*OWNER, 0o4711)
    assert os.getxattr(pair.root / "e" / "r.txt", "user.origin") == b"x"
    assert not path.exists()


def test_a_file_without_any_write_bit_is_refused_even_for_root(pair: Plot) -> None:
    (pair.root / "a.txt").chmod(0o555)
    with pytest.raises(StaleProposal, match="read-only"):
        apply(_modify(pair, 0o555), pair.workspace, pair.state)


def _unprivileged(at: Plot, act: Callable[[], object]) -> str:
    """What comes of ``act`` as a user who is not root: in a process of its own that gave root up, when we are."""
    if ROOT:
        for directory in (at.root, *at.root.parents):
            if directory != Path("/"):
                directory.chmod(directory.stat().st_mode | 0o055)
        at.state.mkdir(exist_ok=True)
        os.chown(at.state, 65534, 65534)
        at.root.chmod(at.root.stat().st_mode & 0o7755 | (0o022 if at.root.stat().st_mode & 0o200 else 0))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if ROOT:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            said = f"done: {act()}"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read().decode()


class _Anothers(Unsynced):
    """Every file that is read belongs to somebody else, and nothing can be given to them."""

    def __init__(self) -> None:
        self._read: set[int] = set()

    def open(self, name: str, flags: int, mode: int = 0o600, *, at: int | None = None) -> int:
        fd = super().open(name, flags, mode, at=at)
        if flags & os.O_WRONLY:
            self._read.discard(fd)
        else:
            self._read.add(fd)
        return fd

    def fstat(self, fd: int) -> os.stat_result:
        found = super().fstat(fd)
        if fd not in self._read:
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:10]))

    def chown(self, fd: int, uid: int, gid: int) -> None:
        raise PermissionError(1, "Operation not permitted")


def test_another_users_file_is_refused_rather_than_taken_over(pair: Plot) -> None:
    with pytest.raises(ApplyFailed) as caught:
        apply(_modify(pair), pair.workspace, pair.state, _Anothers())
    assert (
        str(caught.value)
        == "a.txt belongs to another user or group, which could not be kept; nothing was written."
    )
    assert pair.tree == PAIR.before


def test_a_file_that_this_user_may_not_write_is_refused(pair: Plot) -> None:
    (pair.root / "a.txt").chmod(0o464)
    said = _unprivileged(pair, lambda: apply(_modify(pair), pair.workspace, pair.state))
    assert said.startswith("StaleProposal:") and "a.txt is read-only" in said
    assert pair.tree["a.txt"] == ("file", 0o464, b"old a\n")


def test_a_directory_that_this_user_may_not_write_fails_and_touches_nothing(pair: Plot) -> None:
    if ROOT:
        os.chown(pair.root / "a.txt", 65534, 65534)
    pair.root.chmod(0o555)
    said = _unprivileged(pair, lambda: apply(_modify(pair), pair.workspace, pair.state))
    pair.root.chmod(0o755)
    assert (
        said
        == "ApplyFailed: change-001 was not applied: the system says 'Permission denied'. Nothing was changed."
    )
    assert pair.tree == PAIR.before
