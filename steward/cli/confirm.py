"""Asks a person at a terminal for one word; what was typed or pasted before the question never answers it."""

from __future__ import annotations

import select
import sys
import termios
import time

QUIET_SECONDS = 0.3
"""The keyboard must have rested this long before the question counts as asked."""

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
"""Bracketed paste: pasted text comes marked, so that it is not the word."""


def at_a_terminal() -> bool:
    """Whether a person can see the diff and answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def asked_for(word: str, question: str) -> bool:
    """Ask, and tell whether the person typed exactly ``word``. End of input counts as no."""
    return answer(question) == word


def answer(question: str) -> str:
    """Ask, and give the line that was typed, without its end."""
    keyboard = sys.stdin.fileno()
    sys.stdout.flush()
    wait_until_quiet(keyboard)
    sys.stdout.write(f"{PASTE_ON}{question}")
    sys.stdout.flush()
    try:
        typed = sys.stdin.readline()
    finally:
        sys.stdout.write(PASTE_OFF)
        sys.stdout.flush()
    if not typed.endswith("\n"):
        sys.stdout.write("\n")
    return typed.rstrip("\r\n")


def wait_until_quiet(keyboard: int) -> None:
    """Throw away what was typed ahead until nothing more comes for a while."""
    end = time.monotonic() + 10
    termios.tcflush(keyboard, termios.TCIFLUSH)
    quiet_since = time.monotonic()
    while (now := time.monotonic()) < end and now - quiet_since < QUIET_SECONDS:
        ready, _, _ = select.select([keyboard], [], [], QUIET_SECONDS - (now - quiet_since))
        if ready:
            termios.tcflush(keyboard, termios.TCIFLUSH)
            quiet_since = time.monotonic()
