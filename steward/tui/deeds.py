"""What each command does, and how the panels learn of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from steward.errors import NoSuchThing, NothingYet, StewardError
from steward.events import (
    ChangesMoved,
    FocusMoved,
    InstructionsChanged,
    Notice,
    ProposalMade,
    RoundEnded,
    TurnEnded,
)
from steward.tui import carrying
from steward.tui.exam import Exams
from steward.tui.lines import plain
from steward.tui.prompt.completion import Choice
from steward.tui.review.screen import ReviewScreen
from steward.tui.sessions.deeds import SessionDeeds
from steward.tui.steering import SteeringDeeds
from steward.tui.waits import Waits

if TYPE_CHECKING:
    from textual.screen import Screen

    from steward.events import Event
    from steward.tui.app import StewardApp
    from steward.tui.prompt.completion import Wanted
    from steward.tui.screens.lineview import Maker
    from steward.tui.screens.picker import Item


class Deeds:
    """Carries commands out against the steward and shows what came of them."""

    def __init__(self, app: StewardApp) -> None:
        self._app = app
        self.sessions = SessionDeeds(app)
        self.steering = SteeringDeeds(app)
        self.exams = Exams(app)
        self.waits = Waits(app)
        self._looking = False
        self._look_again = False
        self._unlisted = -1
        """Where a path begins for which the person would not wait."""

    # Commands

    async def do(self, name: str, argument: str = "") -> None:
        """Carry out one command; errors are the caller's to show."""
        app, steward = self._app, self._app.steward
        match name:
            case "help":
                await self._help(argument)
            case "workspace":
                from steward.tui.screens.pages import workspace_page

                self.read("Workspace", workspace_page(await asyncio.to_thread(steward.workspace_view)))
            case "instructions":
                from steward.tui.screens.pages import instructions_page

                self.read("Instructions", instructions_page(await steward.instructions(argument or None)))
            case "skills" | "skill" | "init" | "trust":
                await self.steering.do(name, argument)
            case "changes":
                await self._changes()
            case "show-change":
                await self._show(argument)
            case "apply-change" | "discard-change" | "rebase-change" | "undo-change":
                await self._decide(name, argument)
            case (
                "new"
                | "sessions"
                | "resume"
                | "rename"
                | "delete-session"
                | "fork"
                | "compact"
                | "summary"
                | "context"
                | "cost"
                | "ask"
            ):
                await self.sessions.do(name, argument)
            case "model":
                await self._model(argument)
            case "check-model":
                await self.exams.hold(argument)
            case "copy":
                text, what = carrying.wanted(app.feed.answers, argument)
                app.feed.say(carrying.copy(app, text, what), "info")
            case "export":
                form = "script" if argument.endswith(".jsonl") else "markdown"
                text = await steward.export(None, form) if argument else ""
                said = await asyncio.to_thread(carrying.write_new, argument, text, app.outside)
                app.feed.say(said, "done")
            case "attach":
                app.feed.say(app.shell.attach(), "info")
            case "filter":
                app.panel.display = True
                app.panel.next_filter()
                await self.look()
            case "exit":
                await app.leave()
            case _:
                raise NoSuchThing("command", name)

    def stop(self) -> bool:
        """End what goes on beside the conversation, one thing at a time; whether there was any."""
        return self.waits.stop() or self.sessions.beside.stop() or self.exams.stop()

    def read(self, title: str, make: Maker) -> None:
        """Show a page."""
        from steward.tui.screens.reader import Reader

        self._app.push_screen(Reader(title, make))

    async def _help(self, topic: str) -> None:
        from steward.tui.screens.reader import markdown_page

        text = await asyncio.to_thread(self._app.steward.manual, topic or None)
        if topic in ("", "keys"):
            from steward.tui.keys import help_table

            text = f"{text}\n\n{help_table(self._app)}"
        self.read(f"Manual · {plain(topic)}" if topic else "Manual", markdown_page(text))

    async def search_history(self) -> None:
        """Find an earlier question and put it into the prompt."""
        from steward.tui.screens.picker import Item

        found = dict.fromkeys(reversed(await self._app.steward.history()))
        items = [Item(text, text) for text in found]
        chosen = await self._pick("History", items, empty="Nothing was asked yet.")
        if chosen:
            self._app.prompt.replace_all(chosen)

    async def _pick(
        self, title: str, items: list[Item], *, free: bool = False, empty: str = "Nothing here."
    ) -> str | None:
        from steward.tui.screens.picker import Picker

        return await self.pick(Picker(title, items, free=free, empty=empty))

    async def pick(self, screen: Screen[str | None]) -> str | None:
        """Show a screen and wait for what it gives."""
        future: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def done(value: str | None) -> None:
            if not future.done():
                future.set_result(value)

        self._app.push_screen(screen, done)
        return await future

    async def _show(self, change: str) -> None:
        """Open the review, but not an empty one."""
        shown = any(view.proposal.status == "pending" for view in self._app.panel.state.changes)
        if not change and not shown and not await self._app.steward.changes():
            self._app.feed.say("No change is pending.", "info")
            return
        self._app.review(change or None)

    async def _changes(self) -> None:
        from steward.tui.screens.pages import change_items

        items = change_items(await self._app.steward.changes(True))
        chosen = await self._pick("Changes", items, empty="No change has been proposed yet.")
        if chosen:
            self._app.review(chosen)

    async def _decide(self, name: str, argument: str) -> None:
        """Open the review and ask there; nothing is decided by a command alone."""
        change: str | None = argument.split()[0] if argument else None
        screen = self._app.screen
        if change is None and isinstance(screen, ReviewScreen):
            screen.decide(name)
            return
        if change is None and name == "undo-change":
            applied = [
                v.proposal.id for v in await self._app.steward.changes(True) if v.proposal.status == "applied"
            ]
            if not applied:
                raise NothingYet("applied change", "No change is applied, so none can be undone.")
            change = applied[0]
        self._app.review(change, name)

    async def _model(self, name: str) -> None:
        from steward.tui.screens.pages import model_items

        app = self._app
        if not name:
            looking = self.waits.wait(
                "looking for models",
                app.steward.models(),
                "No more models are looked for; /model looks again.",
            )
            if (choices := await looking) is None:
                return
            picked = await self._pick("Model", model_items(choices, app.steward.model), free=True)
            if not picked:
                return
            name = picked
        await app.steward.choose_model(name)
        app.feed.say(f"{plain(app.steward.model)} answers from now on.", "info")
        await self.look()

    # What the panels show

    def note(self, event: Event) -> None:
        """Bring panel and status up to date with a fact."""
        app = self._app
        match event:
            case FocusMoved(path):
                app.status.show(focus=path)
                app.panel.show(focus=path)
            case InstructionsChanged(focus, documents, skipped, arrived):
                app.status.show(focus=focus)
                app.panel.show(focus=focus, documents=documents, skipped=skipped, arrived=frozenset(arrived))
            case ProposalMade() | ChangesMoved():
                self.look_soon()
            case Notice():
                self.sessions.compacting.look()
            case RoundEnded() | TurnEnded():
                context = app.steward.context()
                app.panel.show(context=context)
                app.status.show(tokens=context.total, window=context.window)
            case _:
                pass

    def look_soon(self) -> None:
        """Ask for the changes again, once however often this is called meanwhile."""
        if self._looking:
            self._look_again = True
        else:
            self._looking = True
            self._app.work(self._looks(), group="look")

    async def _looks(self) -> None:
        try:
            while True:
                self._look_again = False
                await self.look()
                if not self._look_again:
                    return
        finally:
            self._looking = False

    async def look(self) -> None:
        """Show how changes, instructions, model and context stand now."""
        app, steward = self._app, self._app.steward
        views = await steward.changes(app.panel.filter in ("applied", "all"))
        pending = [view for view in views if view.proposal.status == "pending"]
        context = steward.context()
        app.status.show(
            model=steward.model,
            host=steward.model_host,
            profile=steward.profile,
            focus=steward.focus,
            tokens=context.total,
            window=context.window,
            pending=len(pending),
            stale=sum(bool(view.stale) for view in pending),
        )
        standing = await steward.trust_standing()
        app.status.show(trust=standing)
        app.panel.show(changes=views, context=context, looked=True, focus=steward.focus)
        for screen in app.screen_stack:
            if isinstance(screen, ReviewScreen):
                screen.look_again()
        view = await steward.instructions()
        skipped = tuple((item.path, item.reason) for item in view.resolution.skipped)
        app.panel.show(documents=view.documents, skipped=skipped, instructions_off=not view.enabled)
        documents = tuple(document.path for document in view.resolution.documents)
        self._welcome(len(pending), documents, withheld=standing == "not trusted")

    def _welcome(self, pending: int, documents: tuple[str, ...], *, withheld: bool) -> None:
        app, welcome = self._app, self._app.welcome
        facts = replace(
            welcome.facts,
            model=app.steward.model,
            host=app.steward.model_host,
            pending=pending,
            withheld=withheld,
        )
        if facts.documents is None or app.steward.focus in ("", "."):
            facts = replace(facts, documents=documents)
        if facts != welcome.facts:
            welcome.update(facts)
            if welcome in app.transcript.blocks:
                app.transcript.changed(welcome)

    # Completion

    def drop(self, wanted: Wanted) -> None:
        """The person does not want it: what would still be listed for it is not."""
        if wanted.kind == "path" and not self._app.steward.paths_listed:
            self._app.steward.stop_listing()
            self._unlisted = wanted.start
            self._app.feed.say("The files are no longer listed; another @ lists them.", "info")

    async def complete(self, wanted: Wanted) -> None:
        """Look up what the prompt wants completed."""
        steward, prompt = self._app.steward, self._app.prompt
        try:
            match wanted.kind:
                case "path":
                    if not steward.paths_listed:
                        if wanted.typed and wanted.start == self._unlisted:
                            return
                        self._unlisted = -1
                        prompt.offer(wanted, [Choice("", "the files are being listed… · esc stops it")])
                    found = [Choice(path) for path in await steward.complete_path(wanted.typed)]
                case "change":
                    views = await steward.changes(True)
                    found = [
                        Choice(v.proposal.id, f"{v.proposal.status} · {v.proposal.title}", runs=True)
                        for v in views
                        if wanted.typed in v.proposal.id
                    ]
                case "model":
                    found = [
                        Choice(m.name, m.where, runs=True)
                        for m in await steward.models()
                        if wanted.typed.lower() in m.name.lower()
                    ]
                case "session" | "question" | "profile" | "topic":
                    found = await self.sessions.complete(wanted.kind, wanted.typed)
                case "skill":
                    found = await self.steering.complete(wanted.typed)
                case _:
                    found = list[Choice]()
        except StewardError:
            found = list[Choice]()
        prompt.offer(wanted, found)
