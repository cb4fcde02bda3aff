"""The two renames that POSIX lacks: swap two names, and move without ever replacing."""

from __future__ import annotations

import ctypes
import errno
import os
import sys

_LINUX_NOREPLACE, _LINUX_EXCHANGE = 1, 2
_DARWIN_SWAP, _DARWIN_EXCL = 2, 4

_SYSCALLS = {
    "x86_64": 316,
    "aarch64": 276,
    "arm64": 276,
    "riscv64": 276,
    "armv7l": 382,
    "armv6l": 382,
    "i686": 353,
    "ppc64le": 357,
    "s390x": 347,
}
"""``renameat2`` by machine, for a libc that has no wrapper of its own (glibc < 2.28, musl < 1.2.4)."""

MISSING = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What a kernel or file system answers that does not have the operation."""


def exchange(at: int, one: str, other_at: int, other: str) -> None:
    """Swap what two names are bound to, in one atomic step.

    Raises ``OSError`` with a number in ``MISSING`` where the system or the file system cannot.
    """
    _rename(at, one, other_at, other, _LINUX_EXCHANGE, _DARWIN_SWAP)


def rename_new(at: int, old: str, new_at: int, new: str) -> None:
    """Rename ``old`` to ``new``, raising ``FileExistsError`` when ``new`` exists, in one atomic step.

    Raises ``OSError`` with a number in ``MISSING`` where the system or the file system cannot.
    """
    _rename(at, old, new_at, new, _LINUX_NOREPLACE, _DARWIN_EXCL)


def _rename(at: int, old: str, new_at: int, new: str, linux: int, darwin: int) -> None:
    if sys.platform == "linux":
        call, flags = _RENAMEAT2, linux
    elif sys.platform == "darwin":
        call, flags = _RENAMEATX, darwin
    else:
        call, flags = None, 0
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    source, target = os.fsencode(old), os.fsencode(new)
    while call(at, source, new_at, target, flags) != 0:
        number = ctypes.get_errno()
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number), old, None, new)


def _bind_renameat2():  # pragma: no cover - one branch a machine
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    wrapper = getattr(libc, "renameat2", None)
    if wrapper is not None:
        wrapper.argtypes, wrapper.restype = arguments, ctypes.c_int
        return wrapper
    number = _SYSCALLS.get(os.uname().machine)
    if number is None:
        return None
    raw = libc.syscall
    raw.argtypes, raw.restype = [ctypes.c_long, *arguments], ctypes.c_long

    def call(at: int, old: bytes, new_at: int, new: bytes, flags: int) -> int:
        return raw(number, at, old, new_at, new, flags)

    return call


def _bind_renameatx():
    wrapper = getattr(ctypes.CDLL(None, use_errno=True), "renameatx_np", None)
    if wrapper is not None:
        wrapper.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        wrapper.restype = ctypes.c_int
    return wrapper


_RENAMEAT2 = _bind_renameat2() if sys.platform == "linux" else None
_RENAMEATX = _bind_renameatx() if sys.platform == "darwin" else None
