"""Landlock through ctypes: a thread gives up the file system and the network but for what it names."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_SET_NO_NEW_PRIVILEGES, _GET_NO_NEW_PRIVILEGES = 38, 39
_PATH_BENEATH, _NET_PORT = 1, 2
"""The kinds of rule."""
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = {2: _REFER, 3: _TRUNCATE, 5: _IOCTL}
"""What the kernel can hold to, from the first version of Landlock on and since a later one."""
_BIND, _CONNECT = 1 << 0, 1 << 1
_SCOPES = 1 << 0 | 1 << 1
"""Abstract Unix sockets of other processes, and signals to them."""

READ = _READ_FILE | _READ_DIR
"""Read files and list folders."""
RUN = _READ_FILE | _EXECUTE
"""Start a program."""
USE = _READ_FILE | _WRITE_FILE | _IOCTL
"""Read and write a device."""
OWN = READ | _WRITE_FILE | _TRUNCATE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _REFER
"""Do everything with files and folders; no links, pipes, sockets or devices are made."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What may still be done with a file, or with a folder and all below it."""

    path: Path
    rights: int = READ


def abi() -> int:
    """The version of Landlock that the kernel speaks; 0 when it speaks none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


class Ruleset:
    """What may still be used: files and folders, and ports to connect to (``None``: every port)."""

    def __init__(
        self, grants: Iterable[Grant], ports: Iterable[int] | None = None, *, handled: int | None = None
    ) -> None:
        """``handled`` are the rights that are taken, all of them for ``None``. ``OSError`` without Landlock."""
        self.version = abi()
        if not self.version:
            raise OSError("the kernel has no Landlock")
        known = _FIRST_RIGHTS | sum(right for since, right in _LATER_RIGHTS.items() if self.version >= since)
        self._rights = known if handled is None else known & handled
        self.ports = None if ports is None or self.version < 4 else tuple(sorted(set(ports)))
        # Nobody is listened to in any case: that right is taken and given back for no port.
        network = 0 if self.version < 4 else _BIND if self.ports is None else _BIND | _CONNECT
        scopes = _SCOPES if self.version >= 6 else 0
        words = 1 if self.version < 4 else 2 if self.version < 6 else 3
        attributes = struct.pack("QQQ", self._rights, network, scopes)[: 8 * words]
        self.descriptor = _checked(
            _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
        )
        try:
            for grant in grants:
                self._allow(grant)
            for port in self.ports or ():
                rule = struct.pack("QQ", _CONNECT, port)
                _checked(_call(_ADD, self.descriptor, ctypes.c_int(_NET_PORT), rule, ctypes.c_uint32(0)))
        except BaseException:
            os.close(self.descriptor)
            raise

    def restrict(self) -> None:
        """Hold the calling thread, and whatever it starts from here on, to the rules for good."""
        libc = _libc()
        _checked(libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_call(_RESTRICT, self.descriptor, ctypes.c_uint32(0)))

    def close(self) -> None:
        """Give the descriptor back; the restriction stays."""
        os.close(self.descriptor)

    def _allow(self, grant: Grant) -> None:
        try:
            place = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # What is not there needs no rule.
        try:
            rights = grant.rights & self._rights
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _FILE_RIGHTS
            if not rights:
                return
            rule = struct.pack("=Qi", rights, place)
            _checked(_call(_ADD, self.descriptor, ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0)))
        finally:
            os.close(place)


def restricted() -> bool:
    """Whether this thread can gain no privileges any more, as one that is held cannot."""
    return sys.platform.startswith("linux") and _libc().prctl(_GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 1


def threads() -> int:
    """How many threads of this process there are, native ones among them; 0 when that is not known."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return 0


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(*arguments: Any) -> int:
    libc = _libc()
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(arguments[0]), *arguments[1:]))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
