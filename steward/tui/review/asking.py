"""The line at the bottom of the review in which a reason, a comment or a search is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.app import App
from textual.widgets import Input

from steward.tui.keyboard import QUIET
from steward.tui.keys import keys_of
from steward.tui.lines import plain
from steward.tui.review.bars import Place
from steward.tui.review.diff_view import DiffView
from steward.tui.review.one_line import OneLine
from steward.tui.screens.above import Above
from steward.tui.status import KeyBar
from steward.visible import visible

if TYPE_CHECKING:
    from steward.tui.keyboard import Keyboard

OPENERS = {"search": "search", "comment": "comment", "discard-change": "decide('discard-change')"}
"""Names of the keys that open the line, and their actions."""

AT_ONCE = 0.6
"""Seconds after the line was opened, before which nobody has begun to write a reason."""


class Asking(Above[None]):
    """The part of the review that opens the line, and lets nothing go astray that is typed in a hurry."""

    _keyboard: Keyboard
    _input_for = ""
    """What is being typed; empty while the line is closed."""

    def __init__(self) -> None:
        super().__init__()
        self._opening = False
        self._ahead: list[events.Key] = []
        """Keys that came while the line was being opened."""
        self._opened = float("-inf")
        self._refused: str | None = None
        """The reason whose enter did not count."""

    def _open_input(self, purpose: str, hint: str, enter: str, escape: str, value: str = "") -> None:
        """Open it for a purpose; ``enter`` and ``escape`` say in few words what these two keys do meanwhile."""
        line = self.query_one(OneLine)
        self._input_for = purpose
        self.query_one(KeyBar).show((("enter", enter, "enter"), ("esc", escape, "escape")))
        line.placeholder = plain(hint)
        line.value = visible(value, keep="")
        line.cursor_position = len(line.value)
        line.display = True
        line.focus()
        self._refused, self._opened = None, self._keyboard.now()
        self._keyboard.expect()

    def _close_input(self) -> None:
        self._input_for = ""
        self.query_one(KeyBar).show(self._keys())
        self.query_one(OneLine).display = False
        self.query_one(DiffView).focus()

    def _keys(self) -> tuple[tuple[str, str, str], ...]:
        """The keys of the screen for its bar."""
        raise NotImplementedError

    def typed(self, purpose: str, text: str) -> None:
        """The line was sent."""
        raise NotImplementedError

    def on_input_changed(self, event: Input.Changed) -> None:
        if (clean := visible(event.value, keep="")) != event.value:
            event.input.value = clean

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self._input_for:
            self._sent(event.value)

    def _sent(self, value: str) -> None:
        purpose = self._input_for
        if purpose == "discard" and self._hasty(value):
            self._refused = value
            self.query_one(Place).say(
                "That was typed on right after d; enter once more discards, esc keeps it."
            )
            return
        self._close_input()
        self.typed(purpose, value.strip())

    def _hasty(self, value: str) -> bool:
        """Whether a reason may be a sentence for another window, whose ``d`` has opened the line.

        Its next letter came at once, so its end is not enough: it takes another enter, by itself.
        """
        at_once = self._keyboard.first - self._opened < AT_ONCE
        return at_once and not (value == self._refused and self._keyboard.pause >= QUIET)

    def hurried(self, event: events.Key) -> bool:
        """Whether a key is seen to: it opens the line, or was pressed for a line that has no focus yet.

        Keys go to what has the focus when they arrive, so those that come in one burst with the key that opens the
        line come here. The line is opened once the keys before that one have done what they do.
        """
        if self._input_for:
            return self._into_line(event)
        if self._opening:
            self._ahead.append(event)
            return True
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        for name, action in OPENERS.items():
            if event.key in keys_of(app, name):
                self._opening = True
                app.call_later(self._open_now, action)
                return True
        return False

    async def _open_now(self, action: str) -> None:
        await self.run_action(action)
        self._opening = False
        ahead, self._ahead = self._ahead, []
        for event in ahead:
            if self._input_for:
                self._into_line(event)
            else:
                self.app.post_message(events.Key(event.key, event.character))  # pyright: ignore[reportUnknownMemberType]

    def _into_line(self, event: events.Key) -> bool:
        line = self.query_one(OneLine)
        if event.key == "enter":
            self._sent(line.value)
        elif event.is_printable and event.character:
            line.insert_text_at_cursor(visible(event.character, keep=""))
        else:
            return False
        return True
