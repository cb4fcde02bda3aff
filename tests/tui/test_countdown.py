"""A model that is waited for: the seconds are counted down on the screen, and Escape ends the waiting."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from steward.config import Settings
from steward.model.request import ModelRequest, Part, RetryNotice
from steward.service import House, Steward
from steward.tui.app import StewardApp
from tests.support import ScriptedGateway, plant
from tests.tui.looking import begun, seen, typed, until, until_seen


class Busy(ScriptedGateway):
    """Says that the model is asked again in so many seconds, and then nothing for ever."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        yield RetryNotice(1, 55, "llm.example says too many requests (429).")
        await asyncio.Event().wait()


def left(app: StewardApp) -> int:
    """The seconds that are left, as the screen says them; 0 when it says none."""
    found = re.search(r"asking again in (\d+) s", seen(app))
    return int(found[1]) if found else 0


async def test_the_countdown_is_seen_to_run_and_escape_ends_it(tmp_path: Path) -> None:
    house = House(plant(tmp_path / "repo"), Settings(), state=tmp_path / "state")
    steward = Steward(house, model="script/here", watch=False, gateway=Busy([]))
    app = StewardApp(steward)
    try:
        async with app.run_test(size=(130, 40)) as pilot:
            await begun(pilot)
            await typed(pilot, "hello")
            await pilot.press("enter")
            await until_seen(pilot, "too many requests")
            first = left(app)
            assert 0 < first <= 55
            await until(pilot, lambda: 0 < left(app) < first)
            await pilot.press("escape")
            await until_seen(pilot, "Interrupted")
            await until_seen(pilot, "ready")
            assert left(app) == 0
    finally:
        await steward.close()
