"""Typing: nothing is sent by accident and nothing typed is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from textual import events
from textual.pilot import Pilot

from steward.service.commands import COMMANDS, Command, find
from steward.tui.app import StewardApp
from steward.tui.prompt.completion import CompletionList, wanted
from steward.tui.prompt.draft import Draft
from steward.tui.prompt.recall import Recall
from steward.tui.review.screen import ReviewScreen
from steward.tui.slash import Given, Unknown, parse
from steward.tui.terminal import TerminalParser
from tests.tui.fake_steward import FakeSteward, modify, proposal
from tests.tui.looking import begun, seen, typed, until, until_seen


async def test_a_paste_keeps_every_line_and_sends_nothing() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.post_message(events.Paste("one\r\ntwo\n\nfour\n"))
        await until(pilot, lambda: bool(app.prompt.text))
        assert app.prompt.text == "one\ntwo\n\nfour\n"
        assert fake.asked == []
        await pilot.press("enter")
        await until(pilot, lambda: bool(fake.asked))
        assert fake.asked == ["one\ntwo\n\nfour"]


@pytest.mark.parametrize("key", ["ctrl+j", "shift+enter", "alt+enter"])
async def test_a_newline_key_does_not_send(key: str) -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("a", key, "b")
        assert app.prompt.text == "a\nb"
        assert fake.asked == []


async def test_what_is_pasted_shows_its_hidden_characters() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        app.post_message(events.Paste("a\x1b]52;c;eA==\x07b\u202ec"))
        await until(pilot, lambda: bool(app.prompt.text))
        assert app.prompt.text == "a␛]52;c;eA==␇b⟨U+202E⟩c"
        assert "␛]52;c;eA==␇b⟨U+202E⟩c" in seen(app)


async def test_up_and_down_walk_the_history_and_come_back_to_what_was_typed() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "new")
        await pilot.press("up")
        assert app.prompt.text == "two\nlines"
        await pilot.press("up")
        assert app.prompt.text == "an old question"
        await pilot.press("up")
        assert app.prompt.text == "an old question"
        await pilot.press("down", "down", "down", "down")
        assert app.prompt.text == "new"


async def test_a_slash_offers_commands_with_their_help_and_tab_completes() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/")
        await until_seen(pilot, "/instructions")
        assert "Show the manual" in seen(app)
        await typed(pilot, "ins")
        await until(pilot, lambda: "/changes" not in seen(app))
        await pilot.press("tab")
        assert app.prompt.text == "/instructions "
        assert fake.asked == []
        await pilot.press("enter")
        await until_seen(pilot, "Instructions for .")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert fake.remembered == ["/instructions"]


async def test_enter_on_an_offered_command_does_it() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/work")
        await until_seen(pilot, "/workspace")
        await pilot.press("enter")
        await until_seen(pilot, "What the tools never touch")


async def test_an_unknown_command_is_not_asked_of_the_model_and_the_nearest_is_named() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/chnages")
        await pilot.press("enter")
        await until_seen(pilot, "There is no command /chnages. Did you mean /changes?")
        assert fake.asked == []
        assert app.prompt.text == "/chnages"


async def test_an_at_sign_completes_paths() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "see @re")
        await until_seen(pilot, "src/retry.py")
        await pilot.press("enter")
        assert app.prompt.text == "see src/retry.py "
        await typed(pilot, "and @a b"[:6])
        await until_seen(pilot, "src/a b.py")
        while app.prompt._completion.chosen is None or " " not in app.prompt._completion.chosen.value:  # pyright: ignore[reportPrivateUsage]
            await pilot.press("down")
        await pilot.press("tab")
        assert app.prompt.text == "see src/retry.py and `src/a b.py` "
        assert fake.asked == []


class Searching(FakeSteward):
    """Its search for paths takes as long as the test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.found = asyncio.Event()
        self.found.set()

    async def complete_path(self, text: str, limit: int = 12) -> tuple[str, ...]:
        await self.found.wait()
        return await super().complete_path(text, limit)


@asynccontextmanager
async def searching(
    monkeypatch: pytest.MonkeyPatch, hold: float = 60.0
) -> AsyncGenerator[tuple[Searching, StewardApp, Pilot[int]]]:
    """A list is open for ``see @re``, and what is typed now is looked up and not found before ``found`` is set."""
    monkeypatch.setattr("steward.tui.prompt.prompt.HOLD", hold)
    fake = Searching()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "see @re")
        await until_seen(pilot, "src/retry.py")
        fake.found.clear()
        yield fake, app, pilot


