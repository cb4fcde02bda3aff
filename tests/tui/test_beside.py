"""``/ask``: another agent is asked beside the conversation; its progress, its answer and its end are seen."""

from __future__ import annotations

from pathlib import Path

from tests.support import call
from tests.tui.looking import ask, rows, seen, typed, until, until_seen
from tests.tui.test_sessions import command, screen

ANSWER = {"text": "Nothing is **wrong**."}


async def test_the_answer_stands_in_the_transcript_as_that_profiles_and_the_model_hears_of_it(
    tmp_path: Path,
) -> None:
    replies = [{"text": "A."}, {"calls": [call("readFile", path="src/app.py")]}, ANSWER, {"text": "B."}]
    async with screen(tmp_path, replies) as (app, pilot, steward, gateway):
        await ask(pilot, "one")
        before, session = steward.transcript(), steward.session_id
        await command(pilot, "/ask reviewer is it right?")
        await until_seen(pilot, "Nothing is wrong.")
        await until_seen(pilot, "1 call ·")
        shown = seen(app)
        assert "reviewer was asked: is it right?" in shown
        assert shown.index("❯ one") < shown.index("reviewer was asked") < shown.index("Nothing is wrong.")
        assert steward.transcript() == before and steward.session_id == session
        names = [tool["function"]["name"] for tool in gateway.requests[-1].tools]
        assert "proposePatch" not in names
        await command(pilot, "/copy")
        await until_seen(pilot, "The last answer was given to the terminal's clipboard (21 B)")
        await ask(pilot, "two")
        assert "The person asked another agent, reviewer: is it right?" in str(gateway.sent())


async def test_it_shows_that_it_runs_and_esc_ends_it(tmp_path: Path) -> None:
    replies = [{"text": "A."}, {"text": "Well", "hang": True}, {"text": "B."}]
    async with screen(tmp_path, replies) as (app, pilot, steward, gateway):
        await ask(pilot, "one")
        await command(pilot, "/ask reviewer is it right?")
        await until_seen(pilot, "answering")
        await until_seen(pilot, "esc stops it")
        await command(pilot, "/ask reviewer and this?")
        await until_seen(pilot, "Another agent is being asked")
        await pilot.press("escape")
        await until_seen(pilot, "stopped; the model is not told")
        assert not steward.busy
        await ask(pilot, "two")
        assert "another agent" not in str(gateway.sent()) and "B." in seen(app)


async def test_the_conversation_goes_on_while_it_runs(tmp_path: Path) -> None:
    replies = [{"text": "Well", "hang": True}, {"text": "Here."}]
    async with screen(tmp_path, replies) as (app, pilot, _, _):
        await command(pilot, "/ask reviewer is it right?")
        await until_seen(pilot, "answering")
        await ask(pilot, "one")
        assert "Here." in seen(app) and "esc stops it" in seen(app)
        await command(pilot, "/new")
        await until(pilot, lambda: "❯ one" not in seen(app))
        await pilot.press("escape")
        await until(pilot, lambda: not app.deeds.sessions.beside.stop())


async def test_a_profile_that_is_not_there_and_a_model_that_fails_are_sentences(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"error": {"kind": "server", "message": "It broke."}}]) as (
        app,
        pilot,
        _,
        _,
    ):
        await command(pilot, "/ask reviever is it right?")
        await until_seen(pilot, "There is no profile 'reviever'. Did you mean reviewer?")
        await command(pilot, "/ask reviewer is it right?")
        await until_seen(pilot, "It broke.")
        await until(pilot, lambda: "esc stops it" not in seen(app))


async def test_without_a_profile_it_is_picked_and_the_question_typed(tmp_path: Path) -> None:
    async with screen(tmp_path, [ANSWER]) as (app, pilot, _, _):
        await command(pilot, "/ask")
        await until_seen(pilot, "Ask beside this conversation, as")
        await pilot.press("enter")
        await until(pilot, lambda: app.prompt.text == "/ask reviewer ")
        await typed(pilot, "is it right?")
        await pilot.press("enter")
        await until_seen(pilot, "Nothing is wrong.")
        assert "ready" in rows(app)[-2]
