"""``apply-change`` on a terminal: the diff, one question, and only the typed word writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import TAX, Program, propose_fix
from tests.pty_screen import PtyScreen

QUESTION = "Type apply to write change-001"


@pytest.fixture
def proposed(steward: Program) -> Program:
    """The program after one patch was proposed."""
    propose_fix(steward)
    return steward


@pytest.fixture
def terminal(proposed: Program) -> Iterator[PtyScreen]:
    """``apply-change`` just started in a terminal."""
    command = proposed.command("apply-change", "change-001")
    with PtyScreen(command, cwd=proposed.directory, environment=proposed.environment) as screen:
        yield screen


def untouched(proposed: Program) -> bool:
    """Whether the file is as it was and the change still pending."""
    data = (proposed.directory / TAX).read_bytes()
    return b"5000" not in data and proposed("changes", "--json").json[0]["status"] == "pending"


def test_the_typed_word_applies_what_was_shown(terminal: PtyScreen, monorepo: Path):
    text = terminal.wait_for(QUESTION)
    assert "+    return (net_cents * rate + 5000) // 10000" in text
    terminal.type("apply\r")
    terminal.wait_for(f"change-001 applied: {TAX}.")
    assert terminal.wait_end() == 0
    assert b"5000" in (monorepo / TAX).read_bytes()


@pytest.mark.parametrize("answer", ["\r", "y\r", "yes\r", "Apply\r", " apply\r", "apply it\r", "\x04"])
def test_anything_else_leaves_it_pending(terminal: PtyScreen, proposed: Program, answer: str):
    terminal.wait_for(QUESTION)
    terminal.type(answer)
    terminal.wait_for("stays pending; nothing was written")
    assert terminal.wait_end() == 1
    assert untouched(proposed)


def test_what_was_typed_before_the_question_answers_nothing(terminal: PtyScreen, proposed: Program):
    terminal.type("apply\rapply\r")
    terminal.wait_for(QUESTION)
    terminal.settle()
    assert terminal.code is None
    terminal.type("\r")
    assert terminal.wait_end() == 1
    assert untouched(proposed)


def test_pasted_text_is_not_the_word(terminal: PtyScreen, proposed: Program):
    terminal.wait_for(QUESTION)
    assert b"\x1b[?2004h" in terminal.raw
    terminal.paste("apply\r")
    terminal.type("\r")
    assert terminal.wait_end() == 1
    assert untouched(proposed)
    assert terminal.raw.rstrip().endswith(b"written.") and b"\x1b[?2004l" in terminal.raw


def test_ctrl_c_at_the_question_writes_nothing(terminal: PtyScreen, proposed: Program):
    terminal.wait_for(QUESTION)
    terminal.press("ctrl+c")
    assert terminal.wait_end() == 130
    assert b"Traceback" not in terminal.raw
    assert untouched(proposed)


def test_a_stale_change_is_refused_before_anything_is_asked(proposed: Program, monorepo: Path):
    (monorepo / TAX).write_text("# mine\n")
    command = proposed.command("apply-change", "1")
    with PtyScreen(command, cwd=proposed.directory, environment=proposed.environment) as screen:
        assert screen.wait_end() == 3
        assert QUESTION not in screen.text
    assert (monorepo / TAX).read_text() == "# mine\n"