async def test_a_row_that_was_offered_for_an_earlier_text_is_never_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with searching(monkeypatch, 0.05) as (fake, app, pilot):
        await typed(pilot, "ad")
        await pilot.press("tab")
        await pilot.pause(0.1)
        assert app.prompt.text == "see @read" and app.prompt.has_focus
        await pilot.click(CompletionList)
        assert app.prompt.text == "see @read"
        await pilot.press("enter")
        await until(pilot, lambda: fake.asked == ["see @read"])


@pytest.mark.parametrize("key", ["enter", "tab"])
async def test_a_key_waits_for_what_fits_the_text_it_was_pressed_on(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with searching(monkeypatch) as (fake, app, pilot):
        await typed(pilot, "t")
        await pilot.press(key)
        assert app.prompt.text == "see @ret"
        fake.found.set()
        await until(pilot, lambda: app.prompt.text == "see src/retry.py ")
        assert fake.asked == [] and app.prompt.has_focus


async def test_who_types_on_after_enter_has_sent_what_stood_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with searching(monkeypatch) as (fake, app, pilot):
        await typed(pilot, "t")
        await pilot.press("enter", "x")
        await until(pilot, lambda: fake.asked == ["see @ret"])
        assert app.prompt.text == "x"
        await typed(pilot, " @a")
        await pilot.press("enter")
        app.post_message(events.Paste("pasted"))
        await until(pilot, lambda: fake.asked == ["see @ret", "x @a"])
        assert app.prompt.text == "pasted"


async def test_escape_takes_back_an_enter_that_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async with searching(monkeypatch) as (fake, app, pilot):
        await typed(pilot, "t")
        await pilot.press("enter", "escape")
        fake.found.set()
        await pilot.pause(0.1)
        assert app.prompt.text == "see @ret" and fake.asked == []


async def test_what_is_offered_follows_the_cursor() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/works")
        await until_seen(pilot, "/workspace")
        await pilot.press("left", "left", "left", "left")
        await until_seen(pilot, "/show-change")
        await pilot.press("home")
        await until(pilot, lambda: "/show-change" not in seen(app))


async def test_enter_sends_what_is_typed_whole_while_a_completion_says_the_same() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "see @README.md")
        await until(pilot, lambda: app.prompt._completion.chosen is not None)  # pyright: ignore[reportPrivateUsage]
        await pilot.press("enter")
        await until(pilot, lambda: fake.asked == ["see @README.md"])
        await typed(pilot, "/workspace")
        await until_seen(pilot, "Show the workspace")
        await pilot.press("enter")
        await until_seen(pilot, "What the tools never touch")


async def test_escape_closes_the_offer_and_leaves_the_text() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/he")
        await until_seen(pilot, "Show the manual")
        await pilot.press("escape")
        await until(pilot, lambda: "Show the manual" not in seen(app))
        assert app.prompt.text == "/he"


async def test_the_draft_is_kept_and_comes_back() -> None:
    fake = FakeSteward()
    fake.kept_draft = "half a thou\x1bght"
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await until(pilot, lambda: app.prompt.text == "half a thou␛ght")
        await typed(pilot, "!")
        await until(pilot, lambda: fake.kept_draft == "half a thou␛ght!")
        await typed(pilot, "?")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: app._exit)  # pyright: ignore[reportPrivateUsage]
    assert fake.kept_draft == "half a thou␛ght!?"


async def test_what_is_typed_before_the_draft_is_read_stands_below_it_and_nothing_is_lost() -> None:
    fake = FakeSteward()
    fake.kept_draft = "half a thought"
    read = asyncio.Event()

    async def slow() -> str:
        await read.wait()
        return "half a thought"

    fake.draft = slow
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.prompt.has_focus)
        await typed(pilot, "new")
        await app.draft.keep()
        assert fake.kept_draft == "half a thought"
        late = events.Key("x", "x")
        read.set()
        await until(pilot, lambda: app.prompt.text == "half a thought\nnew")
        app.post_message(late)
        await until(pilot, lambda: app.prompt.text == "half a thought\nnew\nx")
        await pilot.press("y")
        assert app.prompt.text == "half a thought\nnew\nxy"


async def test_who_leaves_before_the_draft_is_read_keeps_both() -> None:
    fake = FakeSteward()
    fake.kept_draft = "half a thought"
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        draft = Draft(fake.as_steward(), app.prompt)
        app.prompt.replace_all("new")
        fake.kept_draft = "half a thought"
        await draft.leave(1, cleared=False)
        assert fake.kept_draft == "half a thought\nnew"


