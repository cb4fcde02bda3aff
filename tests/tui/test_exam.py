"""``/check-model``: an exam is held beside the conversation, in a process of its own; each try and its end are seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.monorepo import FIXTURES
from tests.tui.looking import ask, seen, until, until_seen
from tests.tui.test_sessions import command, said, screen, until_said

PASSES = f"script/{FIXTURES / 'exam' / 'all.pass.jsonl'}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the exam writes; what else it needs to know, it has from the environment."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setitem(os.environ, "TMPDIR", str(place))
    monkeypatch.setitem(os.environ, "STEWARD_STATE_DIR", str(tmp_path / "state"))
    return place


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A scripted model that never comes to an end."""
    (tmp_path / "slow.jsonl").write_text('{"text": "so slow", "delay": 600}\n')
    return f"script/{tmp_path / 'slow.jsonl'}"


async def test_each_try_is_seen_while_the_conversation_goes_on_and_esc_stops_the_exam(
    tmp_path: Path, place: Path, slow: str
) -> None:
    once = (FIXTURES / "exam" / "find-fact.pass.jsonl").read_text()
    (tmp_path / "slow.jsonl").write_text(once + (tmp_path / "slow.jsonl").read_text())
    async with screen(tmp_path, [{"text": "A."}, {"text": "B."}]) as (app, pilot, _, _):
        await command(pilot, f"/check-model {slow}")
        await until_said(pilot, " of 30 · ")
        await until_seen(pilot, "✓ finds and reads a planted fact (")
        assert "esc stops it" in said(app)
        await ask(pilot, "one")
        assert "A." in seen(app)
        await command(pilot, f"/check-model {slow}")
        await until_seen(pilot, "A model is being examined")
        await pilot.press("escape")
        await until_said(pilot, "was stopped; an earlier verdict stays.")
        await until_said(pilot, " · stopped")
        assert list(place.iterdir()) == []
        await ask(pilot, "two")
        assert "B." in seen(app)


async def test_the_report_stays_in_the_conversation_and_the_verdict_in_the_list_of_models(
    tmp_path: Path, place: Path
) -> None:
    async with screen(tmp_path, []) as (app, pilot, steward, _):
        before = steward.model
        await command(pilot, f"/check-model {PASSES}")
        await until_said(pilot, "is fit for changes; /model shows")
        assert "3 of 3" in said(app) and "esc stops it" not in said(app)
        assert list(place.iterdir()) == [] and steward.model == before
        await command(pilot, "/model")
        await until_seen(pilot, "fit for changes")


async def test_leaving_the_screen_ends_it(tmp_path: Path, place: Path, slow: str) -> None:
    async with screen(tmp_path, []) as (app, pilot, _, _):
        await command(pilot, f"/check-model {slow}")
        await until(pilot, lambda: any(place.glob("*/*/find-fact")))
        await app.leave()
        await until(pilot, lambda: not list(place.iterdir()))


async def test_what_cannot_be_examined_is_one_sentence(tmp_path: Path, place: Path) -> None:
    async with screen(tmp_path, []) as (app, pilot, _, _):
        await command(pilot, "/check-model two words")
        await until_seen(pilot, "A model's name has no spaces")
        await command(pilot, "/check-model nonsense")
        await until_seen(pilot, "nonsense was not examined: nonsense names no provider")
        await until_seen(pilot, "nonsense · not examined")
        assert "Traceback" not in seen(app) and list(place.iterdir()) == []
