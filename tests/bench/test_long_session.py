"""A long session holds its conversation and nothing else: what a turn makes besides is given up with it."""

from __future__ import annotations

from pathlib import Path

from steward.tui.app import StewardApp
from steward.tui.conversation.blocks import LineBlock
from steward.tui.conversation.transcript import KEPT
from tests.bench.long_session import IN_A_TURN, day
from tests.tui.fake_steward import FakeSteward
from tests.tui.looking import begun, seen

TURNS = 16


async def test_nothing_piles_up_turn_by_turn_but_the_conversation(tmp_path: Path) -> None:
    parts = [part async for part in day(tmp_path, TURNS * IN_A_TURN, parts=4)]
    _, before, said_before = parts[0]
    _, after, said_after = parts[-1]
    assert said_after > 3 * said_before
    passed = TURNS - TURNS // 4
    grown = {name: after[name] - before[name] for name in after if after[name] - before[name] >= passed // 3}
    assert not grown
    assert after["ReviewScreen"] == after["DiffView"] == 0
    assert after["Watcher"] == after["Connection"] == after["Feed"] == 1


async def test_lines_are_kept_for_the_blocks_near_the_view_alone() -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=(60, 20)) as pilot:
        await begun(pilot)
        blocks = [LineBlock(f"sentence {number}") for number in range(3 * KEPT)]
        for block in blocks:
            app.transcript.add(block)
        app.transcript.settle()
        app.transcript.focus()
        for _ in range(3 * KEPT // 5):
            await pilot.press("pageup")
        assert "sentence 0" in seen(app)
        assert sum(block.laid_out for block in blocks) <= KEPT
        app.transcript.go_end()
        await pilot.pause()
        assert f"sentence {3 * KEPT - 1}" in seen(app)
