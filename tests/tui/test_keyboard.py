"""What makes a key deliberate."""

from __future__ import annotations

from steward.tui.keyboard import QUIET, Keyboard
from tests.tui.looking import Clock


def _press(keyboard: Keyboard, clock: Clock, after: float) -> None:
    clock.pass_(after)
    keyboard.arrived(clock())


def test_a_key_counts_only_when_what_it_decides_on_was_drawn_long_enough_before() -> None:
    clock = Clock()
    keyboard = Keyboard(clock)
    _press(keyboard, clock, 0)
    clock.pass_(5)
    drawn = clock()
    _press(keyboard, clock, QUIET / 2)
    assert not keyboard.deliberate(drawn)
    _press(keyboard, clock, 2 * QUIET)
    assert keyboard.deliberate(drawn)
    assert not keyboard.deliberate(None)


def test_a_key_counts_only_when_no_other_came_just_before() -> None:
    clock = Clock()
    keyboard = Keyboard(clock)
    drawn = clock()
    _press(keyboard, clock, 5)
    _press(keyboard, clock, QUIET / 2)
    assert not keyboard.deliberate(drawn)
    _press(keyboard, clock, QUIET * 1.5)
    assert keyboard.deliberate(drawn)


def test_a_key_is_as_old_as_its_arrival_not_as_its_handling() -> None:
    clock = Clock()
    keyboard = Keyboard(clock)
    typed_at = clock()
    clock.pass_(10)
    drawn = clock() - 5
    keyboard.arrived(typed_at)
    assert not keyboard.deliberate(drawn)


def test_a_key_that_means_nothing_leaves_a_doubt_until_one_is_meant() -> None:
    keyboard = Keyboard(Clock())
    assert not keyboard.doubtful
    keyboard.stray()
    assert keyboard.doubtful
    keyboard.sure()
    assert not keyboard.doubtful
