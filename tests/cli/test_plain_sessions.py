"""Sessions, the window and ``/ask`` in the conversation in lines, and a session named when the program starts."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.pty_screen import PtyScreen
from tests.support import call, plant

SUMMARY = {"text": "They want **one**."}


@pytest.fixture
def place(tmp_path: Path) -> Program:
    (tmp_path / "home").mkdir()
    return Program(plant(tmp_path / "repo"), tmp_path / "home")


Open = Callable[..., Any]


@pytest.fixture
def plain(place: Program, tmp_path: Path) -> Open:
    """Opens a conversation in lines whose model gives these replies."""

    @contextmanager
    def opened(
        *replies: dict[str, Any], arguments: tuple[str, ...] = (), environment: dict[str, str] | None = None
    ) -> Generator[PtyScreen]:
        script = tmp_path / "script.jsonl"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        with PtyScreen(
            place.command("--plain", "--model", f"script/{script}", *arguments),
            cwd=place.directory,
            environment={**place.environment, **(environment or {})},
            columns=200,
            lines=60,
        ) as screen:
            screen.wait_for("Type a question, or /help")
            yield screen
            screen.type("\x04")
            assert screen.wait_end() == 0
            assert not screen.shows("Traceback")

    return opened


def asked(screen: PtyScreen, question: str, answer: str) -> None:
    screen.type(f"{question}\r")
    screen.wait_for(answer, 60)
    screen.wait_until(lambda: screen.text.rstrip().endswith(">"), "the prompt")


def answer(screen: PtyScreen, question: str, typed: str) -> None:
    """Answer once the keyboard counts: what is typed before the question is thrown away."""
    screen.wait_for(question)
    screen.settle(0.6)
    screen.type(f"{typed}\r")


def test_a_session_is_listed_resumed_renamed_and_deleted(plain: Open, place: Program) -> None:
    with plain({"text": "First answer."}, {"text": "Second answer."}) as screen:
        asked(screen, "what hums", "First answer.")
        screen.type("/rename Humming\r")
        screen.wait_for("This session is called Humming from now on.")
        screen.type("/new\r")
        screen.wait_for("A new conversation.")
        asked(screen, "what else", "Second answer.")
        screen.type("/sessions\r")
        screen.wait_for("2. Humming, 3 messages")
        screen.type("/sessions first\r")
        screen.wait_for("found in: First answer.")
        screen.type("/resume\r")
        answer(screen, "Number of the session to go on with", "2")
        screen.wait_for("Session 2")
        screen.wait_for("You asked:")
        assert screen.shows("what hums")
    (place.directory / "AGENTS.md").write_text("# Other rules\n")
    session = place("sessions", "--search", "first", "--json").json[0]["id"]
    with plain({"text": "Third."}, arguments=("--resume", session[:12])) as screen:
        screen.wait_for("AGENTS.md changed")
        assert screen.shows(f"Session {session}: Humming, 2 messages.") and screen.shows("First answer.")
        asked(screen, "and now", "Third.")
        screen.type(f"/delete-session {session}\r")
        answer(screen, "Type delete to delete “Humming”", "no")
        screen.wait_for("Nothing was deleted.")
        screen.type(f"/delete-session {session}\r")
        answer(screen, "Type delete to delete “Humming”", "delete")
        screen.wait_for(f"{session} is deleted; its changes stay.")
    assert [view["title"] for view in place("sessions", "--json").json] == ["what else"]


def test_a_fork_offers_the_question_again(plain: Open, place: Program) -> None:
    with plain({"text": "A."}, {"text": "B."}, {"text": "Again."}) as screen:
        asked(screen, "one", "A.")
        asked(screen, "two", "B.")
        screen.type("/fork\r")
        answer(screen, "Number of the question to begin again before", "2")
        screen.wait_for("an empty line asks it as it was")
        asked(screen, "", "Again.")
    assert [view["parent"] != "" for view in place("sessions", "--json").json] == [True, False]


def test_a_summary_is_edited_in_the_persons_editor_and_accepted(plain: Open, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "as my editor has it" > "$1"\n')
    editor.chmod(0o755)
    replies = ({"text": "A."}, SUMMARY, SUMMARY, {"text": "B."})
    with plain(*replies, environment={"VISUAL": str(editor)}) as screen:
        screen.type("/compact\r")
        screen.wait_for("There is nothing to compact yet")
        screen.type("/summary\r")
        screen.wait_for("it has no summary")
        asked(screen, "one", "A.")
        screen.type("/compact\r")
        answer(screen, "Type accept to go on from it", "no")
        screen.wait_for("The conversation is as it was.")
        screen.type("/compact\r")
        answer(screen, "Type accept to go on from it", "edit")
        screen.wait_for("as my editor has it")
        answer(screen, "Type accept to go on from it", "accept")
        screen.wait_for("The conversation was compacted. 2 messages")
        screen.type("/summary\r")
        answer(screen, "Type accept to go on from it", "no")


def test_the_window_and_the_cost_are_said(plain: Open) -> None:
    with plain({"text": "A.", "usage": {"prompt": 4000, "completion": 96, "cost": 0.5}}) as screen:
        asked(screen, "one", "A.")
        screen.type("/context\r")
        screen.wait_for("The provider counted 4,096 tokens")
        assert screen.shows("AGENTS.md:") and screen.shows("base prompt:")
        screen.type("/cost\r")
        screen.wait_for("The session: 4,000 tokens to the model, 96 tokens from the model, $0.5000.")
        screen.wait_for("A turn may have 25 rounds at most.")
        screen.wait_for("A session has no limit.")


def test_another_agent_is_asked_beside(plain: Open) -> None:
    read = {"calls": [call("readFile", path="src/app.py")]}
    with plain({"text": "A."}, read, {"text": "All is well."}) as screen:
        asked(screen, "one", "A.")
        screen.type("/ask reviewer\r")
        screen.wait_for("Name a profile and a question")
        screen.type("/ask nobody is it right\r")
        screen.wait_for("There is no profile 'nobody'")
        screen.type("/ask reviewer is it right\r")
        screen.wait_for("reviewer answers:")
        assert screen.shows("reviewer calls readFile") and screen.shows("All is well.")


def test_the_last_session_is_gone_on_with_or_it_is_said_that_there_is_none(
    plain: Open, place: Program
) -> None:
    with PtyScreen(place.command("--continue"), cwd=place.directory, environment=place.environment) as screen:
        assert screen.wait_end() == 4
        assert screen.shows("steward: No session is stored in this workspace yet.")
    with plain({"text": "A."}) as screen:
        asked(screen, "one", "A.")
    with plain({"text": "B."}, arguments=("--continue",)) as screen:
        screen.wait_for("You asked:")
        asked(screen, "two", "B.")
    (view,) = place("sessions", "--json").json
    assert (view["title"], view["messages"]) == ("one", 5)


def test_a_profile_named_at_the_start_is_in_force(plain: Open) -> None:
    with plain({"text": "A."}, arguments=("--profile", "reviewer")) as screen:
        screen.type("/context\r")
        screen.wait_for("base prompt: 0 tokens")
        asked(screen, "one", "A.")
