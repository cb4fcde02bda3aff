"""What a person would see: the characters on the screen, and waiting until they say something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from textual.pilot import Pilot

from steward.tui.app import StewardApp
from steward.tui.review.confirm import Confirm
from steward.tui.review.screen import ReviewScreen

PATIENCE = 20.0
"""Seconds until a test gives up waiting; no test passes or fails by being faster."""


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = 10.0

    def __call__(self) -> float:
        return self.time

    def pass_(self, seconds: float) -> None:
        """Let time go by."""
        self.time += seconds


async def yes(pilot: Pilot[int], clock: Clock) -> None:
    """Give the answer, and let the moment pass in which another key would take it back."""
    await pilot.press("Y")
    await moment(pilot, clock)


async def moment(pilot: Pilot[int], clock: Clock) -> None:
    """Let time go by, no faster than it does, until no answer waits for its moment any more."""
    confirm = pilot.app.screen.query_one(Confirm)

    def passed() -> bool:
        clock.pass_(0.02)
        return not confirm.answered

    await until(pilot, passed, "the moment after the answer")


def rows(app: StewardApp) -> list[str]:
    """The screen, line by line."""
    compositor = app.screen._compositor  # pyright: ignore[reportPrivateUsage]
    return ["".join(segment.text for segment in strip) for strip in compositor.render_strips()]


def seen(app: StewardApp) -> str:
    """The screen as one text."""
    return "\n".join(rows(app))


async def until(pilot: Pilot[int], holds: Callable[[], bool], what: str = "") -> None:
    """Wait until something holds."""
    began = monotonic()
    while not holds():
        if monotonic() - began > PATIENCE:
            app = pilot.app
            assert isinstance(app, StewardApp)
            raise AssertionError(f"never came true: {what or holds}\n{seen(app)}")
        await pilot.pause(0.02)
    await pilot.pause()


async def until_seen(pilot: Pilot[int], text: str) -> None:
    """Wait until the screen says something."""
    app = pilot.app
    assert isinstance(app, StewardApp)
    await until(pilot, lambda: text in seen(app), f"{text!r} on the screen")


async def begun(pilot: Pilot[int]) -> StewardApp:
    """Wait until the first questions to the steward have been answered."""
    app = pilot.app
    assert isinstance(app, StewardApp)
    await until(pilot, lambda: app.panel.state.looked and bool(app.panel.state.documents), "the start")
    return app


async def typed(pilot: Pilot[int], text: str) -> None:
    """Type a text key by key."""
    names = {" ": "space", "\n": "ctrl+j", "/": "slash", "@": "at", ".": "full_stop", "-": "minus"}
    await pilot.press(*(names.get(char, char) for char in text))


async def ask(pilot: Pilot[int], question: str = "why") -> StewardApp:
    """Ask, and wait for the end of the turn."""
    app = pilot.app
    assert isinstance(app, StewardApp)
    ended = app.turns.ended
    await typed(pilot, question)
    await pilot.press("enter")
    await until(pilot, lambda: app.turns.ended > ended and not app.turns.running, "the turn ends")
    app.transcript.settle()
    await pilot.pause()
    return app


async def reviewing(pilot: Pilot[int], key: str = "f4") -> ReviewScreen:
    """Open the review of the newest change and wait until it is drawn."""
    app = pilot.app
    await pilot.press(key)
    await until(
        pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None, "the review"
    )
    screen = app.screen
    assert isinstance(screen, ReviewScreen)
    return screen


async def breathe() -> None:
    """Let other tasks run."""
    for _ in range(5):
        await asyncio.sleep(0)
