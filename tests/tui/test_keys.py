"""Every key has a name, can be another one, and is shown as what it is."""

from __future__ import annotations

import pytest

from steward.config import Settings
from steward.errors import ConfigError
from steward.tui import keys
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
        await pilot.resize_terminal(120, 200)
        await pilot.press("f1")
        await until_seen(pilot, "Manual")
        table = [[cell.strip() for cell in row.split("│")] for row in rows(app)]
        for row in (["F12", "panel"], ["t insert", "take-hunk"], ["^G", "show-change"]):
            assert row in [found[:2] for found in table], row


async def test_lists_pages_and_the_conversation_have_keys_that_can_be_others_too() -> None:
    app = _app(
        leave_list="f9",
        list_down="ctrl+t",
        leave_page="z",
        read_end="E",
        leave_conversation="z",
        next_call="t",
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("f3")
        await until_seen(pilot, "enter picks · F9 back · ↑ ^T move")
        await pilot.press("escape", "f9")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("f1")
        await until_seen(pilot, "z back")
        assert "PgDn g E move" in rows(app)[-1]
        await pilot.press("escape", "z")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await pilot.press("tab")
        await until_seen(pilot, "t next call  p previous  enter open  z prompt")
        await pilot.press("t")
        await until_seen(pilot, "t next call")
        await pilot.press("escape", "z")
        await until(pilot, lambda: app.prompt.has_focus)
        await until_seen(pilot, "F4 review")


async def test_the_keys_that_send_and_begin_a_line_can_be_exchanged() -> None:
    fake = FakeSteward()
    app = StewardApp(
        fake.as_steward(),
        Settings(keys={"send": "ctrl+t", "newline": "enter", "complete": "f9"}),
        now=Clock(),
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("a", "enter", "b")
        assert app.prompt.text == "a\nb" and fake.asked == []
        await pilot.press("ctrl+t")
        await until(pilot, lambda: fake.asked == ["a\nb"])
        await pilot.press("slash", "h", "e", "l")
        await until_seen(pilot, "/help")
        await pilot.press("f9")
        assert app.prompt.text == "/help "


async def test_keys_that_have_no_room_in_the_bar_are_a_key_away() -> None:
    app = _app()
    async with app.run_test(size=(60, 16)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        assert rows(app)[-1].rstrip().endswith("F1 all keys") and "a apply" in rows(app)[-1]
        await pilot.resize_terminal(200, 16)
        await until(pilot, lambda: "/ find" in rows(app)[-1] and "all keys" not in rows(app)[-1])


@pytest.mark.parametrize(
    ("name", "key", "says"),
    [
        ("nothing", "f5", "no such key"),
        ("panel", "x", "types a character"),
        ("panel", "ctrl + x", "is written as"),
        ("panel", "f4", "already is the key of show-change"),
        ("take-line", "c", "already is the key of"),
        ("take-line", "", "is written as"),
        ("send", "x", "types a character"),
        ("next-call", "j", "already is the key of read-down"),
        ("leave-page", "g", "already is the key of"),
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
        ("auto", {"TERM": "linux"}, "steward-terminal"),
        ("auto", {"TERM": "xterm"}, "steward-terminal"),
        ("auto", {"TERM": "xterm", "COLORFGBG": "0;15"}, "steward-terminal-light"),
        ("auto", {"TERM": "linux", "COLORTERM": "truecolor"}, "steward-dark"),
        ("terminal", {"TERM": "xterm-256color"}, "steward-terminal"),
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
    settings = Settings.model_validate({"theme": wanted})
    assert StewardApp(FakeSteward().as_steward(), settings).theme == theme
