"""The main job as a newcomer does it: no key, one question, one review, one key, on a real terminal."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import copy_monorepo, script
from tests.pty_screen import PtyScreen

FILE = "docs/returns.md"
QUESTION = 'replace "within 30 days" with "within 60 days" in docs/returns.md'


@pytest.fixture
def place(tmp_path: Path) -> Program:
    """The program in the copied monorepo, with nothing in the environment but what finds it."""
    (tmp_path / "home").mkdir()
    return Program(copy_monorepo(tmp_path / "shop"), tmp_path / "home")


@contextmanager
def opened(place: Program, *arguments: str, columns: int = 110, lines: int = 34) -> Generator[PtyScreen]:
    """The screen, once it can be used."""
    command = place.command(*arguments)
    with PtyScreen(
        command, cwd=place.directory, environment=place.environment, columns=columns, lines=lines
    ) as screen:
        screen.wait_for("count, please" if "--continue" in arguments else "Instructions here: AGENTS.md")
        yield screen


def ask(screen: PtyScreen, question: str) -> None:
    """Type it, and send it once it is read."""
    screen.type(question)
    screen.wait_until(lambda: screen.line.split()[-1:] == question.split()[-1:], "the question in the prompt")
    screen.press("enter")


def apply(screen: PtyScreen) -> None:
    """Review the newest change and apply it by keys, as unhurried as a person."""
    screen.press("f4")
    screen.wait_for("a apply")
    unhurried(screen, "a", "Write change-001")
    unhurried(screen, "Y", "Any key now stops it.", "change-001 applied")
    screen.wait_for("change-001 applied")


def unhurried(screen: PtyScreen, key: str, *meant: str) -> None:
    """Press a key that decides; where the machine is slower than a person, it is refused and pressed again."""
    for wait in (0.7, 3, 10, 30):
        screen.settle_for(wait)
        screen.press(key)
        screen.wait_until(lambda: any(map(screen.shows, (*meant, "once more"))), f"{meant[0]!r} or a refusal")
        if any(map(screen.shows, meant)):
            return
    screen.wait_for(meant[0])


def text(place: Program) -> str:
    """The file as it is."""
    return (place.directory / FILE).read_text()


def test_without_a_key_a_question_becomes_a_change_that_keys_apply(place: Program):
    before = text(place)
    with opened(place) as screen:
        assert screen.shows("offline/guide")
        ask(screen, QUESTION)
        screen.wait_for("1 pending", 60)
        assert text(place) == before
        apply(screen)
        assert text(place) == before.replace("30 days", "60 days")
        screen.press("ctrl+q")
        assert screen.wait_end() == 0


def test_a_killed_program_leaves_the_change_pending_and_it_must_be_shown_again(place: Program):
    before = text(place)
    with opened(place) as screen:
        ask(screen, QUESTION)
        screen.wait_for("1 pending", 60)
        screen.press("f4")
        screen.wait_for("a apply")
        screen.kill()
    assert text(place) == before
    assert [change["status"] for change in place("changes", "--json").json] == ["pending"]
    with opened(place) as screen:
        screen.wait_for("1 pending")
        screen.settle(0.5)
        screen.press("a")
        screen.settle(1)
        assert text(place) == before
        screen.press("backspace")
        apply(screen)
    assert text(place) == before.replace("30 days", "60 days")


def test_a_program_killed_while_the_model_speaks_can_be_gone_on_with(place: Program):
    with opened(place, "--model", script("slow.jsonl")) as screen:
        ask(screen, "count, please")
        screen.wait_for("one two three", 60)
        screen.kill()
    with opened(place, "--model", script("answer.jsonl"), "--continue") as screen:
        screen.wait_for("count, please")
        ask(screen, "and now?")
        screen.wait_for("Forty-two.", 60)
        screen.press("ctrl+q")
        assert screen.wait_end() == 0


@pytest.mark.parametrize("typed", ["ayayayay", "yyyyyyyyyy", "a\ry\r"])
def test_keys_in_a_hurry_apply_nothing(place: Program, typed: str):
    before = text(place)
    with opened(place) as screen:
        ask(screen, QUESTION)
        screen.wait_for("1 pending", 60)
        screen.press("f4")
        screen.type(typed)
        screen.wait_for("esc back")
        screen.type(typed)
        screen.settle(1)
        screen.paste("ay")
        screen.settle(1)
        assert text(place) == before
    assert [change["status"] for change in place("changes", "--json").json] == ["pending"]


def test_the_terminal_is_left_as_it_was(place: Program):
    with opened(place) as screen:
        screen.press("ctrl+q")
        assert screen.wait_end() == 0
        for mode in (b"?1049", b"?25", b"?2004", b"?1000", b"?1003", b"?1006"):
            on, off = screen.raw.rfind(mode + b"h"), screen.raw.rfind(mode + b"l")
            assert (on > off) if mode == b"?25" else (off > on or on < 0), mode
