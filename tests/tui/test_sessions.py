"""Sessions on the screen, over the real steward: found, resumed, forked, renamed, deleted, measured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.pilot import Pilot

from steward.config import Settings
from steward.config.settings import Profile
from steward.errors import NoSuchThing
from steward.events import Event
from steward.service import House, Steward
from steward.service.views import SessionView
from steward.tui.app import StewardApp
from steward.tui.sessions.list import SessionList
from tests.support import ScriptedGateway, call, plant, steward_in
from tests.tui.fake_steward import FakeSteward
from tests.tui.looking import Clock, ask, begun, rows, seen, typed, until, until_seen

READ = {"calls": [call("readFile", path="src/deep/inner.py")]}

Opened = tuple[StewardApp, Pilot[int], Steward, ScriptedGateway]


@asynccontextmanager
async def screen(
    folder: Path,
    replies: list[Any],
    *,
    settings: Settings | None = None,
    window: int | None = None,
    before: Callable[[Steward], Any] | None = None,
    begins: bool = True,
) -> AsyncGenerator[Opened]:
    """The screen over a steward in ``folder``, which may hold sessions from an earlier one."""
    root = folder / "repo"
    if not root.exists():
        plant(root)
    steward, gateway = steward_in(root, replies, settings=settings)

    async def size(model: str) -> int | None:
        return window

    gateway.window = size  # pyright: ignore[reportAttributeAccessIssue] -- a model with a window of this size
    if before is not None:
        await before(steward)
    app = StewardApp(steward, settings or Settings(), now=Clock())
    try:
        async with app.run_test(size=(89, 44)) as pilot:
            if begins:
                await begun(pilot)
            yield app, pilot, steward, gateway
    finally:
        await steward.close()


def said(app: StewardApp) -> str:
    """What the screen says, without the ends of its lines; at this width nothing stands beside the conversation."""
    return " ".join(" ".join(rows(app)).split())


async def until_said(pilot: Pilot[int], text: str) -> None:
    """Wait until the screen says something that may run over several lines."""
    app = pilot.app
    assert isinstance(app, StewardApp)
    await until(pilot, lambda: text in said(app), f"{text!r} on the screen")


async def command(pilot: Pilot[int], text: str) -> None:
    """Give a command in the prompt."""
    app = pilot.app
    assert isinstance(app, StewardApp)
    app.prompt.replace_all(text)
    await pilot.press("enter")


async def listed(pilot: Pilot[int], text: str = "/resume") -> SessionList:
    """Open the list of sessions."""
    await command(pilot, text)
    await until(pilot, lambda: isinstance(pilot.app.screen, SessionList), "the list of sessions")
    await pilot.pause()
    assert isinstance(pilot.app.screen, SessionList)
    return pilot.app.screen


def pass_time(app: StewardApp) -> None:
    clock = app.keyboard.now
    assert isinstance(clock, Clock)
    clock.pass_(2)


# Resume


async def test_a_session_is_found_by_typing_and_resumed_with_what_changed_since(tmp_path: Path) -> None:
    async with screen(tmp_path, [READ, {"text": "It is *one*."}, {"text": "Bees."}]) as (
        _,
        pilot,
        steward,
        _,
    ):
        await ask(pilot, "what is VALUE")
        first = steward.session_id
        await command(pilot, "/new")
        await until_seen(pilot, "only you apply a change")
        await ask(pilot, "who hums")
    (tmp_path / "repo/src/deep/AGENTS.md").write_text("# Other deep rules\n")
    (tmp_path / "repo/src/AGENTS.md").unlink()
    async with screen(tmp_path, [{"text": "Yes."}]) as (app, pilot, steward, gateway):
        await listed(pilot)
        await until_seen(pilot, "who hums")
        shown = seen(app)
        assert shown.index("who hums") < shown.index("what is VALUE"), "the latest first"
        assert "5 messages · just now" in shown and "script/here" in shown and first in shown
        await typed(pilot, "is one")
        await until(pilot, lambda: "who hums" not in seen(app), "narrowed by what was answered")
        await until_seen(pilot, "It is *one*")
        await pilot.press("enter")
        await until_seen(pilot, "Resumed session")
        await until_said(pilot, "src/AGENTS.md is gone")
        shown = seen(app)
        assert "❯ what is VALUE" in shown and "readFile src/deep/inner.py" in shown and "It is one." in shown
        assert "src/deep/AGENTS.md changed" in said(app)
        assert steward.session_id == first
        await ask(pilot, "and now")
        assert "what is VALUE" in str(gateway.sent())


async def test_a_session_is_resumed_by_a_part_of_its_id_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (_, pilot, steward, _):
        await ask(pilot, "one")
        session = steward.session_id
        await command(pilot, "/new")
        await until(pilot, lambda: not steward.session_id)
        await command(pilot, "/resume nothing")
        await until_seen(pilot, "There is no session 'nothing'")
        await command(pilot, f"/resume {session[9:14]}")
        await until_seen(pilot, "❯ one")
        assert steward.session_id == session


async def test_esc_closes_the_list_and_nothing_has_changed(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (app, pilot, steward, _):
        await listed(pilot)
        await until_seen(pilot, "No session was found")
        await pilot.press("escape")
        await ask(pilot, "one")
        session = steward.session_id
        await listed(pilot, "/sessions nowhere")
        await until_seen(pilot, "No session was found")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert steward.session_id == session and "❯ one" in seen(app)


async def test_a_session_given_at_the_start_is_shown_with_what_changed(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (_, pilot, _, _):
        await ask(pilot, "one")
    (tmp_path / "repo/AGENTS.md").write_text("# Rules as they are now\n")
    async with screen(tmp_path, [], before=lambda steward: steward.resume()) as (app, pilot, _, _):
        await until_seen(pilot, "❯ one")
        await until_seen(pilot, "AGENTS.md changed")
        shown = seen(app)
        assert shown.index("❯ one") < shown.index("AGENTS.md changed")


async def test_no_session_is_resumed_while_a_turn_runs(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}, {"text": "B.", "hang": True}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        session = steward.session_id
        await command(pilot, "/new")
        await until(pilot, lambda: not steward.session_id)
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "B.")
        for given in (f"/resume {session}", "/fork 1", "/compact", "/new"):
            await command(pilot, given)
            await until(pilot, lambda: seen(app).count("A turn is running") > 0, given)
        assert steward.session_id != session
        await pilot.press("escape")
        await until(pilot, lambda: not app.turns.running)


class Switching(FakeSteward):
    """Takes another conversation as slowly as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = asyncio.Event()
        self.order: list[str] = []

    async def remember(self, prompt: str) -> None:
        await asyncio.sleep(0)
        await super().remember(prompt)

    async def new_session(self) -> None:
        await self.taken.wait()
        self.order.append("new")
        await super().new_session()

    async def resume(self, session: str | None = None) -> None:
        await self.taken.wait()
        raise NoSuchThing("session", str(session))

    async def ask(self, question: str) -> AsyncGenerator[Event]:
        self.order.append(question)
        async for event in super().ask(question):
            yield event


