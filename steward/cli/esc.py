"""Lets ``esc`` stop a long command on a terminal, as ctrl+c does."""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
import tty
from collections.abc import Generator
from contextlib import contextmanager, suppress
from select import select

ESC = b"\x1b"


@contextmanager
def esc_is_ctrl_c() -> Generator[None]:
    """While the block runs, an ``esc`` typed alone is what ctrl+c is; other keys are not read by anybody.

    Who was started with ctrl+c ignored hears it here, since the keys are theirs. Does nothing where standard input is
    no terminal, or the command runs in the background of one.
    """
    keyboard = _keyboard()
    if keyboard is None:
        yield
        return
    before = termios.tcgetattr(keyboard)
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ended, end = os.pipe()
    thread = threading.Thread(target=_listen, args=(keyboard, ended), daemon=True)
    tty.setcbreak(keyboard)
    if ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        yield
    finally:
        os.write(end, b".")
        thread.join()
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)
        os.close(ended)
        os.close(end)


def _keyboard() -> int | None:
    """The descriptor of the terminal whose keys are this process's to read."""
    try:
        keyboard = sys.stdin.fileno()
        ours = os.isatty(keyboard) and os.tcgetpgrp(keyboard) == os.getpgrp()
    except (OSError, ValueError):
        return None
    return keyboard if ours else None


def _listen(keyboard: int, ended: int) -> None:
    """Read keys until there is something in ``ended``. A key that sends several bytes, as arrows do, is not ``esc``."""
    with suppress(OSError):
        while ended not in select([keyboard, ended], [], [])[0]:
            typed = os.read(keyboard, 64)
            if not typed:
                return
            if typed == ESC:
                os.kill(os.getpid(), signal.SIGINT)
