"""Text from files, models, tools and errors is seen, and nothing of it acts (P8)."""

from __future__ import annotations

import json
import unicodedata

import pytest

from steward.conversation import Usage
from steward.events import (
    AnswerText,
    DocumentState,
    InstructionsChanged,
    LimitNotice,
    Notice,
    ProposalMade,
    ReasoningText,
    Retrying,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from steward.proposals import FileChange
from steward.tui.app import StewardApp
from steward.tui.conversation.transcript import Transcript
from steward.tui.lines import text_of
from steward.tui.looks import looks_of
from steward.tui.markdown import render
from steward.tui.marks import marked, pieces
from steward.tui.themes import DARK
from steward.visible import visible
from tests.tui.fake_steward import FakeSteward, governed, modify, proposal
from tests.tui.looking import Clock, ask, begun, reviewing, rows, seen, typed, until, until_seen

ACTING = {
    "osc52": "\x1b]52;c;aGFja2Vk\x07",
    "clear": "\x1b[2J\x1b[H",
    "c1": "\x9b2J\x9d52;c;eA==\x9c",
    "osc8": "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "bidi": "ab\u202edc\u202c \u2066x\u2069",
    "tags": "x\U000e0041\U000e0042",
    "returns": "over\rwritten\x08\x7f\x0b\x0c",
    "surrogate": "bad\udcff",
    "separators": "a\u2028b\u2029c\x85d",
    "markup": "[/] [/x] [@click=app.quit]x[/] [red]r[/red] \\[/]",
    "entities": "&#x1b;[2J &#27; &#x202e;",
}

FORBIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn"}


def clean(text: str) -> None:
    """No character of the screen acts or hides."""
    for char in text.replace("\n", ""):
        assert unicodedata.category(char) not in FORBIDDEN, f"U+{ord(char):04X}"


def everything(app: StewardApp) -> str:
    """All lines of the transcript."""
    transcript = app.main.query_one(Transcript)
    looks = looks_of(app.current_theme)
    return "\n".join(text_of(line) for block in transcript.blocks for line in block.lines(200, looks))


@pytest.mark.parametrize("name", list(ACTING))
async def test_no_raw_byte_and_no_lost_character_in_the_conversation(name: str) -> None:
    evil = ACTING[name]
    fake = FakeSteward(name=f"shop{evil}", model=f"script/{evil}")
    document = DocumentState(f"d{evil}/AGENTS.md", f"d{evil}", 10, 3, "a" * 64, "arrived")
    made = proposal(1, modify(f"src/{evil}.py", "a\n", f"{evil}\n"), title=f"T{evil}")
    fake.scripts = [
        [
            RoundStarted(1),
            ReasoningText(f"R{evil}"),
            *(AnswerText(char) for char in f"A{evil} and `C{evil}`\n\n```\nF{evil}\n```\n"),
            ToolStarted("c", f"tool{evil}", json.dumps({"path": evil, "q": evil})),
            ToolFinished("c", f"tool{evil}", True, f"result{evil}", f"summary{evil}"),
            ToolStarted("d", "readFile", f"not json {evil}"),
            ToolFinished("d", "readFile", False, f"error{evil}", f"refused{evil}"),
            InstructionsChanged(f"f{evil}", (document,), ((f"s{evil}", f"why{evil}"),), (document.path,)),
            LimitNotice(f"t{evil}", f"o{evil}", 1, 2, 3),
            Retrying(1, 2.0, f"r{evil}"),
            Notice(f"N{evil}", "warning"),
            ProposalMade(made),
            TurnEnded("failed", 1, Usage(), 0.1, f"E{evil}"),
        ]
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(180, 60)) as pilot:
        await begun(pilot)
        await ask(pilot)
        await pilot.press("ctrl+o")
        await pilot.pause()
        clean(seen(app))
        clean(app.panel.text())
        said = everything(app)
        clean(said)
        squeezed = "".join(said.split())
        if name not in ("markup", "entities"):
            wanted = "".join(visible(evil.replace("\n", ""), keep="").split())
            for prefix in (
                "R",
                "A",
                "C",
                "F",
                "result",
                "summary",
                "error",
                "refused",
                "N",
                "E",
                "T",
                "r",
                "tool",
            ):
                assert prefix + wanted in squeezed, (prefix, wanted)
        elif name == "markup":
            for piece in ("[/]", "[/x]", "[@click=app.quit]x[/]", "[red]r[/red]"):
                assert squeezed.count(piece) >= 12, piece


@pytest.mark.parametrize("name", list(ACTING))
async def test_no_raw_byte_and_no_lost_character_in_the_review(name: str) -> None:
    evil = ACTING[name]
    fake = FakeSteward()
    data = f"X{evil}Y\n".encode("utf-8", "surrogateescape")
    fake.put(
        proposal(
            1,
            modify(f"Makefile{evil}", data, data + data),
            FileChange(f"n{evil}", "rename", b"a\n", b"a\n", 0o644, 0o644, f"o{evil}"),
            title=f"T{evil}",
            instructions=governed(f"AGENTS{evil}.md"),
            notes=(f"note{evil}",),
        )
    )
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(131, 60)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        clean(seen(app))
        text = "".join(part.rstrip(" ") for part in rows(app))
        shown = visible(data.decode("utf-8", "surrogateescape").removesuffix("\n"), keep="")
        assert "".join(shown.split()) in "".join(text.split())
        for prefix in ("T", "note", "Makefile"):
            assert prefix + "".join(visible(evil, keep="").split()) in "".join(text.split())
        await pilot.press("v", "w")
        await pilot.pause(0.05)
        clean(seen(app))
        app.keyboard.now.pass_(1)  # type: ignore[attr-defined]  # pyright: ignore
        await pilot.press("a")
        await until(pilot, lambda: "any other key" in seen(app))
        clean(seen(app))
        assert app.screen is screen and app.is_running


@pytest.mark.parametrize("name", list(ACTING))
async def test_no_raw_byte_in_lists_pages_and_completions(name: str) -> None:
    evil = ACTING[name]
    fake = FakeSteward(model=f"m{evil}")
    fake.paths = (f"src/{evil}.py",)
    fake.documents = (DocumentState(f"A{evil}.md", f"s{evil}", 10, 3, "a" * 64, "in-effect"),)
    fake.skipped = ((f"p{evil}", f"r{evil}"),)
    fake.kept_draft = f"draft{evil}"
    fake.put(proposal(1, modify(f"a{evil}.py", "a\n", "b\n"), title=f"T{evil}"))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(150, 40)) as pilot:
        await begun(pilot)
        clean(seen(app))
        clean(app.prompt.text)
        app.prompt.replace_all("")
        await typed(pilot, "@")
        await until_seen(pilot, "src/")
        clean(seen(app))
        await pilot.press("tab")
        clean(app.prompt.text)
        for key in ("f2", "f3", "f6"):
            await pilot.press(key)
            await until(pilot, lambda: len(app.screen_stack) > 1)
            await pilot.pause(0.05)
            clean(seen(app))
            await pilot.press("escape")
            await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_markup_in_an_answer_is_neither_a_link_nor_an_error() -> None:
    fake = FakeSteward()
    fake.scripts = [[AnswerText(ACTING["markup"]), TurnEnded("answered", 1, Usage(), 0.1)]]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await ask(pilot)
        y, row = next((i, row) for i, row in enumerate(rows(app)) if "@click" in row)
        await pilot.click(offset=(row.index("x[/]", 20), y))
        await pilot.pause()
        assert app.is_running and not app._exit  # pyright: ignore[reportPrivateUsage]


def test_a_hidden_character_is_told_from_the_text_that_looks_like_its_mark() -> None:
    assert pieces("a⟨U+202E⟩b\u202ec␛\x1b") == [
        ("a⟨U+202E⟩b", False),
        ("⟨U+202E⟩", True),
        ("c␛", False),
        ("␛", True),
    ]
    looks = looks_of(DARK)
    spans = marked("a\u202e\tb", looks.block, looks.hidden)
    assert [span.style == looks.hidden for span in spans] == [False, True, False]


def test_markdown_drops_nothing_that_it_does_not_draw_otherwise() -> None:
    looks = looks_of(DARK)
    text = "[foo]: http://x.y\n\n<!-- hidden --> <b>bold</b> <script>x</script>\n\n![alt](http://i/m.png) [a](http://b)"
    shown = " ".join(text_of(line) for line in render(text, 100, looks))
    for piece in (
        "[foo]: http://x.y",
        "<!-- hidden -->",
        "<script>x</script>",
        "http://i/m.png",
        "a (http://b)",
    ):
        assert piece in shown
