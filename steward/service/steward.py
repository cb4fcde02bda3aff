"""The one object a front end holds: questions go down as calls, events come up as facts."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from steward.conversation import Usage
from steward.errors import Conflict, StewardError
from steward.events import (
    ChangesMoved,
    Event,
    FocusMoved,
    Notice,
    ProposalMade,
    RoundEnded,
    ToolFinished,
    TurnEnded,
)
from steward.service.completion import PathIndex
from steward.service.conversations import Conversations
from steward.service.manual import page
from steward.service.model_settings import model_of
from steward.service.models import Models
from steward.service.prompting import Prompting
from steward.service.revising import Revisions
from steward.service.steering import Steering
from steward.service.views import (
    ChangeView,
    ContextView,
    History,
    InstructionsView,
    Review,
    WorkspaceView,
)
from steward.watch import Watcher
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.loop import Bounds
    from steward.model.gateway import Gateway
    from steward.proposals import Proposal
    from steward.proposals.apply import Applied
    from steward.service.house import House
    from steward.tools import ToolResult

WAITING = "Another process holds the steward's database; it is waited for."

T = TypeVar("T")
_log = logging.getLogger("steward.service")


class Steward(Conversations, Models, Revisions, Steering, Prompting):
    """A workspace, its conversation and its changes, for one front end.

    Methods belong to one event loop and raise ``StewardError`` alone; what blocks runs in threads.
    """

    def __init__(
        self,
        house: House,
        *,
        model: str | None = None,
        worker: bool = True,
        watch: bool = True,
        gateway: Gateway | None = None,
    ) -> None:
        super().__init__(model_of(model, house.settings, house.state.parent), gateway)
        self._house = house
        self._wanted_worker = worker
        self._wanted_watch = watch
        self._made: list[Proposal] = []
        self._known: set[str] = set()
        self._turn = None
        self._background: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._watcher: Watcher | None = None
        self._index = PathIndex(house.workspace)

    # What a status line shows

    @property
    def workspace_name(self) -> str:
        """The workspace's directory name."""
        return self._house.workspace.name

    @property
    def root(self) -> Path:
        """The workspace's real path; for the person alone, never for a model."""
        return self._house.workspace.root

    @property
    def settings(self) -> Settings:
        """The person's settings."""
        return self._house.settings

    @property
    def profile(self) -> str:
        """The name of the profile in force; empty for none."""
        return self._house.profile_name

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return self._turn is not None

    @property
    def window(self) -> int | None:
        """Tokens of the model's window, when known."""
        return self._talk.window

    # Opening and closing

    def hold(self) -> str:
        """Have the kernel hold this process to what it needs from here on, where a helper starts the rest.

        To be called in the first thread, while there is no other: what is there already is not held. What holds, in a
        few words; empty for nothing.
        """
        if self._house.outside is not None and self._house.outside.helped:
            from steward.service.confine import hold_steward

            return str(hold_steward(self._house, self.model))
        return ""

    async def start(self) -> None:
        """Recover what a dead process left, start the worker, begin to watch. Does not wait for the worker."""
        self._loop = asyncio.get_running_loop()
        talk = await _blocking(lambda: self._talk)
        if self._house.stop_looking.is_set():
            for notice in talk.take_notices():
                self._tell(notice)
        self._house.database.waiting = lambda: self._from_thread(lambda: self._tell(Notice(WAITING)))
        for sentence in await _blocking(self._house.changes.recover):
            self._tell(Notice(sentence, "warning"))
        for sentence in await _blocking(self._house.expire):
            self._tell(Notice(sentence))
        if self._wanted_worker:
            await self._gateway.start()
            self._later(self._learn_model())
        if self._wanted_watch:
            self._watcher = Watcher(self._files_moved, self._watch_limited)
            self._later(self._watch())

    async def close(self) -> None:
        """End a running turn, the worker and the watcher; everything is stored."""
        self.interrupt()
        if self._turn is not None:
            await asyncio.gather(self._turn, return_exceptions=True)
        for task in tuple(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        if self._watcher is not None:
            await asyncio.to_thread(self._watcher.close)
        await asyncio.to_thread(self._index.close)
        if self._line is not None:
            await self._line.close()
        for queue in self._listeners:
            queue.put_nowait(None)
        self._house.close()

    async def listen(self) -> AsyncGenerator[Event]:
        """Facts that come outside a turn; ends when the steward is closed."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._listeners.append(queue)
        try:
            for event in self._take_unheard():
                yield event
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._listeners.remove(queue)

    # A turn

    async def ask(
        self,
        question: str,
        *,
        rounds: int | None = None,
        cost: float | None = None,
        tokens: int | None = None,
    ) -> AsyncGenerator[Event]:
        """One turn as events, the last of them ``TurnEnded``. ``Conflict`` while another one runs.

        ``rounds``, ``cost`` (US dollars) and ``tokens`` bound it instead of the settings.
        """
        await _blocking(
            lambda: self._talk
        )  # here, where a database that cannot be used is the caller's to word
        if self._turn is not None:
            raise Conflict("A turn is running; interrupt it or wait for its end.")
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        from steward.service.model_settings import bounds_of

        bounds = bounds_of(self._house.settings, rounds, cost, tokens)
        task = self._turn = asyncio.create_task(self._pump(question, queue, bounds))
        # A task that is cancelled before its first step never gets to say that it is over.
        task.add_done_callback(lambda _: queue.put_nowait(None))
        ended = False
        try:
            while (event := await queue.get()) is not None:
                ended = ended or isinstance(event, TurnEnded)
                yield event
            if not ended:
                yield TurnEnded("interrupted", 0, Usage(), 0.0)
        finally:
            task.cancel()
            try:
                await asyncio.gather(task, return_exceptions=True)
            finally:
                self._turn = None
                self._tell_late()

    def interrupt(self) -> None:
        """End the running turn, or before one the look for skills.

        The turn's generator gives ``TurnEnded("interrupted")``.
        """
        self._house.stop_looking.set()
        if self._turn is not None:
            self._turn.cancel()

    async def _pump(self, question: str, queue: asyncio.Queue[Event | None], bounds: Bounds) -> None:
        began = time.monotonic()
        number, usage = 0, Usage()
        talk = self._talk
        talk.local = lambda: self._facts.local
        try:
            if not talk.messages and (urls := self._house.instruction_urls):
                await self._house.remote.refresh(urls, self._gateway)
            for event in self._take_unheard():
                queue.put_nowait(event)
            turn = talk.turn(question, self._gateway, bounds, self._news)
            async with aclosing(turn) as events:
                async for event in events:
                    await _blocking(talk.save)
                    match event:
                        case RoundEnded(n, used, context, _):
                            number, usage = n, usage + used
                            talk.reported(context, used)
                        case FocusMoved(path):
                            talk.focus = path
                            self._later(self._watch())
                        case TurnEnded():
                            self._put_late(queue)
                        case _:
                            pass
                    queue.put_nowait(event)
                    if isinstance(event, ToolFinished) and event.ok:
                        for made in self._take_made():
                            queue.put_nowait(made)
                            self._later(self._watch())
        except asyncio.CancelledError:
            self._put_late(queue)
            queue.put_nowait(TurnEnded("interrupted", number, usage, time.monotonic() - began))
        except StewardError as error:
            queue.put_nowait(TurnEnded("failed", number, usage, time.monotonic() - began, str(error)))
        except Exception as error:
            _log.exception("a turn failed inside")
            sentence = f"The steward itself failed ({type(error).__name__}); the conversation is kept."
            queue.put_nowait(TurnEnded("failed", number, usage, time.monotonic() - began, sentence))
        finally:
            talk.settle()
            with suppress(StewardError):
                talk.save()
            queue.put_nowait(None)

    def _note_made(self, proposal: Proposal) -> None:
        self._made.append(proposal)
        self._from_thread(self._tell_late)

    def _put_late(self, queue: asyncio.Queue[Event | None]) -> None:
        for made in self._late():
            queue.put_nowait(made)

    def _tell_late(self) -> None:
        if self._turn is None:
            for made in self._late():
                self._tell(made)
                self._later(self._watch())

    def _late(self) -> list[ProposalMade]:
        """Patches that were stored though their call was broken off meanwhile; the model hears of them next."""
        late = self._take_made()
        self._brought += [
            f"Your call that was broken off did propose {made.proposal.id}; it is pending." for made in late
        ]
        return late

    def _take_made(self) -> list[ProposalMade]:
        taken, self._made = self._made, []
        events: list[ProposalMade] = []
        for proposal in taken:
            events.append(ProposalMade(proposal, amended=proposal.id in self._known))
            self._known.add(proposal.id)
        return events

    # Changes

    async def changes(self, everything: bool = False) -> tuple[ChangeView, ...]:
        """Pending changes, newest first; with ``everything`` the others after them."""
        return await _blocking(lambda: self._house.changes.listed(everything))

    async def review(self, change: str | None = None, *, shown: bool = True) -> Review:
        """All there is to see of a change (the newest pending one); with ``shown`` it may then be applied."""

        def look() -> Review:
            review = self._house.changes.review(change)
            if shown:
                self._house.changes.shown(review.proposal)
            return review

        return await _blocking(look)

    async def apply_change(self, change: str, stamp: str) -> Applied:
        """Write a change that was shown under the full ``stamp``; see ``Changes.apply`` for what it raises."""
        return await self._moving(lambda: self._house.changes.apply(change, stamp))

    async def discard_change(self, change: str, reason: str = "") -> Proposal:
        """Set a pending change aside."""
        return await self._moving(lambda: self._house.changes.discard(change, reason))

    async def undo_change(self, change: str | None = None) -> Applied:
        """Bring back what a change (the one applied last) replaced."""
        return await self._moving(lambda: self._house.changes.undo(change))

    async def rebase_change(self, change: str) -> Proposal:
        """Re-anchor a stale change; it must be shown again."""
        return await self._moving(lambda: self._house.changes.rebase(change))

    async def audit(self, change: str | None = None) -> History:
        """What the log says of a change, or of all; and whether the log can be believed."""
        return await _blocking(lambda: self._house.changes.history(change))

    async def _moving(self, work: Callable[[], T]) -> T:
        try:
            return await _blocking(work)
        finally:
            for sentence in self._house.changes.untold():
                self._tell(Notice(sentence, "warning"))
            self._tell(ChangesMoved())
            self._later(self._watch())

    # Instructions, context, models, sessions

    async def instructions(self, path: str | None = None) -> InstructionsView:
        """Which documents govern ``path`` (the focus), and which of them the conversation has been told."""
        target = RepoPath.parse(path).text if path else self.focus
        wanted = self._house.settings.instructions
        resolution = await _blocking(lambda: self._house.resolver.resolve(target))
        states = await _blocking(lambda: self._talk.briefed.states(target))
        return InstructionsView(resolution, states, self.window, wanted.enabled, wanted.refresh)

    def context(self) -> ContextView:
        """What fills the window."""
        return self._talk.context()

    def workspace_view(self) -> WorkspaceView:
        """The bounds of the tools."""
        return self._house.view()

    async def run_tool(self, name: str, arguments: str) -> ToolResult:
        """One tool as the model would run it first thing in a conversation."""
        return await self._talk.run_tool(name, arguments)

    async def _anew(self) -> None:
        await asyncio.to_thread(self._index.close)
        await _blocking(self._house.take_up)
        self._index = PathIndex(self._house.workspace)
        await self.new_session()

    # The manual

    def manual(self, topic: str | None = None) -> str:
        """A page of the manual as Markdown; ``NoSuchThing`` names the nearest topics."""
        return page(topic)

    # Inside

    async def _watch(self) -> None:
        """Watch the directories of pending files and of the documents that could govern the focus."""
        if self._watcher is None:
            return
        watcher, focus = self._watcher, self.focus
        with suppress(StewardError):
            await asyncio.to_thread(lambda: watcher.watch(self._house.directories_that_matter(focus)))

    def _files_moved(self, moved: frozenset[Path]) -> None:
        self._from_thread(lambda: self._later(self._look_again()))

    def _watch_limited(self, sentence: str) -> None:
        self._from_thread(lambda: self._tell(Notice(sentence, "warning")))

    async def _look_again(self) -> None:
        self._tell(ChangesMoved())
        with suppress(StewardError):
            self._tell(await self._instructions_event())
        await self._watch()

    def _later(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    def _from_thread(self, call: Callable[[], object]) -> None:
        if self._loop is not None and threading.current_thread() is not threading.main_thread():
            with suppress(RuntimeError):  # The loop is closed: nobody is left to be told.
                self._loop.call_soon_threadsafe(call)


async def _blocking(work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work)
