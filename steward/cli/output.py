"""Everything the command line writes: visible on a terminal, exact in a pipe, quiet when nobody reads."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any

from steward.conversation import clean
from steward.errors import StewardError
from steward.visible import line, visible

SENTENCE = 600
"""Characters of an error's sentence."""


class OutputClosed(Exception):
    """Whoever read standard output has gone; there is nobody left to tell."""


class OutputFailed(StewardError):
    """Standard output could not be written."""


def prepare() -> None:
    """Make both streams UTF-8 where nobody's locale says otherwise, and unable to fail on a character."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            encoding = stream.encoding if stream.isatty() else "utf-8"
            reconfigure(encoding=encoding, errors="backslashreplace", newline="\n")


def say(text: str = "") -> None:
    """One or more lines for a person on standard output."""
    _write(visible(text) + "\n")


def say_exactly(text: str) -> None:
    """Text that a program may read: exact in a pipe, with everything visible on a terminal."""
    if sys.stdout.isatty():
        _write(visible(text, keep="\n\t"))
    else:
        _write_bytes(clean(text).encode())


def say_bytes(data: bytes) -> None:
    """The same for bytes."""
    if sys.stdout.isatty():
        _write(visible(data.decode("utf-8", "replace"), keep="\n\t"))
    else:
        _write_bytes(data)


def say_diff(text: str) -> None:
    """The text of a review, already visible; coloured on a terminal unless NO_COLOR is set."""
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        text = "\n".join(_coloured(row) for row in text.split("\n"))
    _write(text + "\n")


def _coloured(row: str) -> str:
    colour = {"+": "32", "-": "31", "!": "33", "@": "36"}.get(row[:1])
    return f"\x1b[{colour}m{row}\x1b[0m" if colour else row


def say_json(value: object) -> None:
    """A JSON text; hidden characters are escaped, so that it is exact and yet never acts on a terminal."""
    _write(json_text(value, indent=2) + "\n")


def say_json_line(value: object) -> None:
    """A JSON text on one line, handed over at once."""
    _write(json_text(value) + "\n")
    flush()


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON in which every character that ``visible`` would replace stands as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _NOT_ASCII.sub(lambda match: _escape(match[0]), text)


def note(text: str) -> None:
    """A line for a person on standard error; failing to say it is no failure."""
    _to_stderr(visible(text) + "\n")


def raw_note(text: str) -> None:
    """Text with the steward's own control sequences on standard error."""
    _to_stderr(text)


def fail(sentence: str) -> None:
    """The one sentence of an error on standard error; what a long argument brought into it is cut in the middle."""
    shown = line(sentence)
    if len(shown) > SENTENCE:
        shown = f"{shown[: SENTENCE - 100]}…{shown[-100:]}"
    _to_stderr(f"steward: {shown}\n")


def flush() -> None:
    """Hand over what is buffered, here where a failure can still be handled.

    The editor's connection closes standard output itself when its reader goes; then nothing is left to hand over.
    """
    if not sys.stdout.closed:
        _guarded(sys.stdout.flush)


def forget_output() -> None:
    """Point standard output at nothing, so that Python's own last flush stays quiet."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    except OSError:
        pass


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> str:
    """Columns of equal width, two blanks between them, each cell on one line."""
    cells = [[line(cell) for cell in row] for row in rows]
    if not cells:
        return ""
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def plural(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(items: Iterable[str]) -> str:
    """``a, b and c``."""
    words = list(items)
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


_NOT_ASCII = re.compile("[^\n -~]")


def _escape(character: str) -> str:
    if character.isprintable() and visible(character) == character:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def _write(text: str) -> None:
    _guarded(sys.stdout.write, text)


def _write_bytes(data: bytes) -> None:
    buffer: IO[bytes] = sys.stdout.buffer
    _guarded(sys.stdout.flush)
    _guarded(buffer.write, data)


def _guarded(write: Any, *arguments: object) -> None:
    try:
        write(*arguments)
    except OSError as error:
        if error.errno in (errno.EPIPE, errno.EBADF, errno.EIO):
            raise OutputClosed from None
        reason = (error.strerror or "an error").lower()
        raise OutputFailed(f"Standard output cannot be written: {reason}.") from None


def _to_stderr(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
