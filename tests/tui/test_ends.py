"""However it ends, the terminal is as it was, and stderr has at most one sentence."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.monorepo import PROJECT
from tests.pty_screen import PtyScreen

PROGRAM = """
import sys
from tests.tui.fake_steward import FakeSteward
from steward.tui import run
from steward.tui.panel.panel import SidePanel
from steward.tui.status import StatusLine
how = sys.argv[1]
def fail(*args):
    secret = "a value that is nobody's business"
    raise RuntimeError(secret)
class Bad(FakeSteward):
    @property
    def focus(self):
        return fail() if how == "mount" else "."
    @focus.setter
    def focus(self, value):
        pass
    async def start(self):
        if how == "start":
            fail()
if how == "draw":
    StatusLine.render_line = fail
if how == "key":
    SidePanel.resize = fail
steward = Bad()
if how == "review":
    from tests.tui.demo import CHANGE
    steward.put(CHANGE)
sys.exit(run(steward.as_steward()))
"""


def opened(how: str) -> PtyScreen:
    """The screen with something wrong inside."""
    environment = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    return PtyScreen([sys.executable, "-c", PROGRAM, how], cwd=Path(PROJECT), environment=environment)


@pytest.mark.parametrize("how", ["mount", "draw"])
def test_a_failure_inside_ends_with_one_sentence_and_code_1(how: str) -> None:
    with opened(how) as screen:
        assert screen.wait_end() == 1
        said = screen.raw.decode("utf-8", "replace")
        after = said.rpartition("\x1b[?1049l")[2] if "\x1b[?1049l" in said else said
        assert "The screen failed (RuntimeError); nothing was written" in after
        assert "Traceback" not in said and "business" not in said
        for mode in ("?1049", "?2004", "?1000", "?1003"):
            assert said.rfind(mode + "h") <= said.rfind(mode + "l"), mode


def test_a_steward_that_cannot_start_says_so_and_the_screen_stays() -> None:
    with opened("start") as screen:
        screen.wait_for("Something failed inside the steward (RuntimeError)")
        assert "business" not in screen.text
        screen.press("ctrl+q")
        assert screen.wait_end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with opened("not at all") as screen:
        screen.wait_for("Instructions here")
        screen.kill(number)
        assert screen.wait_end() == 128 + number
        said = screen.raw.decode("utf-8", "replace")
        for mode in ("?1049", "?2004", "?1000", "?1003"):
            assert said.rfind(mode + "h") < said.rfind(mode + "l"), mode


MODES = ("?1049", "?2004", "?1000", "?1003", "?1006")
"""The screen of its own, marked pastes, the mouse."""


def _off(said: str) -> bool:
    """Whether everything that was switched on is off again, and the cursor is shown."""
    return all(said.rfind(f"\x1b[{mode}h") < said.rfind(f"\x1b[{mode}l") for mode in MODES) and (
        said.rfind("\x1b[?25l") < said.rfind("\x1b[?25h")
    )


SUSPENDED = """
import os, signal, subprocess, sys, termios, time
before = termios.tcgetattr(0)
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], "not at all"], preexec_fn=lambda: (
    os.setpgid(0, 0), signal.signal(signal.SIGTTOU, signal.SIG_IGN), os.tcsetpgrp(0, os.getpid()),
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)))
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.waitpid(child.pid, os.WUNTRACED)
os.tcsetpgrp(0, os.getpgrp())
print("suspended, the terminal is", "the same" if termios.tcgetattr(0)[:4] == before[:4] else "another", flush=True)
sys.stdin.readline()
os.tcsetpgrp(0, child.pid)
os.killpg(child.pid, signal.SIGCONT)
_, status = os.waitpid(child.pid, 0)
os.tcsetpgrp(0, os.getpgrp())
print("ended with", os.waitstatus_to_exitcode(status), flush=True)
print("the terminal is", "the same" if termios.tcgetattr(0)[:4] == before[:4] else "another", flush=True)
time.sleep(0.2)
"""


ENDED = """
import subprocess, sys, termios
before = termios.tcgetattr(0)
child = subprocess.Popen([sys.executable, "-c", *sys.argv[1:]])
code = child.wait()
print("ended with", code, "the terminal is", "the same" if termios.tcgetattr(0) == before else "another", flush=True)
"""
"""What a shell sees: the terminal's own settings before and after."""


@pytest.mark.parametrize("how", ["mount", "draw", "key", "SIGTERM", "SIGHUP", "ctrl+q", "ctrl+c twice"])
def test_every_end_resets_what_was_set_and_leaves_the_terminal_as_it_was(how: str) -> None:
    environment = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    command = [sys.executable, "-c", ENDED, PROGRAM, how]
    with PtyScreen(command, cwd=Path(PROJECT), environment=environment) as screen:
        if how not in ("mount", "draw"):
            screen.wait_for("Instructions here")
        if how.startswith("SIG"):
            (child,) = Path(f"/proc/{screen.pid}/task/{screen.pid}/children").read_text().split()
            os.kill(int(child), signal.Signals[how])
        elif how == "ctrl+q":
            screen.press("ctrl+q")
        elif how == "ctrl+c twice":
            screen.type("\x03\x03")
        elif how == "key":
            screen.press("f7")
        screen.wait_until(lambda: b"ended with" in screen.raw, "the end")
        screen.settle()
        said = screen.raw.decode("utf-8", "replace")
        assert _off(said), how
        assert "the terminal is the same" in said
        assert said.rfind("\x1b[?1049h") < said.rfind("\x1b[?1049l") < said.rfind("ended with")
        wanted = {"ctrl+q": 0, "ctrl+c twice": 0, "SIGTERM": 143, "SIGHUP": 129}.get(how, 1)
        assert f"ended with {wanted} " in said


def test_suspend_gives_the_terminal_back_and_resume_takes_it_again() -> None:
    environment = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    command = [sys.executable, "-c", SUSPENDED, PROGRAM]
    with PtyScreen(command, cwd=Path(PROJECT), environment=environment) as screen:
        screen.wait_for("Instructions here")
        screen.press("ctrl+z")
        screen.wait_until(lambda: b"suspended, the terminal is" in screen.raw, "the suspension")
        screen.settle()
        said = screen.raw.decode("utf-8", "replace")
        assert "suspended, the terminal is the same" in said
        assert _off(said.partition("suspended, the")[0])
        screen.type("\n")
        screen.wait_for("Instructions here")
        screen.settle()
        screen.press("ctrl+q")
        assert screen.wait_end() == 0
        said = screen.raw.decode("utf-8", "replace")
        assert "ended with 0" in said and said.count("the terminal is the same") == 2
        assert _off(said)


def test_a_signal_in_the_review_leaves_the_terminal_as_it_was() -> None:
    with opened("review") as screen:
        screen.wait_for("1 pending")
        screen.press("f4")
        screen.wait_for("hunk 1 of")
        screen.kill(signal.SIGTERM)
        assert screen.wait_end() == 128 + signal.SIGTERM
        assert _off(screen.raw.decode("utf-8", "replace"))
