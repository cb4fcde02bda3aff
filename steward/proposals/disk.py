"""Every disk operation of apply, undo and recovery: one small class, so that a test can cut or race between any two."""

from __future__ import annotations

import fcntl
import os
import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Protocol

from steward.proposals import darwin
from steward.proposals import exchange as renames
from steward.workspace import RepoPath

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""To read what may have become a pipe or a device meanwhile, without hanging on it."""
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Ground(Protocol):
    """What apply needs of a workspace."""

    @property
    def identity(self) -> str:
        """Sixteen hex digits that name this workspace on this machine."""
        ...

    def allowed(self, path: RepoPath) -> None:
        """Raise ``PathRefused`` when nobody may touch ``path`` through the steward."""
        ...

    def open_directory(self, path: RepoPath) -> int:
        """A descriptor of a directory beneath the workspace, reached through no link; the caller closes it."""
        ...


class Disk:
    """The real disk. Names are relative to the directory descriptor ``at``; every method may raise ``OSError``.

    A subclass may fail, stop or write behind our back before or after any of them.
    """

    def enter(self, ground: Ground, path: RepoPath) -> int:
        """Open a directory of the workspace; raises ``PathRefused`` when it is not there or not a directory."""
        return ground.open_directory(path)

    def open(self, name: str, flags: int, mode: int = 0o600, *, at: int | None = None) -> int:
        """``openat``."""
        return os.open(name, flags, mode, dir_fd=at)

    def close(self, fd: int) -> None:
        """``close``."""
        os.close(fd)

    def read(self, fd: int, size: int) -> bytes:
        """At most ``size`` bytes; empty at the end."""
        return os.read(fd, size)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """How many bytes of ``data`` were written."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Make a file's bytes, or a directory's names, survive a power cut."""
        if sys.platform == "darwin":
            # Plain fsync leaves the bytes in the drive's own cache (fsync(2) of macOS).
            try:
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
            except OSError:
                pass
        try:
            os.fsync(fd)
        except OSError as error:
            # Some network and FUSE file systems cannot sync a directory, which fsync(2) says by EINVAL.
            if error.errno not in renames.MISSING:
                raise

    def datasync(self, fd: int) -> None:
        """Make a file's bytes survive a power cut, with as much of the rest as it takes to read them."""
        if sys.platform == "linux":
            try:
                os.fdatasync(fd)
                return
            except OSError as error:
                if error.errno not in renames.MISSING:
                    raise
        self.fsync(fd)

    def stat(self, name: str, *, at: int) -> os.stat_result:
        """``fstatat`` without following a link."""
        return os.stat(name, dir_fd=at, follow_symlinks=False)

    def fstat(self, fd: int) -> os.stat_result:
        """``fstat``."""
        return os.fstat(fd)

    def writable(self, name: str, *, at: int) -> bool:
        """Whether this process might write ``name``, by bits, owner, ACL and mount."""
        effective = os.access in os.supports_effective_ids
        return os.access(name, os.W_OK, dir_fd=at, effective_ids=effective)

    def chmod(self, fd: int, mode: int) -> None:
        """``fchmod``."""
        os.fchmod(fd, mode)

    def chown(self, fd: int, uid: int, gid: int) -> None:
        """``fchown``."""
        os.fchown(fd, uid, gid)

    def listxattr(self, fd: int) -> list[str]:
        """Names of extended attributes, ACLs among them."""
        return os.listxattr(fd) if sys.platform == "linux" else []

    def getxattr(self, fd: int, name: str) -> bytes:
        """The value of one attribute."""
        return os.getxattr(fd, name) if sys.platform == "linux" else b""

    def setxattr(self, fd: int, name: str, value: bytes) -> None:
        """Set one attribute."""
        if sys.platform == "linux":
            os.setxattr(fd, name, value)

    def removexattr(self, fd: int, name: str) -> None:
        """Remove one attribute."""
        if sys.platform == "linux":
            os.removexattr(fd, name)

    def copy_attributes(self, source: int, target: int) -> None:
        """Copy ACL and extended attributes where they are reached by other calls than ``setxattr`` (macOS)."""
        if sys.platform == "darwin":
            darwin.copy_attributes(source, target)

    def listdir(self, fd: int) -> list[str]:
        """The names in a directory."""
        return os.listdir(fd)

    def mkdir(self, name: str, mode: int = 0o777, *, at: int | None = None) -> None:
        """``mkdirat``; the umask applies."""
        os.mkdir(name, mode, dir_fd=at)

    def rmdir(self, name: str, *, at: int) -> None:
        """Remove an empty directory."""
        os.rmdir(name, dir_fd=at)

    def unlink(self, name: str, *, at: int) -> None:
        """Remove a name."""
        os.unlink(name, dir_fd=at)

    def link(self, old: str, new: str, *, at: int) -> None:
        """A second name for a file; ``FileExistsError`` when it exists."""
        os.link(old, new, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)

    def rename(self, old: str, new: str, *, at: int) -> None:
        """Rename within a directory, replacing."""
        os.rename(old, new, src_dir_fd=at, dst_dir_fd=at)

    def rename_new(self, old: str, new: str, *, at: int) -> None:
        """Rename within a directory; ``FileExistsError`` when ``new`` exists; see ``exchange.MISSING``."""
        renames.rename_new(at, old, at, new)

    def exchange(self, one: str, other: str, *, at: int) -> None:
        """Swap two names of a directory; see ``exchange.MISSING``."""
        renames.exchange(at, one, at, other)

    def lock(self, fd: int) -> bool:
        """Take the lock on an open file without waiting; whether it was free. Closing or dying gives it back."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def nonce(self) -> str:
        """What makes a name unguessable; hex digits."""
        return secrets.token_hex(8)


@contextmanager
def closing(disk: Disk, fd: int) -> Generator[int]:
    """Close ``fd`` in the end; an error of ``close`` counts, unless another came first."""
    try:
        yield fd
    except OSError:
        with suppress(OSError):
            disk.close(fd)
        raise
    except BaseException:
        disk.close(fd)
        raise
    disk.close(fd)


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write every byte."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(fd, rest) :]


def read_all(disk: Disk, fd: int) -> bytes:
    """Read to the end."""
    pieces: list[bytes] = []
    while piece := disk.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)
