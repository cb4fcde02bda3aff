"""What reaches the terminal: no colour where none is wanted, its own where it has sixteen, no mouse if off."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from steward.config import Settings
from steward.tui import themes
from steward.tui.app import StewardApp
from steward.tui.few_colours import NoColours, terminal_colours, without_colours
from steward.tui.looks import looks_of
from tests.monorepo import PROJECT
from tests.pty_screen import PtyScreen
from tests.tui.fake_steward import FakeSteward, modify, proposal
from tests.tui.looking import begun, reviewing, seen

PROGRAM = """
import sys
from steward.config import Settings
from steward.tui import run
from tests.tui.demo import CHANGE, steward
fake = steward(0.0)
fake.put(CHANGE)
sys.exit(run(fake.as_steward(), Settings.model_validate(dict(item.split("=") for item in sys.argv[1:]))))
"""
SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
ATTRIBUTES = {0, 1, 2, 3, 4, 7, 9, 22, 23, 24, 27, 29}
"""Weight, slant, line and reversal, and their ends."""
SIXTEEN = ATTRIBUTES | {39, 49, *range(30, 38), *range(40, 48), *range(90, 98), *range(100, 108)}


def opened(*settings: str, **environment: str) -> PtyScreen:
    """The screen with a change and a conversation to come."""
    base = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8", "HOME": "/nonexistent"}
    terminal = environment.pop("TERM", "xterm-256color")
    command = ["env", f"TERM={terminal}", sys.executable, "-c", PROGRAM, *settings]
    return PtyScreen(command, cwd=Path(PROJECT), environment=base | environment)


def walked(settings: tuple[str, ...], environment: Mapping[str, str]) -> bytes:
    """All that the program writes while a person walks through its screens."""
    with opened(*settings, **environment) as screen:
        screen.wait_for("Instructions here")
        screen.type("/ch")
        screen.wait_for("/show-change")
        screen.press("escape")
        screen.wait_gone("/show-change")
        screen.press("ctrl+c")
        screen.wait_for("ctrl+c again leaves")
        screen.type("How do retries work?\r")
        screen.wait_for("bound the wait.")
        screen.press("f3")
        screen.wait_for("type to narrow")
        screen.press("escape")
        screen.wait_gone("type to narrow")
        screen.press("f4")
        screen.wait_for("ATTEMPTS = 5")
        screen.type("jj jv/wait\r")
        screen.wait_for("without 1 hunk")
        screen.press("f1")
        screen.wait_for("Manual")
        screen.kill(15)
        assert screen.wait_end() == 128 + 15
        return bytes(screen.raw)


def codes(written: bytes) -> set[int]:
    """Each parameter of each rendition that was asked for."""
    return {int(part or b"0") for found in SGR.findall(written) for part in re.split(rb"[;:]", found)}


@pytest.mark.parametrize("theme", ["auto", "light"])
def test_without_colours_no_colour_reaches_the_terminal_and_weight_and_reversal_do(theme: str) -> None:
    written = codes(walked((f"theme={theme}",), {"NO_COLOR": "1", "COLORTERM": "truecolor"}))
    assert written <= ATTRIBUTES
    assert {1, 4, 7} <= written


@pytest.mark.parametrize("background", ["15;0", "0;15"])
def test_a_terminal_of_sixteen_colours_gets_its_own(background: str) -> None:
    written = codes(walked((), {"TERM": "xterm", "COLORFGBG": background}))
    assert written <= SIXTEEN
    assert {31, 32, 7} <= written
    assert (33 in written) == (background == "15;0"), "yellow can be read on a dark ground alone"


def test_an_empty_wish_for_no_colours_is_none() -> None:
    with opened(NO_COLOR="", COLORTERM="truecolor") as screen:
        screen.wait_for("Instructions here")
        assert b"38;2;" in screen.raw


@pytest.mark.parametrize("mouse", ["true", "false"])
def test_the_mouse_can_be_switched_off(mouse: str) -> None:
    with opened(f"mouse={mouse}") as screen:
        screen.wait_for("Instructions here")
        screen.settle()
        for mode in (b"?1000h", b"?1003h", b"?1006h"):
            assert (mode in screen.raw) == (mouse == "true")


def test_a_background_of_its_own_becomes_reversal_and_what_the_mouse_does_stays() -> None:
    style = Style(color="red", bgcolor="blue", bold=True, meta={"@click": "x"})
    own = Style(color="red", bgcolor=RichColor.default(), dim=True)
    first, second, third = NoColours().apply(
        [Segment("a", style), Segment("b", own), Segment("c", None)], Color.parse("black")
    )
    assert first.style == Style(bold=True, reverse=True, meta={"@click": "x"})
    assert second.style == Style(dim=True)
    assert third.style is None


def test_every_style_without_colours_has_none_and_tells_what_matters_apart() -> None:
    looks = without_colours()
    styles = [value for name in looks.__slots__ if isinstance(value := getattr(looks, name), Style)]
    for style in (*styles, *looks.syntax.values()):
        assert style.color is None and style.bgcolor is None
    for one, other in (
        (looks.added, looks.removed),
        (looks.added_word, looks.added),
        (looks.removed_word, looks.removed),
        (looks.cursor, looks.base),
        (looks.cursor, looks.user),
        (looks.hidden, looks.base),
        (looks.match, looks.base),
        (looks.user, looks.base),
        (looks.chip, looks.file),
    ):
        assert one != other


@pytest.mark.parametrize("dark", [True, False])
def test_the_terminals_colours_are_its_sixteen(dark: bool) -> None:
    looks = terminal_colours(dark)
    for name in looks.__slots__:
        style = getattr(looks, name)
        for color in (style.color, style.bgcolor) if isinstance(style, Style) else ():
            assert color is None or color.is_default or (color.number is not None and color.number < 16), name


@pytest.mark.parametrize("size", [(40, 12), (300, 100)])
@pytest.mark.parametrize("theme", ["dark", "light", "terminal"])
async def test_the_smallest_and_the_largest_screen_say_what_matters(
    size: tuple[int, int], theme: str
) -> None:
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.txt", "a\n" * 40, "b\n" * 40)))
    app = StewardApp(fake.as_steward(), Settings.model_validate({"theme": theme}))
    async with app.run_test(size=size) as pilot:
        await begun(pilot)
        assert "❯" in seen(app) and "F1" in seen(app)
        await reviewing(pilot)
        said = seen(app)
        assert "change-001" in said and "− a" in said and fake.proposals["change-001"].short_stamp in said


async def test_only_the_part_with_the_keyboard_shows_the_mark_of_the_prompt() -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        assert "│ ❯" in seen(app)
        app.transcript.focus()
        await pilot.pause()
        assert "│ ❯" not in seen(app)


def _light(color: RichColor) -> float:
    """Relative luminance, as WCAG 2 has it."""
    parts = [value / 255 for value in color.get_truecolor()]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: RichColor | None, other: RichColor | None) -> float:
    assert one is not None and other is not None
    dark, bright = sorted((_light(one), _light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [themes.DARK, themes.LIGHT], ids=lambda theme: theme.name)
def test_every_text_can_be_read_on_its_ground(theme: Theme) -> None:
    looks = looks_of(theme)
    for name in looks.__slots__:
        style = getattr(looks, name)
        if isinstance(style, Style) and style.bgcolor is not None:
            least = 3.5 if name in ("faint", "block_faint", "void") else 4.4
            assert _contrast(style.color, style.bgcolor) >= least, name
    for kind, style in looks.syntax.items():
        for ground in (looks.base, looks.block, looks.added, looks.removed):
            assert _contrast(style.color, ground.bgcolor) >= 4.4, kind
        for ground in (looks.added_word, looks.removed_word):
            assert _contrast(style.color, ground.bgcolor) >= 3.5, kind