async def test_ctrl_c_twice_leaves_and_keeps_what_the_first_one_cleared() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "half a thought")
        await pilot.press("ctrl+c")
        assert app.prompt.text == ""
        await pilot.press("up")
        assert app.prompt.text == "half a thought"
        await pilot.press("down", "ctrl+c")
        await until(pilot, lambda: app._exit)  # pyright: ignore[reportPrivateUsage]
    assert fake.kept_draft == "half a thought"


async def test_the_draft_is_kept_while_somebody_types_without_a_pause() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        for _ in range(2_000):
            if fake.kept_draft:
                break
            await pilot.press("a")
            await asyncio.sleep(0.02)
        assert set(fake.kept_draft) == {"a"}


async def test_what_was_deleted_comes_back_with_undo() -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "half a thought")
        await pilot.press("ctrl+u")
        assert app.prompt.text == ""
        (key,) = TerminalParser().feed("\x1f")
        app.post_message(key)
        await until(pilot, lambda: app.prompt.text == "half a thought")


async def test_a_second_ctrl_c_leaves_also_when_the_first_has_copied() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "words")
        await pilot.press("shift+home", "ctrl+c")
        assert app.clipboard == "words" and app.prompt.text == "words"
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app._exit)  # pyright: ignore[reportPrivateUsage]
    assert fake.kept_draft == "words"


@pytest.mark.parametrize("size", [(40, 12), (100, 30), (100, 60)])
async def test_the_end_of_a_long_paste_is_in_sight(size: tuple[int, int]) -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=size) as pilot:
        await begun(pilot)
        app.post_message(events.Paste("\n".join(f"line {n}" for n in range(1000))))
        await until_seen(pilot, "line 999")
        await until_seen(pilot, "─ 1,000 lines ─")
        assert "ready" in seen(app)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "1,000 lines" not in seen(app))


@pytest.mark.parametrize(
    ("width", "hint"), [(40, "Ask · / commands · @ files "), (100, "@ files · ! shell ")]
)
async def test_what_an_empty_prompt_says_is_not_cut(width: int, hint: str) -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=(width, 20)) as pilot:
        await begun(pilot)
        await until_seen(pilot, hint)


async def test_apply_change_as_a_command_opens_the_review_and_never_applies_by_itself() -> None:
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.py", "a\n", "b\n")))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/apply-change change-001")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None)
        await until_seen(pilot, "any other key")
        assert fake.applied == []
        await pilot.press("enter")
        await until_seen(pilot, "Nothing was written")
        assert fake.applied == []


async def test_every_declared_command_works_as_a_slash_command() -> None:
    for command in COMMANDS:
        if command.name == "exit":
            continue
        fake = FakeSteward()
        fake.put(
            proposal(1, modify("a.py", "a\n", "b\n")),
            proposal(2, modify("b.py", "a\n", "b\n"), status="applied"),
        )
        app = StewardApp(fake.as_steward())
        async with app.run_test(size=(100, 30)) as pilot:
            await begun(pilot)
            app.prompt.replace_all("/" + command.name)
            await pilot.press("enter")
            await until(pilot, lambda: fake.remembered == ["/" + command.name])  # noqa: B023
            if command.name not in (
                "new",
                "rename",
                "check-model",
                "copy",
                "export",
                "attach",
                "filter",
                "init",
            ):
                await until(pilot, lambda: len(pilot.app.screen_stack) > 1, command.name)
            await pilot.pause(0.05)
            assert "failed inside" not in seen(app), command.name


async def test_every_declared_command_is_in_the_palette() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 100)) as pilot:
        await begun(pilot)
        await pilot.press("ctrl+p")
        await until_seen(pilot, "rebase-change")
        shown = seen(app)
        assert all(command.name in shown for command in COMMANDS)
        await typed(pilot, "workspace")
        await pilot.press("enter")
        await until_seen(pilot, "What the tools never touch")


async def test_the_model_can_be_picked_from_a_list_or_named() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("f6")
        await until_seen(pilot, "api.openai.com")
        await typed(pilot, "qwen")
        await until(pilot, lambda: "api.openai.com" not in seen(app))
        await pilot.press("enter")
        await until(pilot, lambda: fake.model == "ollama/qwen")
        await until_seen(pilot, "ollama/qwen answers from now on")
        await typed(pilot, "/model my-model")
        await pilot.press("enter")
        await until(pilot, lambda: fake.model == "my-model")


