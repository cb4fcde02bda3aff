"""A file that a person names, or standard input: read whole, or refused in one sentence."""

from __future__ import annotations

import sys
from pathlib import Path

from steward.errors import NoSuchThing, UsageError


def read_named(file: Path, most: int) -> bytes:
    """What is in it, at the most ``most`` bytes; more is refused rather than cut.

    ``NoSuchThing`` when it is missing, ``UsageError`` when it is too large or cannot be read.
    """
    name = file.name or str(file)
    try:
        with file.open("rb") as stream:
            data = stream.read(most + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise NoSuchThing("file", name) from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {(error.strerror or 'error').lower()}.") from None
    if len(data) > most:
        raise UsageError(f"{name} is larger than {most} bytes.")
    return data


def text_named(file: Path, most: int) -> str:
    """What is in it as text, without a byte order mark. ``UsageError`` when it is not UTF-8, else as ``read_named``."""
    try:
        return read_named(file, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not UTF-8 at byte {error.start}.") from None


def read_standard_input(most: int) -> bytes:
    """What comes through standard input until its end. ``UsageError`` when it is too large or cannot be read."""
    try:
        data = sys.stdin.buffer.read(most + 1)
    except OSError as error:
        raise UsageError(f"Standard input cannot be read: {(error.strerror or 'error').lower()}.") from None
    if len(data) > most:
        raise UsageError(f"Standard input is larger than {most} bytes.")
    return data
