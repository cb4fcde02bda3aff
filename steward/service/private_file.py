"""Small files of the state directory, readable by the person alone and replaced whole."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from steward.conversation import JsonObject

MOST_BYTES = 4 * 1024 * 1024


def write_private(path: Path, shape: JsonObject) -> None:
    """Write ``shape`` as JSON in place of what was there, durably, with mode 0600; raises ``OSError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(shape, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        staged.replace(path)
    except BaseException:
        with suppress(OSError):
            staged.unlink()
        raise


def amend_private(path: Path, amended: Callable[[JsonObject], JsonObject]) -> None:
    """Write what ``amended`` makes of what is there, while nobody else amends it; raises ``OSError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        write_private(path, amended(read_private(path)))
    finally:
        os.close(directory)


def read_private(path: Path) -> JsonObject:
    """What was written there; empty when nothing was, or when it cannot be read as that."""
    try:
        with path.open("rb") as file:
            value: object = json.loads(file.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return cast(JsonObject, value) if isinstance(value, dict) else {}
