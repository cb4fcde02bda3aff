"""The stored sessions to pick from: searched as one types, one of them deleted by a key that asks once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, Static

from steward.errors import StewardError
from steward.tui.keys import LIST, SESSIONS, bindings, entry
from steward.tui.lines import plain
from steward.tui.screens.picker import Picker, Rows, Words
from steward.tui.sessions.pages import session_items
from steward.visible import visible

if TYPE_CHECKING:
    from textual.app import App

    from steward.service import Steward
    from steward.service.views import SessionView
    from steward.tui.keyboard import Keyboard

FOOT = "enter resumes · {delete} deletes · esc back · ↑ ↓ move"


class SessionList(Picker):
    """Gives the id of the session that was picked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SESSIONS)

    DEFAULT_CSS = "SessionList > #pick-foot.-asks { color: $warning; text-style: bold; }"

    def __init__(
        self,
        steward: Steward,
        keyboard: Keyboard,
        sessions: Sequence[SessionView],
        words: str = "",
        *,
        delete: str = "",
    ) -> None:
        """``words`` are what is searched for at first; with ``delete`` it asks at once whether to delete that one."""
        super().__init__("Sessions", ())
        self._steward = steward
        self._keyboard = keyboard
        self._sessions = tuple(sessions)
        self._words = words
        self._asked: SessionView | None = None
        self._drawn: float | None = None
        """When the question whether to delete it had been on the screen."""
        self._to_delete = delete
        self._found_for = words
        """What the sessions that are shown were searched for; the line may have gone on since."""
        self._pressed_for = words
        """What stood in the line when the keys were pressed that wait for what is found for it."""
        self._steps = 0
        self._picks = False

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="pick-title")
        yield Words(
            (*LIST, *SESSIONS), self._words, placeholder="type to search titles, questions and answers"
        )
        yield Rows(session_items(self._sessions, self._steward.session_id))
        yield Static(id="pick-foot")

    def on_mount(self) -> None:
        super().on_mount()
        self._say()
        if self._to_delete:
            self._ask(self._to_delete)

    def _say(self, sentence: str = "") -> None:
        """Say it, or else which keys there are."""
        delete = entry(cast("App[Any]", self.app), "delete-stored")[0]  # pyright: ignore[reportUnknownMemberType]
        foot = FOOT.format(delete=delete) if self._sessions else "No session was found · esc back"
        said = self.query_one("#pick-foot", Static)
        said.set_class(self._asked is not None, "-asks")
        said.update(Content(plain(sentence) or foot))

    # Searching

    def on_input_changed(self, event: Input.Changed) -> None:
        event.prevent_default()  # what was found stays until something else is
        if (clean := visible(event.value, keep="")) != event.value:
            event.input.value = clean
            return
        if event.value == self._found_for:
            self.workers.cancel_group(self, "search")  # pyright: ignore[reportUnknownMemberType]
            return
        self.run_worker(
            partial(self._search, event.value), group="search", exclusive=True, exit_on_error=False
        )

    async def _search(self, words: str, at: int = 0) -> None:
        try:
            found = await self._steward.sessions(words)
        except StewardError as error:
            self._picks = False
            if self._asked is None:
                self._say(str(error))
            return
        if self.gone:
            return
        self._sessions, self._found_for = found, words
        rows = self.query_one(Rows)
        rows.show(session_items(found, self._steward.session_id))
        waited = self._pressed_for == words == self.query_one(Input).value
        rows.move(at + self._steps if waited else at)
        picks, self._steps, self._picks = waited and self._picks, 0, False
        if self._asked is None:
            self._say()
        if picks:
            self.take()

    def _awaited(self) -> bool:
        """Whether what fits the line is not there yet; keys that waited for an earlier line are forgotten."""
        typed = self.query_one(Input).value
        if typed != self._pressed_for:
            self._pressed_for, self._steps, self._picks = typed, 0, False
        return typed != self._found_for

    def action_move(self, step: int) -> None:
        """Move the cursor, among what fits the line."""
        if self._awaited():
            self._steps += step
        else:
            self.query_one(Rows).move(step)

    def action_pick(self) -> None:
        """Take the row that fits the line, once it is there."""
        awaited = self._awaited()
        if not self.meant():
            return
        if awaited:
            self._picks = True
            self._say("Searching; the first that is found is gone on with.")
        else:
            self.take()

    # Deleting

    def action_delete(self) -> None:
        """Ask whether to delete the session the cursor is on."""
        if (chosen := self.query_one(Rows).chosen) is not None:
            self._ask(chosen.value)

    def _ask(self, session: str) -> None:
        found = [view for view in self._sessions if view.id.startswith(session) or session in view.id]
        if len(found) != 1:
            self._say(f"There is no one session {session}.")
            return
        self._asked, self._picks = found[0], False
        messages = f"{found[0].messages} message" + ("" if found[0].messages == 1 else "s")
        self._say(f"Delete “{found[0].title}” with its {messages}? y deletes it, any other key keeps it.")
        self.query_one(Input).can_focus = False
        self.set_focus(None)
        self._drawn = None
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self._drawn = self._keyboard.now()

    async def on_key(self, event: events.Key) -> None:
        if self._asked is None:
            return
        event.stop()
        event.prevent_default()
        if event.key == "y" and not self._keyboard.deliberate(self._drawn):
            self._say("That key came too soon after another; y once more deletes it, any other key keeps it.")
            return
        asked, self._asked = self._asked, None
        self.query_one(Input).can_focus = True
        self.query_one(Input).focus()
        if event.key != "y":
            self._say()
            return
        try:
            await self._steward.delete(asked.id)
        except StewardError as error:
            self._say(str(error))
            return
        rows = self.query_one(Rows)
        await self._search(self.query_one(Input).value, rows.index)
        self._say(f"“{asked.title}” is deleted; its changes stay.")
