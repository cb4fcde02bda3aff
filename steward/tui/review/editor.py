"""The person's own editor on a copy of a file's bytes, in a directory of its own."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from steward.confine.outside import Outside

KNOWS_LINES = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "ne"}
)
"""Editors that take ``+LINE`` before the file."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The bytes after the edit, or ``None`` and why there are none."""

    data: bytes | None
    sentence: str = ""


def command() -> list[str] | None:
    """``$VISUAL``, else ``$EDITOR``, as arguments; ``None`` when neither says anything. No shell reads it."""
    for name in ("VISUAL", "EDITOR"):
        try:
            argv = shlex.split(os.environ.get(name, ""))
        except ValueError:
            continue
        if argv:
            return argv
    return None


def edit(
    argv: list[str],
    path: str,
    data: bytes,
    line: int = 1,
    *,
    outside: Outside | None = None,
    place: Path | None = None,
) -> Edited:
    """Open ``data`` in the editor and wait until it ends.

    The copy bears the name of ``path`` and is private; it lies below ``place``, else where temporary files do.
    """
    name = PurePosixPath(path).name
    if not re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*", name):
        name = "result"
    with tempfile.TemporaryDirectory(prefix="steward-edit-", dir=place) as directory:
        file = Path(directory) / name
        file.write_bytes(data)
        at = [f"+{line}"] if Path(argv[0]).name in KNOWS_LINES and line > 1 else []
        try:
            code = (outside or Outside()).on_terminal([*argv, *at, str(file)])
        except OSError as error:
            return Edited(None, f"The editor could not be started: {error.strerror or type(error).__name__}.")
        if code:
            return Edited(None, f"The editor ended with code {code}; nothing of it was taken.")
        try:
            return Edited(file.read_bytes())
        except OSError:
            return Edited(None, "The editor left no file behind; nothing was taken.")
