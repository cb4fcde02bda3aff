"""The one program that a confined steward still starts: where ripgrep is, and its loader."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_HEAD = 64 * 1024


def find_program(
    workspace: Path, environment: Mapping[str, str] | None = None, interpreter: str = sys.executable
) -> str | None:
    """Where ``rg`` is: beside the interpreter, as its wheel puts it there, else on the ``PATH``.

    A directory of the ``PATH`` that is relative or lies in the workspace is passed over: what a repository
    brings along is not run.
    """
    path = (os.environ if environment is None else environment).get("PATH", "")
    return _found(workspace, path, interpreter)


@lru_cache(maxsize=8)
def _found(workspace: Path, path: str, interpreter: str) -> str | None:
    places = [Path(interpreter).parent]
    for directory in filter(os.path.isabs, path.split(os.pathsep)):
        try:
            if not Path(directory).resolve().is_relative_to(workspace):
                places.append(Path(directory))
        except (OSError, RuntimeError):
            continue
    for place in places:
        program = place / "rg"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    return None


def loader_of(program: Path) -> Path | None:
    """The loader that a dynamically linked ELF program names; the kernel starts it in the program's place."""
    with suppress(OSError, struct.error, ValueError):
        with program.open("rb") as file:
            head = file.read(_HEAD)
        if head[:6] != b"\x7fELF\x02\x01":
            return None
        table, size, count = (
            struct.unpack_from(form, head, at)[0] for form, at in (("<Q", 32), ("<H", 54), ("<H", 56))
        )
        for number in range(count):
            kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", head, table + number * size)
            if kind == 3:
                return Path(os.fsdecode(head[offset : offset + length].split(b"\0")[0]))
    return None
