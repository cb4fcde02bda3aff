"""Where a traceback goes: into a file of the state directory, never onto the screen."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from steward import __version__

KEPT = 20
"""Reports; the oldest are deleted."""


def report(error: BaseException) -> str:
    """Keep the traceback and word it for a person in one sentence."""
    from steward.cli.house import state_directory
    from steward.confine.own import perhaps_why

    name, why = type(error).__name__, perhaps_why(error)
    try:
        folder = state_directory() / "crashes"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = _write(folder, error)
    except Exception:
        return f"Something inside the steward went wrong ({name}), and no report of it could be kept.{why}"
    return f"Something inside the steward went wrong ({name}); the report is {short(file)}.{why}"


def short(path: Path) -> str:
    """The path with ``~`` for the home directory."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(path)


def _write(folder: Path, error: BaseException) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    file = folder / f"{stamp}-{os.getpid()}.txt"
    words = "".join(traceback.format_exception(error))
    head = f"steward {__version__}, Python {platform.python_version()}, {sys.platform}\n\n"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
        stream.write(head + words)
    for old in sorted(folder.glob("*.txt"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return file
