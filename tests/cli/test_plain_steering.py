"""Skills and trust in the conversation in lines."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import copy_monorepo
from tests.pty_screen import PtyScreen


@pytest.fixture
def place(tmp_path: Path) -> Program:
    (tmp_path / "home").mkdir()
    return Program(copy_monorepo(tmp_path / "shop"), tmp_path / "home")


def opened(place: Program, trust: str) -> PtyScreen:
    environment = {**place.environment, "STEWARD_TRUST": trust}
    return PtyScreen(
        place.command("--plain"), cwd=place.directory, environment=environment, columns=120, lines=60
    )


@pytest.fixture
def undecided(place: Program) -> Generator[PtyScreen]:
    """A conversation that goes on without the repository's texts."""
    with opened(place, "ask") as screen:
        screen.wait_for("[t] trust these texts", 60)
        screen.settle()
        screen.press("enter")
        screen.wait_for("Type a question, or /help", 60)
        yield screen


def test_a_skill_is_listed_loaded_and_goes_along(place: Program) -> None:
    with opened(place, "always") as screen:
        screen.wait_for("Type a question, or /help", 60)
        screen.type("/skills\r")
        screen.wait_for("review-change  (shipped, shipped/review-change/SKILL.md)")
        screen.type("/skill review-chnage\r")
        screen.wait_for("Did you mean review-change?")
        screen.type("/skill review-change\r")
        screen.wait_for("goes along with your next question.")
        screen.type("What is in docs/returns.md?\r")
        screen.wait_for("End of the turn: answered.", 60)
        screen.type("/skills\r")
        screen.wait_for("review-change  (shipped, shipped/review-change/SKILL.md, loaded)")
        screen.type("/trust\r")
        screen.wait_for("This run was told which texts of repositories to use")


def test_trust_is_shown_read_given_by_a_typed_word_and_taken_back(
    undecided: PtyScreen, place: Program
) -> None:
    undecided.type("/trust read\r")
    undecided.wait_for("== AGENTS.md")
    undecided.wait_for("Type trust to use these texts")
    undecided.settle(0.5)
    undecided.type("no\r")
    undecided.wait_for("They are not used; /trust asks again.")
    undecided.type("/trust\r")
    undecided.settle(1.0)
    undecided.type("trust\r")
    undecided.wait_for("They count from the next path on")
    undecided.type("/instructions\r")
    undecided.wait_for("AGENTS.md, ")
    undecided.type("/trust nothing\r")
    undecided.wait_for("Nothing of this repository is used from here on")
    undecided.type("/init\r")
    undecided.wait_for("Refused: The offline guide cannot study a repository")
