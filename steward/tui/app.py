"""The application: puts the views together, runs turns, and carries commands between the person and the steward."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, cast
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.screen import Screen
from textual.worker import Worker, WorkerState

from steward.confine.outside import Outside
from steward.errors import StewardError
from steward.tui import sentences, slash, themes
from steward.tui.conversation.transcript import Transcript
from steward.tui.keyboard import Keyboard
from steward.tui.keys import CALLS, MAIN, bindings, covered, entry, keymap
from steward.tui.panel.panel import SidePanel
from steward.tui.prompt.box import PromptBox
from steward.tui.prompt.completion import CompletionList
from steward.tui.prompt.draft import Draft
from steward.tui.prompt.prompt import Prompt
from steward.tui.status import KeyBar, StatusLine
from steward.tui.stopping import Stopping
from steward.tui.welcome import Facts, Welcome

if TYPE_CHECKING:
    from textual.filter import LineFilter

    from steward.config import Settings
    from steward.events import Event
    from steward.service import Steward
    from steward.tui.conversation.feed import Feed
    from steward.tui.deeds import Deeds
    from steward.tui.review.reading import Readings
    from steward.tui.review.rework import Rework
    from steward.tui.review.screen import ReviewScreen
    from steward.tui.shell import Shell
    from steward.tui.turns import Turns

NARROW = 90
"""Below this width the side panel lies over the conversation and is closed at first."""

_log = logging.getLogger("steward.tui")
_log.addHandler(logging.NullHandler())  # without any handler, logging would write over the screen


class StewardApp(App[int]):
    """Holds the steward; views know nothing of it but what they are shown."""

    ENABLE_COMMAND_PALETTE = False

    BINDINGS: ClassVar[list[BindingType]] = bindings(MAIN)

    CSS = """
    Screen { layers: base above; background: $background; }
    #left { width: 1fr; height: 1fr; layers: base above; }
    #main { height: 1fr; layers: base above; }
    """

    def __init__(
        self,
        steward: Steward,
        settings: Settings | None = None,
        *,
        question: str = "",
        now: Callable[[], float] = monotonic,
        outside: Outside | None = None,
    ) -> None:
        if os.environ.get("NO_COLOR") == "":
            del os.environ["NO_COLOR"]  # empty, it asks for nothing; Textual would take it for a wish
        super().__init__()
        self.animation_level = "none"
        self.set_keymap(keymap(settings.keys if settings is not None else {}))
        self.steward = steward
        self.outside = outside or Outside()
        """Starts what the person starts by hand."""
        self.keyboard = Keyboard(now)
        self.failed: Exception | None = None
        self._settings = settings
        self._question = question
        self.stopping = Stopping(self, now)
        self._draft_timer: Any = None
        self._in_order = asyncio.Lock()
        """Held until a command that was sent can begin, so that no question that was sent after it is asked before."""
        self._pressed_on = WeakKeyDictionary[events.Event, Screen[Any]]()
        for theme in (themes.DARK, themes.LIGHT, themes.TERMINAL, themes.TERMINAL_LIGHT):
            self.register_theme(theme)
        wanted = settings.theme if settings is not None else "auto"
        self.theme = (
            themes.TERMINAL.name if self.no_color else themes.chosen(wanted, self.console.color_system)
        )

    # Parts

    def get_line_filters(self) -> Sequence[LineFilter]:
        return (self._no_colours,) if self.no_color else super().get_line_filters()

    @cached_property
    def _no_colours(self) -> LineFilter:
        from steward.tui.few_colours import NoColours

        return NoColours()

    def compose(self) -> ComposeResult:
        completion = CompletionList()
        with Horizontal(id="main"):
            with Vertical(id="left"):
                yield Transcript(id="transcript")
                yield completion
                yield PromptBox(Prompt(completion, id="prompt"))
            yield SidePanel()
        yield StatusLine()
        yield KeyBar(tuple(entry(self, key.name) for key in MAIN if key.short))

    @property
    def main(self) -> Screen[Any]:
        """The screen of the conversation, whatever lies over it."""
        return self.screen_stack[0]

    @property
    def transcript(self) -> Transcript:
        """The conversation."""
        return self.main.query_one(Transcript)

    @property
    def prompt(self) -> Prompt:
        """Where the person types."""
        return self.main.query_one(Prompt)

    @property
    def panel(self) -> SidePanel:
        """The side panel."""
        return self.main.query_one(SidePanel)

    @property
    def status(self) -> StatusLine:
        """The status line."""
        return self.main.query_one(StatusLine)

    # What the first frame can do without is imported when it is asked for.

    @cached_property
    def feed(self) -> Feed:
        """Puts facts into the conversation."""
        from steward.tui.conversation.feed import Feed

        return Feed(self.transcript)

    @cached_property
    def draft(self) -> Draft:
        """Keeps what is typed and not sent."""
        return Draft(self.steward, self.prompt)

    @cached_property
    def turns(self) -> Turns:
        """Asks the steward, one question after the other."""
        from steward.tui.turns import Turns

        return Turns(self)

    @cached_property
    def deeds(self) -> Deeds:
        """Does what commands say."""
        from steward.tui.deeds import Deeds

        return Deeds(self)

    @cached_property
    def shell(self) -> Shell:
        """Runs the person's own commands."""
        from steward.tui.shell import Shell

        return Shell(self)

    @cached_property
    def readings(self) -> Readings:
        """What the person left out of changes and said about them."""
        from steward.tui.review.reading import Readings

        return Readings()

    def on_mount(self) -> None:
        self.prompt.steady = self.keyboard.steady
        self.app_resume_signal.subscribe(self, self._repaint)  # pyright: ignore[reportUnknownMemberType]
        steward = self.steward
        self.welcome = Welcome(Facts(steward.workspace_name, steward.model))
        self.transcript.add(self.welcome)
        self.transcript.settle()
        self.status.show(workspace=steward.workspace_name, model=steward.model, focus=steward.focus)
        self.prompt.focus()
        self._fit_panel(self.size.width)
        self.call_after_refresh(lambda: self.work(self._begin()))

    def _repaint(self, _: object = None) -> None:
        """The terminal has forgotten what was drawn: draw every cell again."""
        size = self.size
        self.call_after_refresh(lambda: self.screen.refresh(Region(0, 0, size.width, size.height)))

    async def _begin(self) -> None:
        """What is asked of the steward once something is on the screen."""
        with self.deeds.waits.said(sentences.STARTING, self.steward.interrupt):
            await self.deeds.sessions.begin()
        with suppress(StewardError):
            self.prompt.recall.load(await self.steward.history())
        await self.draft.bring_back()
        await self.deeds.look()
        if self._question:
            self.turns.ask(self._question)

    async def listen(self) -> None:
        """Take in what is told outside a turn."""
        async with aclosing(self.steward.listen()) as facts:
            async for event in facts:
                self.told(event)

    def told(self, event: Event) -> None:
        """A fact from outside a turn."""
        self.deeds.note(event)
        self.feed.beside(event)

    # Work that must not end the app

    def work(self, job: Coroutine[Any, Any, None], group: str = "work") -> Worker[None]:
        """Do something beside the screen; what goes wrong becomes one sentence."""
        return self.run_worker(self._guarded(job), group=group, exit_on_error=False)

    async def _guarded(self, job: Coroutine[Any, Any, None]) -> None:
        try:
            await job
        except StewardError as error:
            self.feed.say(str(error), "error")
        except Exception as error:
            _log.exception("work beside the screen failed")
            self.feed.say(
                f"Something failed inside the steward ({type(error).__name__}); the log has it.", "error"
            )

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        worker = cast("Worker[object]", event.worker)
        if event.state is WorkerState.ERROR and worker.error is not None:
            _log.error("a worker failed", exc_info=worker.error)
            kind = type(worker.error).__name__
            self.feed.say(f"Something failed inside the screen ({kind}); the log has it.", "error")

    def _handle_exception(self, error: Exception) -> None:
        """Leave with one sentence; a traceback with the values of variables is no business of the terminal."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        _log.error("the screen failed", exc_info=error)
        self.failed = self.failed or error
        self._return_code = 1
        self._close_messages_no_wait()

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self.keyboard.arrived(event.time, text=isinstance(event, events.Paste) or event.is_printable)
            self.draft.key(event)
            self._pressed_on[event] = self.screen
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        if self._pressed_on.get(event, self.screen) is not self.screen:
            event.prevent_default()  # that screen was left before the key could be handled

    def action_command(self, name: str) -> None:
        """A command by its key."""
        self.command(name)

    def command(self, name: str, argument: str = "") -> None:
        """Do a command, however it was given."""
        self.work(self.deeds.do(name, argument), group="command")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not covered(self, action, parameters)

    def action_palette(self) -> None:
        """Find a command by its name."""
        from steward.tui import palette

        self.work(palette.choose(self), group="command")

    def action_fold(self) -> None:
        """Open or close all calls."""
        self.transcript.fold_all()

    def action_interrupt(self) -> None:
        """Stop what goes on; see ``Stopping``."""
        self.stopping.interrupt()

    def action_stop_or_leave(self) -> None:
        """Copy, stop or clear; twice within a second leaves."""
        self.stopping.stop_or_leave()

    async def action_quit(self) -> None:
        await self.leave()

    async def leave(self, code: int = 0) -> None:
        """Keep what was typed and go."""
        self.shell.stop()
        await self.deeds.exams.leave(1.0)
        await self.draft.leave(1.0, cleared=self.stopping.pressed)
        self.exit(code)

    # The side panel

    def on_resize(self, event: events.Resize) -> None:
        self._fit_panel(event.size.width)
        self.prompt.fit(event.size.height)

    def _fit_panel(self, width: int) -> None:
        panel, narrow = self.panel, width < NARROW
        if narrow != panel.has_class("-over") or not panel.fitted:
            panel.fitted = True
            panel.set_class(narrow, "-over")
            panel.display = not narrow
        panel.fit(width)

    def action_panel(self) -> None:
        """Show or hide the side panel."""
        self.panel.display = not self.panel.display

    def action_resize_panel(self, step: int) -> None:
        """Make the side panel wider or narrower."""
        self.panel.display = True
        self.panel.resize(step)

    # Messages of the views

    def on_prompt_sent(self, message: Prompt.Sent) -> None:
        self.work(self._sent(message.text))

    async def _sent(self, text: str) -> None:
        match slash.parse(text):
            case slash.Given(command, argument):
                async with self._in_order:
                    await self._remember(text.strip())
                await self.deeds.do(command.name, argument)
            case slash.Unknown() as unknown:
                self.feed.say(unknown.sentence, "warning")
                if not self.prompt.text:
                    self.prompt.replace_all(text)
            case None if text.startswith("!") and text[1:].strip():
                await self._remember(text)
                await self.shell.run(text[1:].strip())
            case None:
                async with self._in_order:
                    self.turns.ask(self.shell.with_attached(text))
                await self._remember(text)

    async def _remember(self, text: str) -> None:
        with suppress(StewardError):
            await self.steward.remember(text)
        await self.draft.keep()

    def on_text_area_changed(self) -> None:
        if self._draft_timer is None:  # it is not put off by more keys: who types on and on has it kept too
            self._draft_timer = self.set_timer(0.7, self._keep_draft)

    def _keep_draft(self) -> None:
        self._draft_timer = None
        self.work(self.draft.keep(), group="draft")

    def on_prompt_wants(self, message: Prompt.Wants) -> None:
        self.run_worker(
            partial(self.deeds.complete, message.wanted),
            group="complete",
            exclusive=True,
            exit_on_error=False,
        )

    def on_prompt_dropped(self, message: Prompt.Dropped) -> None:
        self.deeds.drop(message.wanted)

    def on_prompt_held(self) -> None:
        self.status.show(hint="pasted: enter once more runs it in your shell")
        self.set_timer(3.0, lambda: self.status.show(hint=""))

    def on_prompt_search_history(self) -> None:
        self.work(self.deeds.search_history(), group="command")

    def on_completion_list_chosen(self) -> None:
        self.prompt.take_chosen()

    def on_prompt_scroll(self, message: Prompt.Scroll) -> None:
        getattr(self.transcript, f"action_{message.action}")()

    def on_prompt_to_transcript(self) -> None:
        self.transcript.focus()

    def on_transcript_leave(self) -> None:
        self.prompt.focus()

    def on_transcript_walked(self) -> None:
        keys = CALLS if self.transcript.has_focus else [key for key in MAIN if key.short]
        self.main.query_one(KeyBar).show(tuple(entry(self, key.name) for key in keys))

    def on_transcript_below(self, message: Transcript.Below) -> None:
        self.main.query_one(PromptBox).show_below(message.lines)

    def on_transcript_review(self, message: Transcript.Review) -> None:
        self.review(message.change)

    def on_side_panel_review(self, message: SidePanel.Review) -> None:
        self.review(message.change)

    def on_side_panel_filter(self) -> None:
        self.command("filter")

    def on_review_screen_decided(self, message: ReviewScreen.Decided) -> None:
        self.feed.say(message.sentence, message.kind)
        self.deeds.look_soon()

    def on_rework_ask(self, message: Rework.Ask) -> None:
        self.turns.ask(message.text)

    def review(self, change: str | None, then: str = "") -> None:
        """Show a change, the newest pending one when none is named."""
        from steward.tui.review.screen import ReviewScreen

        if isinstance(self.screen, ReviewScreen):
            self.screen.dismiss()
        self.push_screen(ReviewScreen(self.steward, self.keyboard, change, then, self.readings))
