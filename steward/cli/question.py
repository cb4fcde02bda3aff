"""The question of ``ask``, with what was piped in laid beside it."""

from __future__ import annotations

import os
import re
import select
import stat
import sys
from pathlib import Path

from steward.cli import output
from steward.cli.named_file import text_named
from steward.errors import UsageError

MAX_BYTES = 1_048_576
"""Bytes of a piped text; more is refused rather than cut."""

PATIENCE = 1.0
"""Seconds after which a person is told that standard input is being waited for."""


def question_of(argument: str | None) -> str:
    """The whole question. A lone ``-`` or no argument means that standard input is the question itself."""
    piped = _piped_text()
    if argument is None or argument == "-":
        return _whole(piped)
    question = argument.strip()
    if not question:
        raise UsageError("The question is empty.")
    return question if piped is None or not piped.strip() else f"{question}\n\n{_block(piped)}"


def question_in(file: Path, argument: str | None) -> str:
    """The question in a file, with the argument below it when there is one, and below that what was piped in.

    ``-`` as the file is standard input.
    """
    argument = None if argument == "-" else argument
    piped = _piped_text()
    if str(file) == "-":
        parts = [_whole(piped), (argument or "").strip()]
    else:
        parts = [_text_of(file), (argument or "").strip(), _block(piped) if piped and piped.strip() else ""]
    return "\n\n".join(part for part in parts if part)


def _text_of(file: Path) -> str:
    text = text_named(file, MAX_BYTES).strip()
    if not text:
        raise UsageError(f"{file.name} is empty.")
    return text


def _whole(piped: str | None) -> str:
    """What was piped in, as the question itself."""
    if piped is None or not piped.strip():
        raise UsageError("There is no question: give it as an argument or on standard input.")
    return piped.strip()


def _block(text: str) -> str:
    """The text in a fence longer than any run of backticks inside it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"From standard input:\n{fence}\n{text.removesuffix(chr(10))}\n{fence}"


def _piped_text() -> str | None:
    """What comes through a pipe or a file; ``None`` when standard input is neither."""
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return None
    if not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind) or stat.S_ISSOCK(kind)):
        return None
    if not select.select([descriptor], [], [], PATIENCE)[0]:
        output.note("Waiting for standard input to end; close it with </dev/null if there is nothing to add.")
    data = b""
    while len(data) <= MAX_BYTES and (piece := os.read(descriptor, 65_536)):
        data += piece
    if len(data) > MAX_BYTES:
        raise UsageError(f"Standard input is larger than {MAX_BYTES} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"Standard input is not UTF-8 at byte {error.start}.") from None
