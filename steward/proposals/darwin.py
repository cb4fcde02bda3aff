"""What only macOS has: copying a file's ACL and extended attributes in one call."""

from __future__ import annotations

import ctypes
import os

_COPYFILE_ACL, _COPYFILE_XATTR = 1, 4


def copy_attributes(source: int, target: int) -> None:
    """``fcopyfile`` of everything but bytes, mode and times, between two open files."""
    libc = ctypes.CDLL(None, use_errno=True)
    call = libc.fcopyfile
    call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32]
    call.restype = ctypes.c_int
    if call(source, target, None, _COPYFILE_ACL | _COPYFILE_XATTR) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
