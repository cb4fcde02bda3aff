"""What the commands do that are about conversations: begin, find, resume, rename, fork, delete, measure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from steward.errors import NoSuchThing, StewardError, UsageError
from steward.tui import sentences
from steward.tui.lines import plain
from steward.tui.prompt.completion import Choice
from steward.tui.sessions.beside import Beside
from steward.tui.sessions.compacting import Compacting

if TYPE_CHECKING:
    from steward.conversation import Message
    from steward.tui.app import StewardApp


class SessionDeeds:
    """Carries out the commands about conversations. Errors are the caller's to show."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self.beside = Beside(app)
        self.compacting = Compacting(app)
        self._beginning = asyncio.Lock()
        self._begun = False

    @property
    def begun(self) -> bool:
        """Whether the steward was started."""
        return self._begun

    async def begin(self) -> bool:
        """Start the steward and show the conversation that it holds; when that failed, it is tried again here.

        Gives whether it was started now.
        """
        app = self._app
        async with self._beginning:
            if self._begun:
                return False
            await app.steward.start()
            self._begun = True
            self.compacting.forget()
            if app.steward.session_id:
                self.show(await app.steward.stored(app.steward.session_id))
            app.work(app.listen())
            return True

    async def do(self, name: str, argument: str) -> None:
        """Carry out one of these commands."""
        match name:
            case "new":
                await self._new()
            case "sessions":
                await self._choose(argument)
            case "resume" if argument:
                await self._resume(argument)
            case "resume":
                await self._choose("")
            case "rename":
                await self._rename(argument)
            case "delete-session":
                await self._delete(argument)
            case "fork":
                await self._fork(argument)
            case "compact":
                await self.compacting.compact()
            case "summary":
                await self.compacting.change()
            case "context":
                from steward.tui.sessions import pages

                view = self._app.steward.context()
                at = self._app.steward.settings.context.compact_at
                self._app.deeds.read("Context", pages.context_page(view, self._app.steward.cost(), at))
            case "cost":
                from steward.tui.sessions import pages

                self._app.deeds.read("Cost", pages.cost_page(self._app.steward.cost()))
            case "ask":
                await self._ask(argument)
            case _:
                raise NoSuchThing("command", name)

    async def _new(self) -> None:
        async with self._switch("begin another conversation"):
            await self._app.steward.new_session()
            self.show(())
        await self._app.deeds.look()

    @asynccontextmanager
    async def _switch(self, wanted: str) -> AsyncGenerator[None]:
        """Hold another conversation from here on; what is asked meanwhile is asked there, or nowhere if that fails."""
        app = self._app
        async with app.turns.held("", wanted, app.steward.interrupt):
            try:
                with app.deeds.waits.said(sentences.STARTING, app.steward.interrupt):
                    yield
            except StewardError:
                app.turns.take_back()
                raise

    async def _choose(self, words: str, delete: str = "") -> None:
        """Show the stored sessions; the one that is picked is gone on with."""
        from steward.tui.sessions.list import SessionList

        app = self._app
        found, held = await app.steward.sessions(words), app.steward.session_id
        chosen = await app.deeds.pick(SessionList(app.steward, app.keyboard, found, words, delete=delete))
        if chosen and chosen != app.steward.session_id:
            await self._resume(chosen)
        elif held and not app.steward.session_id:
            self.show(())
            await app.deeds.look()

    async def _resume(self, session: str) -> None:
        steward = self._app.steward
        async with self._switch("resume another conversation"):
            messages = await steward.stored(session)
            await steward.resume(session)
            # Nothing is awaited before the conversation is shown, so that what is told of it comes after it.
            self.show(messages)
            self._app.feed.say(
                f"Resumed session {plain(steward.session_id)}: {plain(steward.session_title) or '(no title)'}",
                "done",
            )
        await self._app.deeds.look()

    def show(self, messages: tuple[Message, ...]) -> None:
        """Show a conversation from its beginning, its end in view; the welcome when it is empty."""
        app = self._app
        app.feed.clear()
        self.compacting.forget()
        if messages:
            app.feed.show(messages)
        else:
            app.transcript.add(app.welcome)
            app.transcript.settle()
        for question in app.turns.waiting:
            app.feed.queue(question)
        app.transcript.go_end()

    async def _rename(self, title: str) -> None:
        app = self._app
        if not title:
            app.prompt.replace_all(f"/rename {app.steward.session_title}")
            return
        kept = await app.steward.rename(title)
        app.feed.say(f"This session is called {plain(kept)} from now on.", "done")

    async def _delete(self, session: str) -> None:
        if not session:
            await self._choose("")
        else:
            await self._choose("", delete=session)

    async def _fork(self, number: str) -> None:
        app = self._app
        if not number:
            from steward.tui.screens.picker import Picker
            from steward.tui.sessions import pages

            items = pages.question_items(await app.steward.questions())
            picker = Picker("Fork: begin again before the question you pick", items)
            number = await app.deeds.pick(picker) or ""
            if not number:
                return
        if not (number.isascii() and number.isdigit()):
            raise UsageError("Name the question by its number: /fork 2; /fork alone lists them.")
        before = app.steward.session_title
        async with self._switch("fork the conversation"):
            question = await app.steward.fork(int(number))
            self.show(app.steward.told())
            app.feed.say(
                f"Forked before question {number}: this is a new session, and “{plain(before)}” stays as it was. "
                "The question is in the prompt, to be asked otherwise.",
                "done",
            )
            app.turns.waiting.appendleft(question)
            app.turns.take_back()
            app.prompt.focus()
        await app.deeds.look()

    async def complete(self, kind: str, typed: str) -> list[Choice]:
        """What may follow a command: sessions, questions, profiles, topics of the manual."""
        steward, words = self._app.steward, typed.casefold()
        match kind:
            case "session":
                at = datetime.now(UTC)
                return [
                    Choice(s.id, f"{s.title} · {sentences.age(s.updated, at)}", runs=True)
                    for s in await steward.sessions()
                    if words in s.id or words in s.title.casefold()
                ]
            case "question":
                return [
                    Choice(str(asked.number), " ".join(asked.text.split()), runs=True)
                    for asked in reversed(await steward.questions())
                    if str(asked.number).startswith(typed) or words in asked.text.casefold()
                ]
            case "profile":
                from steward.service.profiles import names
                from steward.tui.sessions import pages

                return [
                    Choice(name, pages.profile_note(steward.settings, name))
                    for name in names(steward.settings)
                    if name.startswith(typed)
                ]
            case _:
                from steward.service.manual import topics

                return [Choice(name, runs=True) for name in topics() if name.startswith(typed)]

    async def _ask(self, argument: str) -> None:
        from steward.service.profiles import named, names

        app = self._app
        profile, _, question = argument.partition(" ")
        if not profile:
            from steward.tui.screens.picker import Item, Picker
            from steward.tui.sessions import pages

            items = [
                Item(name, name, pages.profile_note(app.steward.settings, name))
                for name in names(app.steward.settings)
            ]
            profile = await app.deeds.pick(Picker("Ask beside this conversation, as", items)) or ""
            if not profile:
                return
        named(app.steward.settings, profile)
        if not question.strip():
            app.prompt.replace_all(f"/ask {profile} ")
            app.prompt.focus()
            return
        await self.beside.ask(profile, question.strip())
