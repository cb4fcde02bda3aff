"""Reads what a person types in ``--plain``; a paste of several lines is one text, and never sends itself."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from steward.cli import output
from steward.cli.confirm import PASTE_OFF, PASTE_ON, wait_until_quiet

PROMPT = "\n> "

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What a terminal puts around a paste."""

LONGEST = 4095
"""Bytes of one line that a terminal hands over; it drops what is typed or pasted beyond them."""

LEAVING = (signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)


def read() -> str | None:
    """The next text; empty where there is none to act on, ``None`` at the end of input."""
    output.flush()
    try:
        with _pastes_marked():
            text = _whole(input(PROMPT))
        text.encode()  # fails for bytes that were no text, as decoding them did where the locale is strict
    except EOFError:
        return None
    except KeyboardInterrupt:
        output.say("\nType /exit to leave.")
        return ""
    except UnicodeError:
        output.say("Not taken: it holds bytes that are no text in this terminal's encoding.")
        return ""
    if _cut(text):
        wait_until_quiet(sys.stdin.fileno())  # the rest of the paste is no question
        output.say(
            f"Not taken: a terminal hands over {LONGEST:,} bytes of a line at most, and the rest of yours is lost. "
            "Break the line, or give the text to steward ask --file."
        )
        return ""
    return text.replace(BEGIN, "").replace(END, "")


def _whole(text: str) -> str:
    """The text with all lines of a paste that begins in it, up to the enter that comes after the paste."""
    told = False
    while text.rfind(BEGIN) > text.rfind(END) and not _cut(text):
        if not told:
            output.say(
                "\nA paste of several lines is one question. Enter after it sends it, ctrl+c drops it."
            )
            output.flush()
            told = True
        text += "\n" + input()
    return text


def _cut(text: str) -> bool:
    """Whether a line is as long as none can be longer."""
    return any(len(row.encode("utf-8", "replace")) >= LONGEST for row in text.split("\n"))


@contextmanager
def _pastes_marked() -> Generator[None]:
    """While the block runs, the terminal marks what is pasted; a signal takes that back."""
    if os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        yield
        return

    def left(number: int, _: FrameType | None) -> None:
        _write(PASTE_OFF)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        signal.signal(number, left)  # only a stopped program goes on
        _write(PASTE_ON + PROMPT)

    handled = [number for number in LEAVING if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, left)
    _write(PASTE_ON)
    try:
        yield
    finally:
        _write(PASTE_OFF)
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _write(text: str) -> None:
    """Past the buffer, which a signal may have interrupted."""
    os.write(sys.stdout.fileno(), text.encode())
