"""``/check-model`` on a real terminal, where the kernel holds the steward: it runs outside, and ``esc`` ends it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import FIXTURES
from tests.pty_screen import PtyScreen
from tests.support import plant


@contextmanager
def conversation(tmp_path: Path, *arguments: str) -> Generator[tuple[PtyScreen, Path, str]]:
    """The program, where its exams write, and a scripted model that passes one try and never comes to another end."""
    root = plant(tmp_path / "repository", {".git/HEAD": "ref: refs/heads/main\n", "a.py": "x = 41\n"})
    once = (FIXTURES / "exam" / "find-fact.pass.jsonl").read_text()
    plant(tmp_path / "home", {"slow.jsonl": once + '{"text": "so slow", "delay": 600}\n'})
    place = tmp_path / "temporary"
    place.mkdir()
    steward = Program(root, tmp_path / "home")
    with PtyScreen(
        steward.command(*arguments),
        cwd=root,
        environment={**steward.environment, "TMPDIR": str(place)},
        columns=140,
    ) as screen:
        yield screen, place, f"script/{tmp_path / 'home' / 'slow.jsonl'}"


def say(screen: PtyScreen, text: str) -> None:
    screen.type(text)
    screen.settle_for(0.6)
    screen.press("enter")


def test_on_the_screen_esc_stops_it_and_nothing_is_left(tmp_path: Path) -> None:
    with conversation(tmp_path) as (screen, place, slow):
        screen.wait_for("Enter sends")
        say(screen, f"/check-model {slow}")
        screen.wait_for("✓ finds and reads a planted fact")
        screen.wait_for("1 of 30")
        assert screen.shows("esc stops it")
        screen.press("escape")
        screen.wait_for("was stopped; an earlier verdict stays")
        screen.wait_until(lambda: not list(place.iterdir()), "the exam's files to go")
        screen.press("ctrl+q")
        assert screen.wait_end() == 0


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_in_lines_its_key_stops_it_and_the_conversation_goes_on(tmp_path: Path, key: str) -> None:
    with conversation(tmp_path, "--plain") as (screen, place, slow):
        screen.wait_for("answers. Type a question")
        screen.type(f"/check-model {slow}\r")
        screen.wait_for("1/30 ✓ finds and reads a planted fact")
        assert screen.shows("esc or ctrl+c stops it")
        screen.press(key)
        screen.wait_for("Interrupted.")
        screen.wait_until(lambda: not list(place.iterdir()), "the exam's files to go")
        screen.type("/cost\r")
        screen.wait_for("The session: ")
        screen.type("/exit\r")
        assert screen.wait_end() == 0
