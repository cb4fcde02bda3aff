"""A filter of system calls that makes no socket: what Landlock cannot take away, UDP and local sockets among it."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_NUMBER_AT, _MACHINE_AT = 0, 4
_X32 = 0x40000000
_IO_URING = 425
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198), "riscv64": (0xC00000F3, 198)}
"""By machine: how the kernel names its calls' convention, and the number of ``socket``."""


def no_sockets() -> bool:
    """Take ``socket`` and ``io_uring`` from the calling thread and what it starts; whether that can be done here.

    Pairs of connected sockets within the process can still be made: they lead nowhere.
    """
    known = _MACHINES.get(platform.machine())
    if known is None or not sys.platform.startswith("linux") or struct.calcsize("P") != 8:
        return False
    convention, number = known
    steps = [
        (_LOAD, 0, 0, _MACHINE_AT),
        (_EQUAL, 0, 5, convention),  # another convention: refuse
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 3, 0, _X32),
        (_EQUAL, 2, 0, number),
        (_EQUAL, 1, 0, _IO_URING),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    program = b"".join(struct.pack("=HBBI", *step) for step in steps)
    code = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return libc.prctl(_SET_SECCOMP, _FILTER, head, 0, 0) == 0
