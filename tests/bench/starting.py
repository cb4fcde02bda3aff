"""From the command to the first word: the commands that only look, and the first paint of the screen."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.bench.measure import Row, Scale, best, compared
from tests.monorepo import PROJECT

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("instructions",),
    ("changes",),
    ("tool", "listFiles", "{}"),
    ("tool", "searchFiles", '{"query": "rules"}'),
)
BARE = """
from textual.app import App
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Markdown, Static

class Bare(App):
    CSS = "#left { width: 1fr; } #panel { width: 36; } Markdown { height: 1fr; }"

    def compose(self):
        with Horizontal():
            with Vertical(id="left"):
                yield Markdown("# Welcome\\n\\nSome words, and a list:\\n\\n- one\\n- two and the end\\n")
                yield Input(placeholder="ask")
            yield Static("panel", id="panel")
        yield Static("status")

Bare().run()
"""
_ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of starting."""
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as room:
        place = Path(room)
        repository = place / "repository"
        (repository / ".git").mkdir(parents=True)
        (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (repository / "README.md").write_text("# Rules\n")
        (place / "bare.py").write_text(BARE)
        environment = {
            "HOME": room,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PROJECT),
            "STEWARD_STATE_DIR": f"{room}/state",
            "TERM": "xterm-256color",
        }

        def run(arguments: Sequence[str]) -> None:
            command = [sys.executable, *arguments]
            subprocess.run(command, cwd=repository, env=environment, capture_output=True, check=True)

        lines = [["-c", "pass"], *(["-m", "steward", *command] for command in COMMANDS)]
        nothing, *times = best(*(partial(run, words) for words in lines), repeat=2 * scale.repeat)
        for command, took in zip(COMMANDS, times, strict=True):
            # A quarter of a second where Python itself takes 20 ms.
            yield compared(f"`steward {' '.join(command[:2])}`", took, nothing, "`python -c pass`", 12.5)
        bare_app = [sys.executable, str(place / "bare.py")]
        screen, bare = best(
            lambda: painted([sys.executable, "-m", "steward"], b"Enter sends", repository, environment),
            lambda: painted(bare_app, b"the end", repository, environment),
            repeat=scale.repeat,
        )
        beside = "a bare app with Markdown, input and panel"
        yield compared("exec to the prompt on the screen", screen, bare, beside, 1.3)


def painted(command: Sequence[str], wanted: bytes, where: Path, environment: Mapping[str, str]) -> None:
    """Start a program on a terminal of its own and wait until it has shown ``wanted``; then it is killed."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            os.chdir(where)
            os.execve(command[0], list(command), {**environment, "COLUMNS": "120", "LINES": "40"})
        finally:
            os._exit(127)
    shown = b""
    end = time.monotonic() + 30
    try:
        while wanted not in _ESCAPES.sub(b"", shown):
            if time.monotonic() > end:
                raise TimeoutError(wanted.decode())
            if select.select([terminal], [], [], 1.0)[0]:
                shown += os.read(terminal, 65536)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
