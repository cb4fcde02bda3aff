"""Opening beneath a directory descriptor: by ``openat2`` where the kernel has it, else name by name."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable
from typing import Any, Literal, Protocol

EngineName = Literal["openat2", "walk"]

OPEN_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW
OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
OPEN_PATH = getattr(os, "O_PATH", os.O_NONBLOCK | os.O_NOCTTY) | os.O_CLOEXEC | os.O_NOFOLLOW
"""To look at an object without opening it for real, so that no pipe or device notices."""

_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
_RESOLVE = _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS | _NO_XDEV
_OPENAT2 = 437 if sys.platform == "linux" and os.uname().machine in ("x86_64", "aarch64", "arm64") else None
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()
_STATX_MNT_ID = 0x1000
_AT_EMPTY_PATH = 0x1000


class Engine(Protocol):
    """Opens what lies beneath one directory, never through a link, never on another mount.

    Raises plain ``OSError``: ``ELOOP`` or ``ENOTDIR`` for a link, ``EXDEV`` for a mount.
    """

    name: EngineName
    device: int
    """The device of the directory."""

    def open(self, parts: tuple[str, ...], flags: int) -> int:
        """A new descriptor; ``flags`` is one of the ``OPEN_…`` of this module. No parts mean the directory itself."""
        ...

    def close(self) -> None:
        """Close the directory. Nothing can be opened afterwards, whatever gets its number."""
        ...


class Openat2:
    """The kernel resolves the whole path under ``RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS | NO_XDEV``."""

    name: EngineName = "openat2"

    def __init__(self, root: int) -> None:
        self._root = root
        self.device = os.fstat(root).st_dev

    def close(self) -> None:
        root, self._root = self._root, -1
        os.close(root)

    def open(self, parts: tuple[str, ...], flags: int) -> int:
        path = "/".join(parts).encode(_ENCODING, _ERRORS) or b"."
        # EAGAIN: something was renamed during the look-up and the kernel could not be sure.
        for _ in range(64):
            try:
                return openat2(self._root, path, flags, _RESOLVE)
            except InterruptedError:
                continue
            except BlockingIOError:
                continue
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


class Walk:
    """Each name is opened beneath the descriptor of the one before, with ``O_NOFOLLOW``."""

    name: EngineName = "walk"

    def __init__(self, root: int) -> None:
        self._root = root
        self.device = os.fstat(root).st_dev
        self._mount = mount_of(root)

    def close(self) -> None:
        root, self._root = self._root, -1
        os.close(root)

    def open(self, parts: tuple[str, ...], flags: int) -> int:
        if not parts:
            return os.open(".", flags, dir_fd=self._root)
        at = self._root
        try:
            for name in parts[:-1]:
                below = os.open(name, OPEN_PATH | os.O_DIRECTORY, dir_fd=at)
                if at != self._root:
                    os.close(at)
                at = below
                self._check(at)
            found = os.open(parts[-1], flags, dir_fd=at)
        finally:
            if at != self._root:
                os.close(at)
        try:
            self._check(found)
        except OSError:
            os.close(found)
            raise
        return found

    def _check(self, descriptor: int) -> None:
        if mount_of(descriptor) != self._mount:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))


def choose(root: int, wanted: Literal["auto", "openat2", "walk"]) -> Engine:
    """The engine for a directory descriptor; ``auto`` takes ``openat2`` when it works here.

    Raises ``OSError`` when ``openat2`` was asked for and the kernel, or its sandbox, refuses it.
    """
    if wanted == "walk":
        return Walk(root)
    try:
        os.close(openat2(root, b".", OPEN_PATH, _RESOLVE))
    except OSError:
        if wanted == "openat2":
            raise
        return Walk(root)
    return Openat2(root)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_HOW_BYTES = ctypes.sizeof(_OpenHow)
_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_syscall.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t]


@functools.cache
def _how(flags: int, resolve: int) -> Any:
    return ctypes.byref(_OpenHow(flags, 0, resolve))


def openat2(directory: int, path: bytes, flags: int, resolve: int) -> int:
    """The system call; raises ``OSError``, of ``ENOSYS`` where there is none."""
    if _OPENAT2 is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    descriptor: int = _syscall(_OPENAT2, directory, path, _how(flags, resolve), _HOW_BYTES)
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return descriptor


def _statx() -> Callable[[int], int] | None:
    """A look-up of mount ids by ``statx``, where libc and kernel (5.8) have it."""
    call = getattr(_libc, "statx", None)
    if call is None:
        return None
    call.restype = ctypes.c_int
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]

    def look(descriptor: int) -> int:
        room = ctypes.create_string_buffer(256)
        if call(descriptor, b"", _AT_EMPTY_PATH, _STATX_MNT_ID, room) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        if not int.from_bytes(room.raw[0:4], sys.byteorder) & _STATX_MNT_ID:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        return int.from_bytes(room.raw[144:152], sys.byteorder)

    return look


def _fdinfo(descriptor: int) -> int:
    with open(f"/proc/self/fdinfo/{descriptor}", "rb") as lines:
        for line in lines:
            if line.startswith(b"mnt_id:"):
                return int(line[7:])
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def _device(descriptor: int) -> int:
    return os.fstat(descriptor).st_dev


def _mounts() -> Callable[[int], int]:
    """The best way to tell mounts apart here; bind mounts of the same file system escape ``_device`` alone."""
    probe = os.open("/", OPEN_PATH | os.O_DIRECTORY)
    try:
        for look in (_statx(), _fdinfo):
            if look is None:
                continue
            try:
                look(probe)
            except (OSError, ValueError):
                continue
            return look
        return _device
    finally:
        os.close(probe)


mount_of: Callable[[int], int] = _mounts()
"""A number that differs between mounts, for an open descriptor."""
