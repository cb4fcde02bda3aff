"""A file that a person names on the command line: read whole, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

from steward.errors import NoSuchThing, UsageError


def read_named(file: Path, most: int) -> bytes:
    """What is in it, at the most ``most`` bytes; more is refused rather than cut.

    ``NoSuchThing`` when it is missing, ``UsageError`` when it is too large or cannot be read.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise NoSuchThing("file", file.name) from None
    except OSError as error:
        raise UsageError(f"{file.name} cannot be read: {(error.strerror or 'error').lower()}.") from None
    if len(data) > most:
        raise UsageError(f"{file.name} is larger than {most} bytes.")
    return data


def text_named(file: Path, most: int) -> str:
    """What is in it as text, without a byte order mark. ``UsageError`` when it is not UTF-8, else as ``read_named``."""
    try:
        return read_named(file, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file.name} is not UTF-8 at byte {error.start}.") from None
