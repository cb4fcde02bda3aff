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
sys.exit(run(Bad().as_steward()))
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
