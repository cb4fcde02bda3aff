"""Carrying text out of the screen: to the clipboard by OSC 52, or into a file where that cannot be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from steward.confine.outside import Outside
from steward.errors import NoSuchThing, UsageError
from steward.tui import sentences
from steward.visible import hidden

if TYPE_CHECKING:
    from steward.tui.app import StewardApp

MOST = 74_994
"""Bytes of text that every terminal takes in one OSC 52: 100,000 characters of base64, less the sequence itself."""


def wanted(answers: list[str], argument: str) -> tuple[str, str]:
    """What ``/copy`` means, and its name: the last answer, or its code block of that number."""
    if not answers:
        raise NoSuchThing("answer", "last")
    if not argument:
        return answers[-1], "The last answer"
    number = argument.removeprefix("code").strip() or "1"
    if not number.isdigit():
        raise UsageError("/copy takes the number of a code block of the last answer, or nothing.")
    blocks = code_blocks(answers[-1])
    if not 1 <= int(number) <= len(blocks):
        raise NoSuchThing("code block", number)
    return blocks[int(number) - 1], f"Code block {number} of {len(blocks)}"


def code_blocks(answer: str) -> list[str]:
    """The fenced blocks of Markdown, byte for byte."""
    from steward.tui.markdown import parser

    return [token.content for token in parser().parse(answer) if token.type == "fence"]


def copy(app: StewardApp, text: str, what: str) -> str:
    """Put ``text`` into the clipboard, or into a private file if it is too much; gives what was done."""
    size = len(text.encode("utf-8", "surrogateescape"))
    unseen = hidden(text)
    warning = f" It holds {sentences.count(unseen, 'hidden character')}." if unseen else ""
    if size <= MOST:
        app.copy_to_clipboard(text)
        return f"{what} was given to the terminal's clipboard ({sentences.bytes_of(size)}).{warning}"
    place = Path(app.steward.workspace_view().state) / "copied.txt"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(place, flags, 0o600), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise UsageError(
            f"{what} is too large for a clipboard and could not be kept: {error.strerror}."
        ) from None
    return f"{what} is too large for a terminal's clipboard ({sentences.bytes_of(size)}); it is in {place}.{warning}"


def write_new(name: str, text: str, outside: Outside | None = None) -> str:
    """Write a file the person names, anywhere, which must not exist; gives what was done."""
    if not name:
        raise UsageError("Name a file: /export talk.md, or /export talk.jsonl for a script that replays it.")
    path = Path(name).expanduser()
    try:
        with open((outside or Outside()).new_file(path), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    except FileExistsError:
        raise UsageError(f"{path.name} exists and was left alone; name another file.") from None
    except OSError as error:
        raise UsageError(
            f"{path.name} could not be written: {error.strerror or type(error).__name__}."
        ) from None
    return f"The conversation was written to {path.name}."
