"""Drives a real program in a pseudo-terminal and reads its screen as a person would."""

from __future__ import annotations

import fcntl
import importlib
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

KEYS: dict[str, str] = {
    "enter": "\r",
    "tab": "\t",
    "escape": "\x1b",
    "space": " ",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    "f5": "\x1b[15~",
    "f6": "\x1b[17~",
    "f7": "\x1b[18~",
    "f8": "\x1b[19~",
}

PYTE: Any = importlib.import_module("pyte")
"""It has no types, so what is used of it is written down below."""

UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>][0-9;]*[A-Za-z]|\x1bP[^\x1b]*\x1b\\|\x1b\[[?0-9;]*\$[A-Za-z]")
LEAVE_SCREEN = b"\x1b[?1049l"
CUT_SEQUENCE = re.compile(rb"\x1b(?:\[[<=>?0-9;$]*|P[^\x1b]*\x1b?)?$")


class _Cursor(Protocol):
    x: int
    y: int


class _Screen(Protocol):
    @property
    def display(self) -> list[str]: ...
    @property
    def cursor(self) -> _Cursor: ...


class _Stream(Protocol):
    def feed(self, data: bytes) -> None: ...


class NeverShown(AssertionError):
    """What was waited for did not come; the message holds the screen as it was."""


class PtyScreen:
    """A program in a terminal of fixed size. Use it as a context manager: leaving kills the program."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str] | None = None,
        columns: int = 100,
        lines: int = 30,
    ) -> None:
        self.columns, self.lines = columns, lines
        self.raw = bytearray()
        """Every byte the program has written."""
        self.code: int | None = None
        self._screen: _Screen = PYTE.Screen(columns, lines)
        self._stream: _Stream = PYTE.ByteStream(self._screen)
        self._rest = b""
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(cwd)
                # Written from the child, so that no program ever sees the size change.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
                os.execvpe(
                    command[0], list(command), {**(environment or os.environ), "TERM": "xterm-256color"}
                )
            finally:
                os._exit(127)

    def __enter__(self) -> PtyScreen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        os.close(self._terminal)

    # ---- what a person does

    def type(self, text: str) -> None:
        """Write characters as a keyboard would."""
        self.write(text.encode())

    def write(self, data: bytes) -> None:
        """Write bytes that may be no characters."""
        os.write(self._terminal, data)

    def press(self, *names: str) -> None:
        """Press keys by name: ``enter``, ``f4``, ``ctrl+q``, ``a``."""
        for name in names:
            self.type(key_bytes(name))

    def paste(self, text: str) -> None:
        """Write text as a terminal does that brackets what is pasted."""
        self.type(f"\x1b[200~{text}\x1b[201~")

    # ---- what a person sees

    @property
    def text(self) -> str:
        """The screen, line by line, without the blanks at the ends."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def shows(self, text: str) -> bool:
        """Whether ``text`` stands on one line of the screen, with any run of blanks counting as one."""
        return " ".join(text.split()) in "\n".join(" ".join(line.split()) for line in self._screen.display)

    @property
    def line(self) -> str:
        """The line on which the cursor stands, up to the cursor."""
        cursor = self._screen.cursor
        return self._screen.display[cursor.y][: cursor.x]

    def wait_for(self, text: str, seconds: float = 60) -> str:
        """Read until ``text`` is on the screen and give the screen; ``NeverShown`` after ``seconds``."""
        return self.wait_until(lambda: self.shows(text), f"{text!r} to appear", seconds)

    def wait_gone(self, text: str, seconds: float = 60) -> str:
        """Read until ``text`` is no longer on the screen."""
        return self.wait_until(lambda: not self.shows(text), f"{text!r} to go", seconds)

    def wait_until(self, true: Callable[[], bool], what: str = "", seconds: float = 60) -> str:
        """Read until ``true()``; the program's end is the last chance."""
        end = time.monotonic() + seconds
        while not true():
            left = end - time.monotonic()
            if left <= 0 or not self._read(min(left, 0.5)):
                self._read(0)
                if true():
                    break
                raise NeverShown(f"waited for {what or 'something'}; the screen:\n{self.text}")
        return self.text

    def settle(self, quiet: float = 0.3, seconds: float = 10) -> str:
        """Read until nothing new has come for ``quiet`` seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = len(self.raw)
            if not self._read(quiet) or len(self.raw) == before:
                break
        return self.text

    def settle_for(self, seconds: float) -> str:
        """Read for so many seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._read(left):
            pass
        return self.text

    # ---- the end

    def wait_end(self, seconds: float = 60) -> int:
        """Read until the program ends and give its exit code (negative for a signal)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not self._read(0.2) or self._reaped():
                break
        while self.code is None and time.monotonic() < end:
            if not self._reaped():
                time.sleep(0.02)
        if self.code is None:
            raise NeverShown(f"the program did not end; the screen:\n{self.text}")
        return self.code

    def kill(self, signal_number: int = signal.SIGKILL) -> None:
        """Send a signal and, for SIGKILL, wait until the program is gone."""
        if self.code is None and not self._reaped():
            try:
                os.kill(self.pid, signal_number)
            except ProcessLookupError:
                pass
            if signal_number == signal.SIGKILL:
                self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _reaped(self) -> bool:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def _read(self, seconds: float) -> bool:
        """Take in what the program wrote; False once its side of the terminal is closed."""
        ready, _, _ = select.select([self._terminal], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._terminal, 65_536)
        except OSError:
            return False
        self.raw += data
        self._feed(data)
        return bool(data)

    def _feed(self, data: bytes) -> None:
        """Show it, without the sequences that pyte would draw as text; a cut sequence waits for its rest."""
        data = self._rest + data
        cut = CUT_SEQUENCE.search(data)
        self._rest = data[cut.start() :] if cut else b""
        whole = UNKNOWN_TO_PYTE.sub(b"", data[: cut.start()] if cut else data)
        # pyte has one screen alone; what comes back when a program leaves its own is taken to be empty.
        self._stream.feed(whole.replace(LEAVE_SCREEN, LEAVE_SCREEN + b"\x1b[2J\x1b[H"))


def key_bytes(name: str) -> str:
    """What a terminal sends for a key."""
    if name in KEYS:
        return KEYS[name]
    if name.startswith("ctrl+") and len(name) == 6:
        return chr(ord(name[5].upper()) & 0x1F)
    if len(name) == 1:
        return name
    raise ValueError(f"there is no key {name!r}")
