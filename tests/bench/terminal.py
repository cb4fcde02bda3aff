"""A program on a terminal of its own, and how long it takes from a key to what it draws."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

PATIENCE = 120.0
"""Seconds after which a program that says nothing has failed."""


class Terminal:
    """The program runs until the block is left; everything it writes is read and dropped."""

    def __init__(self, command: Sequence[str], where: Path, environment: Mapping[str, str]) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(where)
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
                os.execve(command[0], list(command), dict(environment))
            finally:
                os._exit(127)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.kill(self.pid, signal.SIGTERM)
        end = time.monotonic() + 5
        while self.read(0.1) and time.monotonic() < end:
            pass
        if os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def read(self, seconds: float) -> bytes | None:
        """What it writes next; empty when nothing comes, ``None`` once it has ended."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return b""
        try:
            return os.read(self._terminal, 65_536) or None
        except OSError:
            return None

    def rest(self, quiet: float = 0.05) -> None:
        """Read until it has been quiet for so many seconds."""
        while self.read(quiet):
            pass

    def read_for(self, seconds: float) -> None:
        """Read for so many seconds."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.read(left) is not None:
            pass

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    def press(self, key: bytes) -> float:
        """Seconds from a key to the first of what it draws; then it has come to rest."""
        began = time.perf_counter()
        os.write(self._terminal, key)
        if not self.read(PATIENCE):
            raise TimeoutError(f"nothing was drawn for {key!r}")
        took = time.perf_counter() - began
        self.rest()
        return took

    def report(self, path: Path) -> dict[str, float]:
        """Wait for what the program measured itself."""
        end = time.monotonic() + PATIENCE
        while not path.exists():
            if self.read(0.05) is None or time.monotonic() > end:
                raise TimeoutError(f"no figures came from {path.stem}")
        return json.loads(path.read_text("utf-8"))

    def cpu(self) -> float:
        """CPU seconds that the program has taken, its children not counted."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Megabytes of memory that the program holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20
