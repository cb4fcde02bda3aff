"""Every key has a name, can be another one, and is shown as what it is."""

from __future__ import annotations

import pytest

from steward.config import Settings
from steward.errors import ConfigError
from steward.tui import keys, themes
from steward.tui.app import StewardApp
from steward.tui.review.diff_view import DiffView
from tests.tui.fake_steward import FakeSteward, modify, proposal
from tests.tui.looking import Clock, begun, reviewing, rows, seen, until, until_seen


def _app(**wanted: str) -> StewardApp:
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.txt", "a\n", "b\n")))
    named = {name.replace("_", "-"): key for name, key in wanted.items()}
    return StewardApp(fake.as_steward(), Settings(keys=named), now=Clock())


async def test_a_key_of_the_persons_works_and_is_shown_in_the_bar_and_the_help() -> None:
    app = _app(show_change="ctrl+g", take_hunk="t,insert", panel="f12")
    async with app.run_test(size=(120, 60)) as pilot:
        await begun(pilot)
        assert "^G review" in rows(app)[-1] and "F12 panel" in rows(app)[-1]
        await pilot.press("f12")
        await until(pilot, lambda: not app.panel.display)
        screen = await reviewing(pilot, "ctrl+g")
        assert "t take/leave" in rows(app)[-1]
        await pilot.press("space")
        await pilot.pause()
        assert "without" not in seen(app)
        await pilot.press("t")
        await until_seen(pilot, "without 1 hunk")
        assert screen.query_one(DiffView).mark is None
        await pilot.press("f1")
        await until_seen(pilot, "Manual")
        await pilot.press("G")
        await until_seen(pilot, "To the previous hit")


@pytest.mark.parametrize(
    ("name", "key", "says"),
    [
        ("nothing", "f5", "no such key"),
        ("panel", "x", "types a character"),
        ("panel", "ctrl + x", "is written as"),
        ("panel", "f4", "already is the key of show-change"),
        ("take-line", "c", "already is the key of"),
        ("take-line", "", "is written as"),
    ],
)
def test_a_key_that_makes_no_sense_is_refused_by_name(name: str, key: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        StewardApp(FakeSteward().as_steward(), Settings(keys={name: key}))


def test_every_key_has_a_name_of_its_own_and_no_two_share_a_key() -> None:
    named = [key.name for _, table in keys.TABLES for key in table]
    assert len(named) == len(set(named))
    for _, table in keys.TABLES:
        pressed = [piece for key in table for piece in key.keys.split(",")]
        assert len(pressed) == len(set(pressed))


def test_keys_can_be_exchanged() -> None:
    assert keys.keymap({"take-line": "c", "comment": "x"}) == {"take-line": "c", "comment": "x"}


@pytest.mark.parametrize(
    ("wanted", "environment", "theme"),
    [
        ("auto", {"TERM": "xterm-256color"}, "steward-dark"),
        ("auto", {"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "steward-light"),
        ("auto", {"TERM": "linux"}, "ansi-dark"),
        ("auto", {"TERM": "linux", "COLORTERM": "truecolor"}, "steward-dark"),
        ("terminal", {"TERM": "xterm-256color"}, "ansi-dark"),
        ("light", {"TERM": "linux"}, "steward-light"),
    ],
)
def test_the_theme_follows_the_setting_and_the_terminal(
    monkeypatch: pytest.MonkeyPatch, wanted: str, environment: dict[str, str], theme: str
) -> None:
    for name in ("TERM", "COLORTERM", "COLORFGBG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert themes.chosen(wanted) == theme
    settings = Settings.model_validate({"theme": wanted})
    assert StewardApp(FakeSteward().as_steward(), settings).theme == theme
