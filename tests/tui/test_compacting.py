"""Making room on the screen: the summary is read, edited and accepted by the person, and a failure loses nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steward.config import Settings
from steward.config.settings import Context
from tests.support import call
from tests.tui.looking import ask, seen, typed, until, until_seen
from tests.tui.test_sessions import command, said, screen

SUMMARY = {"text": "They want **one**; src/app.py:2 holds it."}


async def test_the_summary_is_edited_accepted_and_shown_and_what_went_is_said(tmp_path: Path) -> None:
    replies = [{"text": "A."}, {"text": "B."}, SUMMARY, {"text": "C."}]
    async with screen(tmp_path, replies) as (app, pilot, steward, gateway):
        await ask(pilot, "one")
        await ask(pilot, "two")
        await command(pilot, "/compact")
        await until_seen(pilot, "They want **one**")
        assert not steward.summary, "nothing goes before it is accepted"
        await typed(pilot, "Mine: ")
        await pilot.press("ctrl+s")
        await until_seen(pilot, "The conversation was compacted. 4 messages of about")
        assert steward.summary == "Mine: They want **one**; src/app.py:2 holds it."
        shown = said(app)
        assert "the prompt cache begins anew" in shown and "/summary changes it" in shown
        assert "❯ one" in shown, "the person still sees what was said"
        await ask(pilot, "three")
        assert "Mine: They want" in str(gateway.sent()) and "1. one" in str(gateway.sent())


async def test_leaving_the_summary_leaves_the_conversation(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}, SUMMARY, {"text": "B."}]) as (_, pilot, steward, gateway):
        await ask(pilot, "one")
        before = steward.transcript()
        await command(pilot, "/compact")
        await until_seen(pilot, "They want **one**")
        await pilot.press("escape")
        await until_seen(pilot, "Nothing was compacted")
        assert steward.transcript() == before
        await ask(pilot, "two")
        assert "They want" not in str(gateway.sent())


async def test_an_empty_summary_is_not_accepted(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}, {"text": "S"}]) as (_, pilot, steward, _):
        await ask(pilot, "one")
        await command(pilot, "/compact")
        await until_seen(pilot, "^S accept")
        await pilot.press("delete", "ctrl+s")
        await until_seen(pilot, "An empty summary cannot be accepted")
        await pilot.press("escape")
        await until_seen(pilot, "Nothing was compacted")
        assert not steward.summary


async def test_a_failing_summary_loses_nothing_and_says_so(tmp_path: Path) -> None:
    failing = {"error": {"kind": "server", "message": "It broke."}}
    async with screen(tmp_path, [{"text": "A."}, failing, {"text": "B."}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        before = steward.transcript()
        await command(pilot, "/compact")
        await until_seen(pilot, "It broke.")
        assert "Nothing was compacted" in seen(app) and steward.transcript() == before
        await ask(pilot, "two")
        assert "B." in seen(app)


async def test_esc_ends_the_summing_up_and_what_was_asked_meanwhile_comes_back(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}, {"text": "S", "hang": True}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        before = steward.transcript()
        await command(pilot, "/compact")
        await until_seen(pilot, "summing up")
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "queued · two")
        await pilot.press("escape")
        await until_seen(pilot, "Interrupted; the conversation is as it was.")
        assert seen(app).count("the conversation is as it was") == 1 and "✗" not in seen(app)
        await until(pilot, lambda: app.prompt.text == "two" and not app.turns.running)
        assert steward.transcript() == before and not steward.busy


async def test_a_question_asked_while_the_summary_is_made_goes_on_from_it(tmp_path: Path) -> None:
    replies = [{"text": "A."}, {**SUMMARY, "delay": 0.05}, {"text": "B."}]
    async with screen(tmp_path, replies) as (app, pilot, _, gateway):
        await ask(pilot, "one")
        await command(pilot, "/compact")
        await until_seen(pilot, "summing up")
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "They want **one**")
        await pilot.press("ctrl+s")
        await until_seen(pilot, "B.")
        await until(pilot, lambda: not app.turns.running)
        assert "# Summary" in str(gateway.sent()) and "two" in str(gateway.sent())


async def test_the_persons_own_editor_changes_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "as my editor has it" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setitem(os.environ, "VISUAL", str(editor))
    async with screen(tmp_path, [{"text": "A."}, SUMMARY]) as (_, pilot, _, _):
        await ask(pilot, "one")
        await command(pilot, "/compact")
        await until_seen(pilot, "They want **one**")
        await pilot.press("ctrl+g")
        # A test's terminal cannot be left; the sentence says so, and the text stays.
        await until_seen(pilot, "The screen cannot be left for an editor here.")
        await until_seen(pilot, "They want **one**")
        await pilot.press("escape")


async def test_what_compacts_by_itself_is_said_shown_and_can_be_changed(tmp_path: Path) -> None:
    long = " ".join(f"point {n * n} of {n}" for n in range(1200))
    replies = [{"text": long}, SUMMARY, {"text": "Still here."}, {"text": "Right."}]
    settings = Settings(context=Context(compact_at=0.5))
    async with screen(tmp_path, replies, settings=settings, window=16_000) as (app, pilot, steward, gateway):
        await until(pilot, lambda: steward.window == 16_000)
        await ask(pilot, "one")
        await ask(pilot, "two")
        await until_seen(pilot, "The conversation was compacted by itself, at")
        await until_seen(pilot, "summary · 6 words · /summary changes it")
        await command(pilot, "/summary")
        await until_seen(pilot, "They want **one**")
        await typed(pilot, "No: ")
        await pilot.press("ctrl+s")
        await until_seen(pilot, "goes on from the changed summary")
        assert steward.summary.startswith("No: They want")
        await ask(pilot, "three")
        assert "No: They want" in str(gateway.sent()) and "Right." in seen(app)


async def test_a_compacted_session_is_resumed_with_all_that_was_said(tmp_path: Path) -> None:
    read = {"calls": [call("readFile", path="src/app.py")]}
    async with screen(tmp_path, [read, {"text": "A."}, SUMMARY, {"text": "B."}]) as (_, pilot, steward, _):
        await ask(pilot, "one")
        await command(pilot, "/compact")
        await until_seen(pilot, "They want **one**")
        await pilot.press("ctrl+s")
        await until_seen(pilot, "The conversation was compacted.")
        await ask(pilot, "two")
        session = steward.session_id
    async with screen(tmp_path, []) as (app, pilot, _, _):
        await command(pilot, f"/resume {session}")
        await until_seen(pilot, "❯ two")
        shown = seen(app)
        assert shown.count("❯ one") == 1 and shown.count("readFile src/app.py") == 1
        assert shown.index("A.") < shown.index("The conversation so far was compacted") < shown.index("❯ two")
        assert "steward-note" not in shown
