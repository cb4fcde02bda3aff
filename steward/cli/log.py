"""Where warnings of the steward and its libraries go: a private file of the state directory, never the screen."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

MAX_BYTES = 1_048_576
"""A larger file is begun anew."""


class PrivateFile(logging.FileHandler):
    """A log that only its owner can read, opened when there is something to say."""

    def _open(self) -> TextIOWrapper:
        file = Path(self.baseFilename)
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = os.O_TRUNC if file.exists() and file.stat().st_size > MAX_BYTES else 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | fresh
        return open(os.open(file, flags, 0o600), "a", encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        """Write it if that can be done; a log that cannot be written must not disturb anybody."""
        with suppress(OSError):
            super().emit(record)


def log_to(state: Path) -> None:
    """Send warnings and errors of the whole process to ``steward.log`` below ``state``."""
    root = logging.getLogger()
    if any(isinstance(handler, PrivateFile) for handler in root.handlers):
        return
    handler = PrivateFile(state / "steward.log", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(name)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
