"""Keys that come faster than the screen can follow do what they say to what the person saw."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from steward.model.choices import ModelChoice
from steward.tui.app import StewardApp
from steward.tui.review.screen import ReviewScreen
from steward.tui.screens.picker import Picker
from tests.tui.fake_steward import FakeSteward, answer, modify, proposal
from tests.tui.looking import Clock, ask, begun, reviewing, seen, typed, until, until_seen


def burst(app: StewardApp, *keys: str) -> None:
    """Keys that have all come before the first of them is handled."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize("opener", ["f1", "f3", "f6", "ctrl+r"])
@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_key_pressed_twice_leaves_one_screen_once(opener: str, key: str) -> None:
    fake = FakeSteward()
    fake.put(proposal(1, modify("src/a.py", "one\n", "two\n")))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press(opener)
        await until(pilot, lambda: len(app.screen_stack) == 2, "the screen")
        await pilot.pause()
        burst(app, key, key, key)
        await until(pilot, lambda: (opener == "f1" and key == "enter") or not isinstance(app.screen, Picker))
        await pilot.pause()
        assert app.main.is_attached


async def test_a_review_that_is_left_twice_is_left_once() -> None:
    fake = FakeSteward()
    fake.put(proposal(1, modify("src/a.py", "one\n", "two\n")))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        burst(app, "escape", "q", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.pause()


async def test_escape_pressed_twice_on_a_list_does_not_stop_the_turn_as_well() -> None:
    fake = FakeSteward()
    fake.scripts.append([60.0])
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.turns.ask("one")
        await until_seen(pilot, "● thinking")
        await pilot.press("ctrl+r")
        await until_seen(pilot, "an old question")
        burst(app, "escape", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.pause()
        assert "● thinking" in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: not app.turns.running)


async def test_keys_on_a_list_do_what_they_do_in_the_order_in_which_they_came() -> None:
    fake = FakeSteward()
    fake.put(*(proposal(n, modify(f"src/{n}.py", "one\n", "two\n"), title=f"t{n}") for n in range(1, 6)))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        for keys, change in (
            ("down t enter", "change-005"),
            ("t down down enter", "change-003"),
            ("t ctrl+n enter down", "change-004"),
            ("down t 2 enter", "change-002"),
        ):
            await pilot.press("f3")
            await until_seen(pilot, "enter picks")
            burst(app, *keys.split())
            await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None)
            screen = app.screen
            assert isinstance(screen, ReviewScreen) and screen.review is not None
            assert screen.review.proposal.id == change, keys
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_a_key_of_a_list_is_the_lists_alone() -> None:
    fake = FakeSteward()
    fake.put(*(proposal(n, modify(f"src/{n}.py", "one\n", "two\n")) for n in (1, 2)))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.feed.say("Still the same conversation.")
        await pilot.press("f3")
        await until_seen(pilot, "enter picks")
        await pilot.press("ctrl+n")
        await until(pilot, lambda: "❯ change-001" in seen(app))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "❯ change-002" in seen(app))
        await pilot.press("escape")
        await until_seen(pilot, "Still the same conversation.")
        assert len(app.screen_stack) == 1


async def test_a_summary_is_accepted_with_all_that_was_typed_before() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.command("compact")
        await until_seen(pilot, "They want one.")
        burst(app, *"Mine: ", "ctrl+s")
        await until(pilot, lambda: fake.summary.startswith("Mine: "))


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_key_meant_for_a_turn_that_is_just_over_stops_and_clears_nothing_else(key: str) -> None:
    fake, clock = FakeSteward(), Clock()
    fake.scripts.append([lambda: clock.pass_(1), *answer("Done.")])
    app = StewardApp(fake.as_steward(), now=clock)
    stopped: list[str] = []
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await ask(pilot)
        app.prompt.replace_all("half a thought")
        with app.deeds.waits.said("waiting", lambda: stopped.append("it")):
            await pilot.press(key)
            await pilot.pause()
            assert stopped == [] and app.prompt.text == "half a thought"
            clock.pass_(2)
            await pilot.press(key)
            await until(pilot, lambda: stopped == ["it"])


async def test_the_palette_takes_what_fits_all_that_was_typed() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("ctrl+p")
        await until_seen(pilot, "Commands")
        burst(app, *"workspace", "enter", "enter")
        await until_seen(pilot, "What the tools never touch")


class SlowModels(FakeSteward):
    """Finds models as slowly as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.found = asyncio.Event()

    async def models(self) -> tuple[ModelChoice, ...]:
        await self.found.wait()
        return await super().models()


async def test_enter_at_the_end_of_what_is_typed_takes_nothing_from_a_list_that_came_meanwhile() -> None:
    fake = SlowModels()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("f6")
        await typed(pilot, "is it gp")
        fake.found.set()
        await until(pilot, lambda: isinstance(app.screen, Picker), "the list")
        await until_seen(pilot, "api.openai.com")
        await typed(pilot, "t")
        await pilot.press("enter")
        await until_seen(pilot, "This list came while you were typing; enter once more takes the row")
        assert fake.model == "script/demo" and app.prompt.text == "is it gp"
        await pilot.press("enter")
        await until(pilot, lambda: fake.model == "offline/guide")


async def test_a_command_of_the_palette_is_done_on_the_review_it_was_opened_over() -> None:
    fake, clock = FakeSteward(), Clock()
    fake.put(*(proposal(n, modify(f"src/{n}.py", "one\n", "two\n")) for n in (1, 2)))
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.review("change-001")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Picker))
        burst(app, *"apply", "enter")
        await until_seen(pilot, "Write change-001")
        assert fake.applied == []
