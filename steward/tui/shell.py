"""The commands of the person for their own shell, typed as ``!command``: shown to them, sent only if they say so."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rich.segment import Segment

from steward.confine.outside import Program
from steward.tui import sentences
from steward.tui.conversation.blocks import FoldBlock
from steward.tui.lines import Line, plain
from steward.tui.looks import Looks
from steward.tui.marks import literal

if TYPE_CHECKING:
    from steward.tui.app import StewardApp

KEPT = 400_000
"""Bytes of output that are kept; the rest is counted and let go."""

SENT = 20_000
"""Characters of output that go to the model when the person attaches it."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that has ended."""

    command: str
    output: str
    code: int
    lost: int
    """Bytes of output that were let go."""

    @property
    def message(self) -> str:
        """What the model is told when the person attaches it."""
        text = self.output.rstrip("\n")
        cut = len(text) - SENT
        if cut > 0:
            text = text[:SENT]
        end = f"\n[{cut + self.lost} more characters]" if cut > 0 or self.lost else ""
        quoted = "\n".join(f"> {line}" for line in (text + end).split("\n"))
        return f"Output of my own command `{self.command}` (exit code {self.code}):\n{quoted}"


class ShellBlock(FoldBlock):
    """A command of the person's with its output."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self.command = command
        self.output = ""
        self.end = "running · esc stops it"
        self.failed = False
        self.open = True

    def headline(self, looks: Looks) -> Line:
        return [
            Segment("! ", looks.accent),
            Segment(plain(self.command), looks.strong),
            Segment(f" · {self.end}", looks.error if self.failed else looks.faint),
        ]

    def body(self, width: int, looks: Looks) -> list[Line]:
        return literal(self.output.rstrip("\n") or "(no output)", width, looks)

    def text(self) -> str:
        return f"!{self.command}\n{self.output}"


class Shell:
    """Runs one command at a time and keeps the output of the last one."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self._process: Program | None = None
        self.last: Ran | None = None
        self.attached: Ran | None = None

    async def run(self, command: str) -> None:
        """Run it in the workspace's directory, without a terminal, in the person's ``$SHELL``."""
        feed = self._app.feed
        if self._process is not None:
            feed.say("A command of yours is still running; esc stops it.", "warning")
            return
        if not (await self._app.steward.trust_view()).trusted:
            feed.say("Shell commands are off here: you have not trusted this repository.", "warning")
            return
        block = ShellBlock(command)
        feed.put(block)
        began = monotonic()
        try:
            self._process = process = await self._app.outside.program(
                [os.environ.get("SHELL") or "/bin/sh", "-c", command], self._app.steward.root
            )
        except OSError as error:
            block.end, block.failed = f"not started: {error.strerror or type(error).__name__}", True
            feed.changed(block)
            return
        try:
            output, lost = await self._read(process, block)
            code = await process.wait()
        finally:
            self.stop()
            self._process = None
        self.last = Ran(command, output, code, lost)
        block.output, block.failed = output, code != 0
        seconds = monotonic() - began
        more = f" · {sentences.bytes_of(lost)} of output let go" if lost else ""
        block.end = (
            f"exit code {code} · {seconds:.1f} s{more} · /attach sends it along with the next question"
        )
        feed.changed(block)

    async def _read(self, process: Program, block: ShellBlock) -> tuple[str, int]:
        pieces = bytearray()
        lost = 0
        assert process.stdout is not None
        while piece := await process.stdout.read(65_536):
            room = max(KEPT - len(pieces), 0)
            pieces += piece[:room]
            lost += max(len(piece) - room, 0)
            if room:
                block.output = pieces.decode("utf-8", "surrogateescape")
                self._app.feed.changed(block)
        return pieces.decode("utf-8", "surrogateescape"), lost

    def stop(self) -> bool:
        """End the command that runs, with all it has started; whether there was one."""
        if self._process is None:
            return False
        running = self._process.returncode is None
        self._app.outside.end(self._process, signal.SIGTERM if running else signal.SIGKILL)
        return True

    def attach(self) -> str:
        """Send the last output along with the next question, or no longer; gives what is so now, as a sentence."""
        if self.attached is not None:
            self.attached = None
            return "The output is not sent."
        if self.last is None:
            return "There is no output yet; !command runs a command of yours."
        self.attached = self.last
        size = min(len(self.last.output), SENT)
        return (
            f"{size:,} characters of output of `{plain(self.last.command)}` go along with your next question; "
            "/attach again keeps them here."
        )

    def with_attached(self, question: str) -> str:
        """The question with what is attached to it."""
        attached, self.attached = self.attached, None
        if attached is None:
            return question
        return f"{question}\n\n{attached.message.encode('utf-8', 'replace').decode()}"