async def test_a_question_sent_after_new_is_asked_in_the_new_conversation_however_long_that_takes() -> None:
    fake = Switching()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(89, 30)) as pilot:
        await begun(pilot)
        app.prompt.replace_all("/new")
        for key in ("enter", "o", "n", "e", "enter", "t", "w", "o"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until_seen(pilot, "queued · one")
        await pilot.pause()
        assert fake.order == [] and app.prompt.text == "two"
        fake.taken.set()
        await until_seen(pilot, "You asked: one")
        assert fake.order == ["new", "one"] and app.prompt.text == "two" and "queued" not in seen(app)


async def test_a_question_meant_for_a_conversation_that_is_not_there_is_not_asked_in_another() -> None:
    fake = Switching()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(89, 30)) as pilot:
        await begun(pilot)
        await command(pilot, "/resume gone")
        await command(pilot, "go on")
        await until_seen(pilot, "queued · go on")
        fake.taken.set()
        await until_seen(pilot, "There is no session 'gone'")
        await until(pilot, lambda: app.prompt.text == "go on" and not app.turns.running)
        assert fake.order == [] and "queued" not in seen(app)


# Rename, delete


async def test_a_title_is_offered_for_change_and_kept(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        await command(pilot, "/rename")
        await until(pilot, lambda: app.prompt.text == "/rename one")
        await typed(pilot, " and more")
        await pilot.press("enter")
        await until_seen(pilot, "called one and more from now on")
        assert [view.title for view in await steward.sessions()] == ["one and more"]


async def test_a_key_deletes_after_one_question_and_any_other_key_keeps(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}, {"text": "B."}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        await command(pilot, "/new")
        await until(pilot, lambda: not steward.session_id)
        await ask(pilot, "two")
        await listed(pilot)
        await pilot.press("down", "ctrl+d")
        await until_seen(pilot, "Delete “one” with its 3 messages?")
        pass_time(app)
        await pilot.press("n")
        await until_seen(pilot, "enter resumes")
        assert len(await steward.sessions()) == 2
        assert rows(app)[1].strip() == "type to search titles, questions and answers"
        await pilot.press("ctrl+d")
        await until_seen(pilot, "Delete “one”")
        await pilot.press("y")
        await until_seen(pilot, "too soon")
        pass_time(app)
        await pilot.press("y")
        await until_seen(pilot, "“one” is deleted")
        assert [view.title for view in await steward.sessions()] == ["two"]
        await pilot.press("ctrl+d")
        await until_seen(pilot, "Delete “two”")
        pass_time(app)
        await pilot.press("y")
        await until_seen(pilot, "“two” is deleted")
        await pilot.press("escape")
        await until_seen(pilot, "only you apply a change")
        assert not steward.session_id and "❯ two" not in seen(app)


async def test_a_session_named_for_deletion_is_asked_about(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (app, pilot, steward, _):
        await ask(pilot, "one")
        await command(pilot, f"/delete-session {steward.session_id}")
        await until_seen(pilot, "Delete “one” with its 3 messages?")
        pass_time(app)
        await pilot.press("escape")
        await until_seen(pilot, "enter resumes")
        assert len(await steward.sessions()) == 1


class Slow(FakeSteward):
    """Looks for sessions as slowly as a test wants."""

    def __init__(self) -> None:
        super().__init__()
        self.found = asyncio.Event()
        self.looked: list[str] = []
        self.deleted: list[str] = []
        self.resumed: list[str] = []

    async def sessions(self, search: str = "") -> tuple[SessionView, ...]:
        self.looked.append(search)
        if search:
            await self.found.wait()
        day = "2026-11-29T09:00:00Z"
        views = [SessionView(id, title, day, day, 3, "script/demo") for id, title in STORED.items()]
        return tuple(view for view in views if search in view.title)

    async def delete(self, session: str) -> str:
        self.deleted.append(session)
        return session

    async def resume(self, session: str | None = None) -> None:
        self.resumed.append(session or "")
        await super().resume(session)


STORED = {"s1": "apples", "s2": "pears", "s3": "more pears", "s4": "plums"}


@asynccontextmanager
async def searching(words: str) -> AsyncGenerator[tuple[Slow, StewardApp, Pilot[int]]]:
    """All sessions are listed, and these words are searched for until ``found`` is set."""
    fake = Slow()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(89, 30)) as pilot:
        await begun(pilot)
        await listed(pilot)
        await until_seen(pilot, "apples")
        await typed(pilot, words)
        await until(pilot, lambda: words in fake.looked, "the search")
        yield fake, app, pilot


async def test_enter_takes_what_fits_the_words_it_was_pressed_on() -> None:
    async with searching("pears") as (fake, app, pilot):
        await pilot.press("enter")
        await until_seen(pilot, "Searching; the first that is found is gone on with.")
        assert fake.resumed == [] and "apples" in seen(app)
        fake.found.set()
        await until(pilot, lambda: fake.resumed == ["s2"])


async def test_keys_that_move_count_among_what_fits_the_words() -> None:
    async with searching("pears") as (fake, _, pilot):
        await pilot.press("down", "enter")
        fake.found.set()
        await until(pilot, lambda: fake.resumed == ["s3"])


async def test_who_types_on_after_enter_has_taken_nothing() -> None:
    async with searching("p") as (fake, app, pilot):
        await pilot.press("down", "enter")
        await typed(pilot, "l")
        fake.found.set()
        await until(pilot, lambda: "apples" in seen(app) and "pears" not in seen(app))
        await pilot.pause()
        assert isinstance(app.screen, SessionList) and fake.resumed == []
        await pilot.press("down", "enter")
        await until(pilot, lambda: fake.resumed == ["s4"])


async def test_a_question_stays_while_sessions_are_found_and_asks_about_the_one_it_names() -> None:
    async with searching("pears") as (fake, app, pilot):
        await pilot.press("ctrl+d")
        await until_seen(pilot, "Delete “apples” with its 3 messages?")
        fake.found.set()
        await until(pilot, lambda: "plums" not in seen(app))
        assert "Delete “apples” with its 3 messages?" in seen(app)
        pass_time(app)
        await pilot.press("down")
        await until_seen(pilot, "enter resumes")
        await pilot.press("y")
        await pilot.pause()
        assert fake.deleted == []


async def test_what_is_found_after_the_list_was_left_goes_nowhere() -> None:
    async with searching("pears") as (fake, app, pilot):
        await pilot.press("enter", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        fake.found.set()
        await pilot.pause()
        assert fake.resumed == [] and "failed" not in seen(app)


# Fork


async def test_a_fork_puts_the_question_into_the_prompt_and_holds_what_was_before(tmp_path: Path) -> None:
    replies = [{"text": "A."}, {"text": "B."}, {"text": "C."}, {"text": "Otherwise."}]
    async with screen(tmp_path, replies) as (app, pilot, steward, gateway):
        for question in ("one", "two", "three"):
            await ask(pilot, question)
        session = steward.session_id
        await command(pilot, "/fork")
        await until_seen(pilot, "question 3")
        shown = seen(app)
        assert shown.index("question 3") < shown.index("question 1")
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "Forked before question 2")
        assert app.prompt.text == "two" and "❯ one" in seen(app) and "❯ three" not in seen(app)
        await typed(pilot, " otherwise")
        await pilot.press("enter")
        await until_seen(pilot, "Otherwise.")
        assert "two otherwise" in str(gateway.sent()) and "three" not in str(gateway.sent())
        assert steward.session_id != session
        assert {view.parent for view in await steward.sessions()} == {"", session}


async def test_there_is_nothing_to_fork_compact_or_change_before_a_question(tmp_path: Path) -> None:
    async with screen(tmp_path, []) as (_, pilot, _, _):
        for given, says in (
            ("/fork", "Nothing was asked in this conversation yet."),
            ("/fork x", "Name the question by its number"),
            ("/compact", "There is nothing to compact yet"),
            ("/summary", "was not compacted"),
        ):
            await command(pilot, given)
            await until_seen(pilot, says)


# Context and cost


async def test_the_window_is_shown_by_part_and_as_a_whole(tmp_path: Path) -> None:
    replies = [
        READ,
        {"text": "One.", "usage": {"prompt": 4000, "completion": 96, "cached": 3000, "cost": 0.5}},
    ]
    async with screen(tmp_path, replies, window=16_000) as (app, pilot, steward, _):
        await until(pilot, lambda: steward.window == 16_000)
        await command(pilot, "/context")
        await until_seen(pilot, "has not counted them yet")
        await pilot.press("escape")
        await ask(pilot, "what is VALUE")
        assert "25% of 16k" in rows(app)[-2]
        await command(pilot, "/context")
        await until_seen(pilot, "4,096 of 16,000 tokens · 25.6% of the window")
        shown = seen(app)
        for piece in ("base prompt", "tools", "src/deep/AGENTS.md", "conversation", "tool results", "free"):
            assert piece in shown, piece
        assert "The provider counted 4,096 tokens" in shown and "3,000 tokens came from" in shown
        assert "at 80% (12,800 tokens)" in shown
        view = steward.context()
        assert sum(part.tokens for part in view.parts) == view.total == 4096
        await pilot.press("escape")
        await command(pilot, "/cost")
        await until_seen(pilot, "$0.5000")
        assert "4,000" in seen(app) and "3,000" in seen(app)


async def test_what_nobody_counted_is_called_not_said(tmp_path: Path) -> None:
    async with screen(tmp_path, [{"text": "A."}]) as (app, pilot, _, _):
        await ask(pilot, "one")
        await command(pilot, "/cost")
        await until_seen(pilot, "not said")
        await pilot.press("escape")
        await command(pilot, "/context")
        await until_seen(pilot, "Nobody knows this model's window")
        assert "free" not in seen(app)


# Completion


async def test_arguments_are_completed_with_a_word_about_each(tmp_path: Path) -> None:
    settings = Settings(profile={"quick": Profile(model="script/quick", instructions=False)})
    async with screen(tmp_path, [{"text": "A."}], settings=settings) as (app, pilot, steward, _):
        await ask(pilot, "why is VALUE one")
        for start, says in (
            ("/resu", "Go on with a stored session"),
            ("/resume value", "why is VALUE one · just now"),
            ("/delete-session ", steward.session_id),
            ("/fork ", "why is VALUE one"),
            ("/ask ", "quick"),
            ("/ask qu", "script/quick · without instructions"),
            ("/help ses", "sessions"),
        ):
            app.prompt.replace_all("")
            await typed(pilot, start)
            await until_seen(pilot, says)
        app.prompt.replace_all("")
        await typed(pilot, "/ask rev")
        await until_seen(pilot, "listFiles, searchFiles, readFile, Skill alone")
        await pilot.press("tab")
        await until(pilot, lambda: app.prompt.text == "/ask reviewer ")
        await typed(pilot, "look at @inn")
        await until_seen(pilot, "src/deep/inner.py")


def test_a_house_without_sessions_says_so(tmp_path: Path) -> None:
    house = House(plant(tmp_path / "repo"), Settings(), state=tmp_path / "state")
    assert house.sessions.all() == ()
    house.close()


# The status line


async def test_the_profile_in_force_is_named_and_the_windows_fill_stays_on_a_narrow_screen(
    tmp_path: Path,
) -> None:
    house = House(plant(tmp_path / "repo"), Settings(), state=tmp_path / "state", profile="reviewer")
    gateway = ScriptedGateway([{"text": "A.", "usage": {"prompt": 4000, "completion": 100}}])
    steward = Steward(house, model="script/a-model-with-a-very-long-name", watch=False, gateway=gateway)
    app = StewardApp(steward, Settings(), now=Clock())
    try:
        async with app.run_test(size=(56, 20)) as pilot:
            await begun(pilot)
            await ask(pilot, "one")
            status = rows(app)[-2]
            assert "reviewer: script/a" in status and "4.1k tokens" in status and "ready" in status
            names = [tool["function"]["name"] for tool in gateway.requests[-1].tools]
            assert "proposePatch" not in names
    finally:
        await steward.close()
