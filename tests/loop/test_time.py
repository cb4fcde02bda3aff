"""A turn ends when its time is up, whatever the model or a tool is doing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from steward.events import ToolFinished
from steward.loop.turn import Bounds, run_turn
from tests.loop.test_turn import valid
from tests.support import call, only, plant, steward_in

HANGING: dict[str, dict[str, Any]] = {
    "before-anything": {"hang": True},
    "in-the-middle": {"text": "Half of it", "hang": True},
    "while-it-keeps-talking": {"text": "".join(f"word {n} " for n in range(900)), "chunk": 8, "delay": 0.01},
}


async def turned(root: Path, replies: list[Any], bounds: Bounds, *, local: bool = False) -> Any:
    steward, gateway = steward_in(plant(root / "repository"), [{"text": "Yes."}, *replies])
    talk: Any = steward._talk  # pyright: ignore[reportPrivateUsage] -- below the steward, above the loop
    async for _ in talk.turn("Begin", gateway, Bounds(), tuple):
        pass
    desk = talk._desk
    desk.local = lambda: local
    return steward, gateway, desk, run_turn("Go", desk, bounds)


@pytest.mark.parametrize("reply", HANGING.values(), ids=HANGING)
async def test_a_model_that_takes_too_long_ends_the_turn(tmp_path: Path, reply: dict[str, Any]) -> None:
    steward, gateway, desk, turn = await turned(tmp_path, [reply], Bounds(seconds=0.3))
    events: list[Any] = [event async for event in turn]
    assert (events[-1].reason, events[-1].error) == (
        "budget",
        "Stopped after 0.3 seconds, the limit of one turn.",
    )
    said = desk.conversation.messages[-1].text
    assert said.endswith("[Stopped after 0.3 seconds, the limit of one turn.]")
    assert said.startswith(reply.get("text", "[")[:8])
    gateway.replies = [{"text": "Fine."}]
    again: list[Any] = [event async for event in run_turn("And?", desk, Bounds())]
    assert again[-1].reason == "answered"
    valid(gateway.sent())
    await steward.close()


async def test_a_tool_that_takes_too_long_is_answered_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = {"calls": [call("listFiles"), call("readFile", path="src/app.py")]}
    steward, gateway, desk, turn = await turned(tmp_path, [reply], Bounds(seconds=0.3))

    async def stuck(name: str, arguments: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(desk.toolbox, "run", stuck)
    events: list[Any] = [event async for event in turn]
    assert events[-1].reason == "budget"
    (stopped,) = only(events, ToolFinished)
    assert not stopped.ok and stopped.summary == "stopped: out of time" and "0.3 seconds" in stopped.text
    monkeypatch.undo()
    gateway.replies = [{"text": "Fine."}]
    again: list[Any] = [event async for event in run_turn("And?", desk, Bounds())]
    assert again[-1].reason == "answered"
    valid(gateway.sent())
    await steward.close()


async def test_a_model_on_this_machine_gets_four_times_as_long(tmp_path: Path) -> None:
    steward, _, _, turn = await turned(tmp_path, [{"hang": True}], Bounds(seconds=0.1), local=True)
    events: list[Any] = [event async for event in turn]
    assert "0.4 seconds" in events[-1].error
    assert events[-1].seconds >= 0.39
    await steward.close()
