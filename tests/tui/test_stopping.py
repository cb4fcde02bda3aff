"""What takes long shows that it goes on, stops at Esc, and hinders nothing meanwhile."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.skills.skill import read_skill
from steward.tui.app import StewardApp
from steward.workspace import Workspace
from tests.support import call, plant, steward_in
from tests.tui.looking import PATIENCE, ask, begun, seen, typed, until, until_seen
from tests.tui.test_sessions import command, screen

RUNS_AWAY = {"query": r"(a|a)+(a|a)+\d$", "regex": True}


async def test_esc_stops_a_search_and_the_prompt_is_free(tmp_path: Path) -> None:
    root = plant(tmp_path / "repo")
    for number in range(4):
        (root / f"long{number}.txt").write_text("aA" * 200 + "a" * 200 + "!\n")
    searches = [{"calls": [call("searchFiles", **RUNS_AWAY, path=f"long{n % 4}.txt")]} for n in range(40)]
    steward, gateway = steward_in(root, [*searches, {"text": "All searched."}, {"text": "Free again."}])
    app = StewardApp(steward)
    try:
        async with app.run_test(size=(110, 30)) as pilot:
            await begun(pilot)
            await typed(pilot, "search")
            await pilot.press("enter")
            await until_seen(pilot, "searchFiles")
            await pilot.press("escape")
            await until_seen(pilot, "Interrupted")
            await until(pilot, lambda: not app.turns.running)
            assert "All searched." not in seen(app)
            gateway.replies[:] = [{"text": "Free again."}]
            await typed(pilot, "go on")
            await pilot.press("enter")
            await until_seen(pilot, "Free again.")
    finally:
        await steward.close()


class Gate:
    """Holds up every list of the workspace's files until it is opened, or the list is no longer wanted."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.opened = threading.Event()
        self._held: set[int] = set()
        files = Workspace.files

        def gated(
            workspace: Workspace, limit: int | None = None, stop: Callable[[], bool] | None = None
        ) -> list[str]:
            here = threading.get_ident()
            self._held.add(here)
            while not self.opened.wait(0.01) and not (stop and stop()):
                pass
            self._held.discard(here)
            return files(workspace, limit, stop)

        patch.setattr(Workspace, "files", gated)

    def holds(self, thread: threading.Thread) -> bool:
        """Whether the thread waits here."""
        return thread.ident in self._held


async def test_while_files_are_listed_that_is_said_and_typing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    steward, _ = steward_in(plant(tmp_path / "repo"), [{"text": "Read."}])
    app = StewardApp(steward)
    try:
        async with app.run_test(size=(110, 30)) as pilot:
            await begun(pilot)
            await typed(pilot, "see @in")
            await until_seen(pilot, "the files are being listed")
            await pilot.press("tab")
            await typed(pilot, "ner")
            assert "see @inner" in seen(app)
            many = min(32, (os.cpu_count() or 1) + 4)
            await typed(pilot, "e" * many)
            assert not await asyncio.wait_for(steward.history(), PATIENCE), (
                "many keys keep nothing else waiting"
            )
            await pilot.press(*["backspace"] * many)
            await pilot.press("escape")
            await until_seen(pilot, "The files are no longer listed; another @ lists them.")
            await until(pilot, lambda: not any(gate.holds(t) for t in threading.enumerate()))
            await pilot.press("backspace")
            assert "the files are being listed" not in seen(app) and not steward.paths_listed
            gate.opened.set()
            await typed(pilot, " @inner")
            await until_seen(pilot, "src/deep/inner.py")
            assert "see @inne @inner" in seen(app)
    finally:
        await steward.close()


async def test_leaving_does_not_wait_for_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Gate(monkeypatch)
    steward, _ = steward_in(plant(tmp_path / "repo"), [])
    app = StewardApp(steward)
    async with app.run_test(size=(110, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "@in")
        await until_seen(pilot, "the files are being listed")
    await steward.close()
    assert not any(thread.name == "paths" for thread in threading.enumerate())


@pytest.fixture
def slow_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each skill takes its time to be read, as from a disk that sleeps, so that all of them take many seconds."""

    def slowly(*arguments: Any, **named: Any) -> Any:
        time.sleep(0.05)
        return read_skill(*arguments, **named)

    monkeypatch.setattr(sys.modules["steward.skills.discover"], "read_skill", slowly)


def plant_many_skills(root: Path) -> None:
    """Two hundred skills."""
    for number in range(200):
        folder = root / ".agents" / "skills" / f"one-{number:03}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: one-{number:03}\ndescription: Waits.\n---\nWords.\n")


@pytest.mark.usefixtures("slow_disk")
async def test_esc_stops_looking_for_skills_at_the_start_and_the_question_comes_back(tmp_path: Path) -> None:
    plant_many_skills(plant(tmp_path / "repo"))
    async with screen(tmp_path, [{"text": "A."}], begins=False) as (app, pilot, steward, _):
        await until_seen(pilot, "reading instructions and skills… · esc stops it")
        await typed(pilot, "one")
        await pilot.press("enter")
        await until_seen(pilot, "❯ one")
        assert "esc stops" in seen(app)
        await pilot.press("escape")
        await until_seen(pilot, "Stopped before it was asked; the question is in the prompt again.")
        await until_seen(pilot, "Looking for skills was stopped before its end; /skills looks again.")
        assert app.prompt.text == "one" and not app.turns.running
        app.prompt.replace_all("")
        await ask(pilot, "one")
        assert "A." in seen(app)
        assert steward.transcript()


@pytest.mark.usefixtures("slow_disk")
async def test_without_a_question_esc_lets_the_conversation_begin_with_the_skills_found_by_then(
    tmp_path: Path,
) -> None:
    plant_many_skills(plant(tmp_path / "repo"))
    async with screen(tmp_path, [{"text": "A."}], begins=False) as (app, pilot, _, _):
        await until_seen(pilot, "reading instructions and skills… · esc stops it")
        await pilot.press("escape")
        await until_seen(pilot, "Looking for skills was stopped before its end; /skills looks again.")
        await ask(pilot, "one")
        assert "A." in seen(app)


@pytest.mark.usefixtures("slow_disk")
async def test_esc_stops_the_look_of_skills_and_those_that_were_known_stay(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (app, pilot, steward, _):
        known = len((await steward.skills()).skills)
        plant_many_skills(tmp_path / "repo")
        await command(pilot, "/skills")
        await until_seen(pilot, "looking for skills… · esc stops it")
        await pilot.press("escape")
        await until_seen(pilot, "Skills are no longer looked for; those that were known stay.")
        assert "esc stops it" not in seen(app)
        assert len(steward._talk.skill.catalog.skills) == known  # pyright: ignore[reportPrivateUsage]
        await ask(pilot, "one")
        assert "A." in seen(app)


@pytest.mark.usefixtures("slow_disk")
async def test_during_a_turn_esc_stops_the_look_that_was_begun_last_and_then_the_turn(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A.", "hang": True}]) as (app, pilot, _, _):
        app.turns.ask("one")
        await until_seen(pilot, "● thinking")
        plant_many_skills(tmp_path / "repo")
        await command(pilot, "/skills")
        await until_seen(pilot, "looking for skills… · esc stops it")
        await pilot.press("escape")
        await until_seen(pilot, "Skills are no longer looked for; those that were known stay.")
        assert app.turns.running
        await pilot.press("escape")
        await until_seen(pilot, "Interrupted")
