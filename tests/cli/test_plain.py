"""``steward --plain``: the same conversation in lines, and a word that must be typed before anything is written."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Generator
from pathlib import Path

import pytest

from steward.service.commands import COMMANDS
from tests.cli.program import Program
from tests.monorepo import copy_monorepo
from tests.pty_screen import PtyScreen

FILE = "docs/returns.md"
PASTE_ON, PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"


@pytest.fixture
def place(tmp_path: Path) -> Program:
    (tmp_path / "home").mkdir()
    return Program(copy_monorepo(tmp_path / "shop"), tmp_path / "home")


@pytest.fixture
def opened(place: Program) -> Generator[PtyScreen]:
    with PtyScreen(
        place.command("--plain"), cwd=place.directory, environment=place.environment, columns=120, lines=60
    ) as screen:
        screen.wait_for("Type a question, or /help", 60)
        yield screen


def test_a_question_becomes_a_change_that_a_typed_word_applies(place: Program, opened: PtyScreen) -> None:
    before = (place.directory / FILE).read_text()
    opened.type('replace "within 30 days" with "within 60 days" in docs/returns.md\r')
    opened.wait_for("change-001 waits for you; /show-change reads it", 60)
    opened.wait_for("End of the turn: answered.")
    opened.type("/apply-change\rapply\rapply\r")
    opened.wait_for("Type apply to write change-001")
    opened.settle(0.5)
    assert (place.directory / FILE).read_text() == before
    assert opened.shows("within 60 days")
    opened.type("yes\r")
    opened.wait_for("Nothing was written.")
    opened.type("/apply-change\r")
    opened.settle(1.0)
    opened.paste("apply\n")
    opened.type("\r")
    opened.settle(0.5)
    assert (place.directory / FILE).read_text() == before
    opened.type("/apply-change 1\r")
    opened.settle(1.0)
    opened.type("apply\r")
    opened.wait_for("change-001 applied: docs/returns.md.")
    assert "within 60 days" in (place.directory / FILE).read_text()
    opened.type("/exit\r")
    assert opened.wait_end() == 0
    assert b"\x1b[?1049h" not in opened.raw


def test_lines_of_a_pasted_text_decide_nothing(place: Program, opened: PtyScreen) -> None:
    before = (place.directory / FILE).read_text()
    opened.type('replace "within 30 days" with "within 60 days" in docs/returns.md\r')
    opened.wait_for("change-001 waits for you", 60)
    opened.wait_for("End of the turn: answered.")
    opened.type("/apply-change\napply\n/discard-change change-001\ndiscard\n")
    opened.wait_for("Type apply to write change-001")
    opened.settle(0.6)
    opened.type("\r")
    opened.wait_for("Nothing was written.")
    opened.type("/discard-change change-001 no longer wanted\ndiscard\n/trust nothing\n")
    opened.wait_for("Type discard to set change-001 aside")
    opened.settle(0.6)
    opened.type("\r")
    opened.wait_for("change-001 stays pending.")
    assert (place.directory / FILE).read_text() == before
    (view,) = place("changes", "--json").json
    assert view["status"] == "pending"
    opened.type("/discard-change change-001 no longer wanted\r")
    opened.settle(1.0)
    opened.type("discard\r")
    opened.wait_for("change-001 discarded.")
    assert place("changes", "--json").json == []


def test_a_paste_of_several_lines_is_one_question_that_waits_for_enter(
    place: Program, opened: PtyScreen, tmp_path: Path
) -> None:
    opened.paste("Why is it so?\n\n/apply-change\nüß 東京 and no end")
    opened.wait_for("A paste of several lines is one question. Enter after it sends it")
    opened.settle(0.5)
    assert not opened.shows("End of the turn")
    opened.type(", please\r")
    opened.wait_for("End of the turn")
    opened.settle(0.3)
    opened.type("/export talk.md\r")
    opened.wait_for("was written to talk.md")
    asked = "> Why is it so?\n>\n> /apply-change\n> üß 東京 and no end, please\n"
    assert asked in (place.directory / "talk.md").read_text()
    assert opened.raw.count(b"End of the turn") == 1


def test_a_paste_is_dropped_by_ctrl_c_and_a_line_too_long_for_the_terminal_is_said(opened: PtyScreen) -> None:
    opened.paste("one\ntwo\n")
    opened.wait_for("ctrl+c drops it.")
    opened.type("\x03")
    opened.wait_for("Type /exit to leave.")
    opened.paste("first\n" + "x" * 5000 + "\nlast\n" + "more\n" * 2000)
    opened.wait_for("Not taken: a terminal hands over 4,095 bytes")
    opened.write(b"\xff\xfe\r")
    opened.wait_for("Not taken: it holds bytes that are no text")
    opened.type("/exit\r")
    assert opened.wait_end() == 0
    assert b"End of the turn" not in opened.raw


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_marks_no_pastes_any_more_when_the_program_is_ended(
    opened: PtyScreen, number: signal.Signals
) -> None:
    opened.wait_for(">")
    opened.settle(0.5)
    assert _pastes_are_marked(opened)
    opened.kill(number)
    assert opened.wait_end() == -number
    assert not _pastes_are_marked(opened)


def test_a_terminal_marks_no_pastes_while_the_program_is_stopped(place: Program) -> None:
    script = f"{shlex.join(place.command('--plain'))}; echo it is stopped; read wait; fg; echo ended with $?"
    with PtyScreen(
        ["bash", "-mc", script], cwd=place.directory, environment=place.environment, columns=120
    ) as screen:
        screen.wait_for(">")
        screen.settle(0.5)
        assert _pastes_are_marked(screen)
        screen.press("ctrl+z")
        screen.wait_for("it is stopped")
        assert not _pastes_are_marked(screen)
        screen.type("\r")
        screen.wait_until(lambda: _pastes_are_marked(screen), "pastes to be marked again")
        screen.type("/exit\r")
        screen.wait_for("ended with 0")
        assert not _pastes_are_marked(screen)


def _pastes_are_marked(screen: PtyScreen) -> bool:
    return screen.raw.rfind(PASTE_ON) > screen.raw.rfind(PASTE_OFF)


def test_every_command_is_known_and_its_refusals_are_sentences(opened: PtyScreen) -> None:
    opened.type("/nothing\r")
    opened.wait_for("There is no command /nothing")
    for command in COMMANDS:
        if command.name in ("exit", "apply-change", "undo-change"):
            continue
        opened.type(f"/{command.name}\r")
        opened.wait_until(lambda: opened.text.rstrip().endswith(">"), command.name)
        opened.settle(0.2)
        assert not opened.shows("There is no command here"), command.name
        assert not opened.shows("Traceback"), command.name
    opened.type("\x04")
    assert opened.wait_end() == 0


@pytest.mark.parametrize("terminal", ["dumb", "", "unknown"])
def test_a_terminal_that_cannot_show_the_screen_gets_a_sentence(place: Program, terminal: str) -> None:
    command = ["env", f"TERM={terminal}", *place.command()]
    with PtyScreen(command, cwd=place.directory, environment=place.environment) as screen:
        assert screen.wait_end() == 5
        assert screen.shows("steward: This terminal cannot show the screen (TERM); use steward --plain")


def test_the_screen_needs_standard_error_to_be_the_terminal(place: Program, tmp_path: Path) -> None:
    said = tmp_path / "said"
    line = " ".join(place.command())
    with PtyScreen(
        ["sh", "-c", f"{line} 2> {said}"], cwd=place.directory, environment=place.environment
    ) as screen:
        assert screen.wait_end() == 5
    assert "needs standard error to be the terminal" in said.read_text()