async def test_a_list_that_nothing_fits_says_so() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        await pilot.press("ctrl+r")
        await until_seen(pilot, "enter picks")
        await typed(pilot, "zzz")
        await until_seen(pilot, "Nothing fits what is typed · esc back")
        await pilot.press("backspace", "backspace", "backspace")
        await until_seen(pilot, "an old question")
        assert "Nothing fits" not in seen(app)
        await pilot.press("escape", "f6")
        await until_seen(pilot, "type to narrow, or a name of your own")
        await typed(pilot, "zzz")
        await until_seen(pilot, "Nothing fits what is typed · enter picks as it is typed · esc back")


async def test_on_the_smallest_screen_a_list_drops_whole_parts_of_a_note_and_a_page_wraps_its_headings() -> (
    None
):
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.py", "a\n", "b\n"), title="Mend it"))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(40, 16)) as pilot:
        await begun(pilot)
        await pilot.press("f3")
        await until_seen(pilot, "pending · +1 −1")
        assert "change-001  Me" in seen(app) and fake.proposals["change-001"].short_stamp[
            :1
        ] + "…" not in seen(app)
        await pilot.press("escape", "f2")
        await until_seen(pilot, "In effect, broadest first; the")
        assert "closest wins" in seen(app)


async def test_a_narrow_screen_hides_the_panel_and_ctrl_b_lays_it_over() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(60, 20)) as pilot:
        await begun(pilot)
        assert "Context" not in seen(app)
        await pilot.press("ctrl+b")
        await until_seen(pilot, "Context")
        assert app.prompt.has_focus
        await pilot.press("ctrl+b")
        await until(pilot, lambda: "Context" not in seen(app))
        await pilot.resize_terminal(120, 30)
        await until_seen(pilot, "Context")


async def test_a_panel_made_wide_leaves_room_for_the_conversation_on_a_smaller_screen() -> None:
    app = StewardApp(FakeSteward().as_steward())
    async with app.run_test(size=(170, 30)) as pilot:
        await begun(pilot)
        before = app.panel.outer_size.width
        await pilot.press(*["f8"] * 12)
        await until(pilot, lambda: app.panel.outer_size.width == before + 48)
        await pilot.resize_terminal(95, 30)
        await until(pilot, lambda: 0 < app.panel.outer_size.width < 80)
        assert app.transcript.outer_size.width >= 20
        await pilot.resize_terminal(170, 30)
        await until(pilot, lambda: app.panel.outer_size.width == before + 48)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (300, 100)])
async def test_it_works_from_tiny_to_huge(size: tuple[int, int]) -> None:
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.py", "a\n", "b\n")))
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=size) as pilot:
        await begun(pilot)
        await typed(pilot, "hello")
        assert "hello" in seen(app)
        await pilot.press("f4")
        await until_seen(pilot, "change-001")
        await until_seen(pilot, "a.py")


def test_what_looks_like_a_path_is_asked_and_not_taken_for_a_command() -> None:
    assert parse("/usr/bin holds what?") is None
    assert parse("hello /help") is None
    assert parse("/help me understand") == Given(parse_command("help"), "me understand")
    assert isinstance(parse("/hepl"), Unknown)
    assert isinstance(parse("/quux"), Unknown)


def parse_command(name: str) -> Command:
    command = find(name)
    assert command is not None
    return command


def test_what_is_completed_depends_on_what_stands_before_the_cursor() -> None:
    found = wanted("/sho", True)
    assert found is not None and (found.kind, found.typed) == ("command", "sho")
    assert wanted("/sho", False) is None
    found = wanted("/instructions src/a", True)
    assert found is not None and (found.kind, found.typed, found.start) == ("path", "src/a", 14)
    found = wanted("look at @src/a", False)
    assert found is not None and (found.typed, found.start, found.at) == ("src/a", 8, True)
    assert wanted("mail@host", True) is None


def test_recall_keeps_what_was_typed() -> None:
    recall = Recall()
    assert recall.older("typed") is None
    recall.load(("a", "b"))
    assert recall.older("typed") == "b"
    recall.load(("z",))
    assert recall.older("x") == "a"
    assert recall.older("x") == "z"
    assert recall.older("x") is None
    assert [recall.newer(), recall.newer(), recall.newer(), recall.newer()] == ["a", "b", "typed", None]
