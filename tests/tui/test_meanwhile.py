"""What a person has begun about a change holds, or says why not, when the change is another one meanwhile."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from steward.events import ChangesMoved
from steward.proposals import FileChange
from steward.proposals.apply import Applied
from steward.proposals.diff import WHOLE, FileDiff, file_diff
from steward.service.views import Review
from steward.tui.app import StewardApp
from steward.tui.review.confirm import Confirm
from steward.tui.review.diff_view import DiffView
from steward.tui.review.rows import CodeRow
from steward.tui.review.screen import ReviewScreen
from tests.tui.fake_steward import FakeSteward, modify, proposal
from tests.tui.looking import PATIENCE, Clock, begun, reviewing, seen, typed, until, until_seen, yes

BASE = "".join(f"line {n}\n" for n in range(1, 41))
RESULT = BASE.replace("line 20\n", "twenty\n")


class Slow(FakeSteward):
    """Applies, and looks at changes, as slowly as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.put(proposal(1, modify("src/a.txt", BASE, RESULT)))
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.held: dict[str, asyncio.Event] = {}
        """What holds up a look, by the result's first line."""

    def amend(self, result: str) -> None:
        self.put(replace(self.proposals["change-001"], files=(modify("src/a.txt", BASE, result),)))
        self.tell(ChangesMoved(("change-001",)))

    async def review(self, change: str | None = None, *, shown: bool = True) -> Review:
        found = await super().review(change, shown=shown)
        first = (found.proposal.files[0].result or b"").partition(b"\n")[0].decode()
        if first in self.held:
            await self.held[first].wait()
        return found

    async def apply_change(self, change: str, stamp: str) -> Applied:
        await self.goes_on.wait()
        return await super().apply_change(change, stamp)


async def test_a_comment_typed_while_the_change_is_amended_stays_on_its_line() -> None:
    fake = Slow()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        at = next(
            i
            for i, row in enumerate(view.rows)
            if isinstance(row, CodeRow) and row.new and row.new.text == "twenty"
        )
        view.move_to(at)
        await pilot.press("c")
        await until_seen(pilot, "comment on line 20")
        await typed(pilot, "why")
        fake.amend("new\nnewer\n" + RESULT)
        await until_seen(pilot, "is not what you were reading")
        await typed(pilot, " so")
        await pilot.press("enter")
        await until(pilot, lambda: screen.reading is not None and bool(screen.reading.comments))
        assert screen.reading is not None
        (said,) = screen.reading.comments
        assert (said.text, said.first, said.last) == ("why so", 22, 22)


async def test_a_reason_typed_while_the_change_is_amended_discards_it_only_once_more() -> None:
    fake, clock = Slow(), Clock()
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        clock.pass_(1)
        await pilot.press("d")
        await until_seen(pilot, "Why discard change-001?")
        clock.pass_(1)
        await typed(pilot, "wrong")
        fake.amend("right\n" + RESULT)
        await until_seen(pilot, "is not what you were reading")
        await pilot.press("enter")
        await until_seen(pilot, "is not what it was when you pressed d; enter once more discards it")
        assert fake.discarded == []
        clock.pass_(1)
        await pilot.press("enter")
        await until(pilot, lambda: fake.discarded == [("change-001", "wrong")])


async def test_no_older_version_is_shown_after_a_newer_one() -> None:
    fake = Slow()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        old = fake.held["old"] = asyncio.Event()
        fake.amend("old\n" + RESULT)
        await until(pilot, lambda: "old" in str(fake.proposals["change-001"].files[0].result))
        await pilot.pause()
        both = asyncio.gather(screen._load(), screen._load())  # pyright: ignore[reportPrivateUsage]
        await pilot.pause()
        fake.put(
            replace(fake.proposals["change-001"], files=(modify("src/a.txt", BASE, "newest\n" + RESULT),))
        )
        last = asyncio.create_task(screen._load())  # pyright: ignore[reportPrivateUsage]
        await pilot.pause()
        old.set()
        await asyncio.gather(both, last)
        assert screen.review is not None
        assert screen.review.proposal.stamp == fake.proposals["change-001"].stamp
        await until_seen(pilot, "newest")


async def test_a_change_that_is_applied_after_its_review_was_left_is_told_in_the_conversation() -> None:
    fake, clock = Slow(), Clock()
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        fake.goes_on.clear()
        clock.pass_(2)
        await pilot.press("a")
        await until(pilot, lambda: app.screen.query_one(Confirm).drawn is not None, "the question")
        clock.pass_(2)
        await yes(pilot, clock)
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        fake.goes_on.set()
        await until_seen(pilot, "change-001 applied: src/a.txt")
        assert "failed" not in seen(app)


@pytest.mark.parametrize("key", ["f1", "f3"])
async def test_a_review_that_is_over_takes_away_nothing_that_lies_over_it(key: str) -> None:
    fake, clock = Slow(), Clock()
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        fake.goes_on.clear()
        clock.pass_(2)
        await pilot.press("a")
        await until(pilot, lambda: app.screen.query_one(Confirm).drawn is not None, "the question")
        clock.pass_(2)
        await yes(pilot, clock)
        await pilot.press(key)
        await until(pilot, lambda: len(app.screen_stack) == 3)
        above = app.screen
        fake.goes_on.set()
        await until(pilot, lambda: bool(fake.applied))
        await pilot.pause()
        assert app.screen is above
        await pilot.press("escape")
        await until(pilot, lambda: not any(isinstance(screen, ReviewScreen) for screen in app.screen_stack))
        await until_seen(pilot, "change-001 applied: src/a.txt")


async def test_lines_fetched_for_an_earlier_version_are_not_shown_as_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake, gate = Slow(), threading.Event()
    app = StewardApp(fake.as_steward(), now=Clock())

    def slowly(change: FileChange, context: int) -> FileDiff:
        gate.wait(PATIENCE)
        return file_diff(change, context)

    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        for context in (12, WHOLE):
            await pilot.press("w")
            await until(pilot, lambda context=context: view.context == context)
        monkeypatch.setattr("steward.proposals.diff.file_diff", slowly)
        widening = asyncio.create_task(view.action_widen())
        await until(pilot, lambda: view.context == 3)
        fake.amend("new\n" + RESULT)
        await until(
            pilot, lambda: screen.review is not None and view.diffs is screen.review.diffs, "the new version"
        )
        gate.set()
        await widening
        assert screen.review is not None and view.diffs is screen.review.diffs
        await until_seen(pilot, "+ new")
