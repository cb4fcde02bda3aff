"""What takes long shows that it goes on, stops at Esc, and hinders nothing meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.tui.app import StewardApp
from steward.workspace import Workspace
from tests.support import call, plant, steward_in
from tests.tui.looking import begun, seen, typed, until, until_seen

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
        files = Workspace.files

        def gated(
            workspace: Workspace, limit: int | None = None, stop: Callable[[], bool] | None = None
        ) -> list[str]:
            while not self.opened.wait(0.01) and not (stop and stop()):
                pass
            return files(workspace, limit, stop)

        patch.setattr(Workspace, "files", gated)


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
            await pilot.press("escape")
            await until(pilot, lambda: "the files are being listed" not in seen(app))
            gate.opened.set()
            await until(pilot, lambda: steward.paths_listed)
            await pilot.press("backspace")
            await until_seen(pilot, "src/deep/inner.py")
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
