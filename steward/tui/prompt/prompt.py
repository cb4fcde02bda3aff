"""The text a person types: Enter sends, a paste never does, hidden characters show."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea

from steward.tui.keys import PROMPT, bindings, keys_of
from steward.tui.prompt.completion import Choice, CompletionList, Wanted, commands, wanted
from steward.tui.prompt.recall import Recall
from steward.visible import visible

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer


MOST_LINES = 12
"""Lines of the prompt, however tall the screen is."""

HINTS = (
    "Ask, or say what to change · / commands · @ files · ! shell",
    "Ask · / commands · @ files",
)
"""What stands in the prompt while it is empty, the shorter one for where the longer has no room."""


HOLD = 0.15
"""Seconds a key waits for what is being looked up for the text it was pressed on."""


def shown(text: str) -> str:
    """Pasted or stored text as it may stand in the prompt: line ends are LF, hidden characters are marks."""
    return visible(re.sub(r"\r\n?", "\n", text), keep="\n\t")


class Prompt(TextArea):
    """Several lines. It tells what was sent, and what it wants completed; it knows nothing of the steward."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROMPT)

    DEFAULT_CSS = """
    Prompt, Prompt:focus {
        height: auto; min-height: 1; border: none; padding: 0; background: $background;
        scrollbar-size-vertical: 1; overflow-x: hidden;
    }
    Prompt .text-area--cursor-line { background: $background; }
    Prompt .text-area--placeholder { color: $foreground 40%; }
    """

    class Sent(Message):
        """The person sent this."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Wants(Message):
        """Something can be completed that must be looked up."""

        def __init__(self, wanted: Wanted) -> None:
            self.wanted = wanted
            super().__init__()

    class Dropped(Message):
        """The person does not want it completed."""

        def __init__(self, wanted: Wanted) -> None:
            self.wanted = wanted
            super().__init__()

    class Scroll(Message):
        """The transcript is to move."""

        def __init__(self, action: str) -> None:
            self.action = action
            super().__init__()

    class Held(Message):
        """A shell command was not sent, because it may not have been typed."""

    class SearchHistory(Message):
        """The person looks for an earlier question."""

    class ToTranscript(Message):
        """The person wants to walk through the transcript."""

    def __init__(self, completion: CompletionList, *, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder=HINTS[0],
        )
        self.cursor_blink = False
        self.recall = Recall()
        self.steady: Callable[[], bool] = lambda: True
        """Whether the last key came as from a hand."""
        self._pasted = False
        self._completion = completion
        self._wanted: Wanted | None = None
        self._offered_for: Wanted | None = None
        """What the list answers; the text may have gone on since."""
        self._held: Literal["send", "complete"] | None = None
        """A key that waits for the list to answer the text it was pressed on."""
        self._patience: Timer | None = None
        self._quiet = False

    def fit(self, lines: int) -> None:
        """The screen has this many lines: take at most two fifths of it with the frame, so that the cursor shows."""
        self.styles.max_height = max(min(MOST_LINES, lines * 2 // 5 - 2), 2)

    def on_resize(self) -> None:
        self.placeholder = HINTS[self.size.width <= len(HINTS[0])]

    # Text

    def replace_all(self, text: str, *, at_end: bool = True) -> None:
        """Put another text in; what was there can be had back with undo."""
        self._quiet = True
        self.replace(shown(text), self.document.start, self.document.end)
        self.move_cursor(self.document.end if at_end else (0, len(self.document[0])))
        self._dismiss()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._let_go()
        self._pasted = True
        if result := self._replace_via_keyboard(shown(event.text), *self.selection):
            self.move_cursor(result.end_location)

    async def _on_key(self, event: events.Key) -> None:
        if self._handle(event):
            event.stop()
            event.prevent_default()
        elif event.is_printable and event.character is not None and shown(event.character) != event.character:
            event.stop()
            event.prevent_default()
            self._replace_via_keyboard(shown(event.character), *self.selection)

    def _handle(self, event: events.Key) -> bool:
        key = event.key
        if self._held is not None and key == "escape":
            self._held = None
        self._let_go()
        if self._is(key, "newline"):
            self._replace_via_keyboard("\n", *self.selection)
            return True
        if self._is(key, "send"):
            self._hold_or_do("send")
            return True
        if self._is(key, "complete") and self._wanted is not None and self._awaited:
            self._hold_or_do("complete")
            return True
        if self._completion.chosen is not None:
            match key:
                case _ if self._is(key, "complete"):
                    self._do("complete")
                    return True
                case "up":
                    self._completion.move(-1)
                    return True
                case "down":
                    self._completion.move(1)
                    return True
                case "escape":
                    if self._wanted is not None:
                        self.post_message(self.Dropped(self._wanted))
                    self._dismiss()
                    return True
                case _:
                    return False
        match key:
            case "up" if self._row() == 0:
                return self._recall(self.recall.older(self.text), at_end=False)
            case "down" if self._row() == self.wrapped_document.height - 1:
                return self._recall(self.recall.newer())
            case _ if self._is(key, "complete"):
                self.post_message(self.ToTranscript())
                return True
            case _:
                return False

    def _is(self, key: str, name: str) -> bool:
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        return key in keys_of(app, name)

    @property
    def _awaited(self) -> bool:
        """Whether what fits the text is being looked up, so that the list, if there is one, is for an earlier text."""
        return self._wanted != self._offered_for

    def _hold_or_do(self, key: Literal["send", "complete"]) -> None:
        """Do what the key does, once the list answers the text that the person sees; see ``HOLD``."""
        if self._awaited and not self.text.startswith("!"):
            self._held = key
            if self._patience is not None:
                self._patience.stop()
            self._patience = self.set_timer(HOLD, self._let_go)
        else:
            self._do(key)

    def _let_go(self) -> None:
        """Wait no longer: what was to be sent is sent as it was typed."""
        held, self._held = self._held, None
        if held == "send":
            self._send()

    def _do(self, key: Literal["send", "complete"]) -> None:
        offered = None if self._awaited else self._completion.chosen
        if key == "complete":
            if offered is not None:
                self._take(offered)
        elif offered is not None and offered.value and self._wanted and not self._exact(offered):
            self._take(offered, run=offered.runs)
        else:
            self._send()

    def _row(self) -> int:
        return self.wrapped_document.location_to_offset(self.cursor_location).y

    def _recall(self, entry: str | None, at_end: bool = True) -> bool:
        if entry is None:
            return False
        self.replace_all(entry, at_end=at_end)
        return True

    def _send(self) -> None:
        text = self.text.strip("\n")
        if not text.strip():
            return
        if text.startswith("!") and (self._pasted or not self.steady()):
            self._pasted = False
            self.post_message(self.Held())
            return
        self._pasted = False
        self._quiet = True
        self.clear()
        self.history.clear()
        self._dismiss()
        self.recall.remember(text)
        self.post_message(self.Sent(text))

    def action_search_history(self) -> None:
        """Look for an earlier question."""
        self.post_message(self.SearchHistory())

    def action_transcript(self, action: str) -> None:
        """Move the transcript without leaving the prompt."""
        self.post_message(self.Scroll(action))

    # Completion

    def on_text_area_changed(self) -> None:
        if self._quiet:
            self._quiet = False
            return
        self.recall.rest()
        self._look()

    def on_text_area_selection_changed(self) -> None:
        if self._wanted is not None and self._wanted != self._wanted_here():
            self._look()

    def _wanted_here(self) -> Wanted | None:
        row, column = self.cursor_location
        return wanted(self.document[row][:column], row == 0)

    def _look(self) -> None:
        self._wanted = self._wanted_here()
        if self._wanted is None:
            self._show([])
        elif self._wanted.kind == "command":
            self._show(commands(self._wanted.typed))
        else:
            self.post_message(self.Wants(self._wanted))

    def offer(self, answered: Wanted, choices: list[Choice]) -> None:
        """Show what was looked up, unless something else was typed meanwhile."""
        if answered == self._wanted:
            self._show(choices)
            if held := self._held:
                self._held = None
                self._do(held)

    def _show(self, choices: list[Choice]) -> None:
        self._offered_for = self._wanted
        frame = self.parent
        self._completion.offer(choices, frame.outer_size.height if isinstance(frame, Widget) else 3)

    def take_chosen(self) -> None:
        """Take the row that was clicked."""
        if (choice := self._completion.chosen) is not None and not self._awaited:
            self._take(choice)
            self.focus()

    def _exact(self, choice: Choice) -> bool:
        return self._wanted is not None and choice.value in (self.text.strip(), self._wanted.typed)

    def _take(self, choice: Choice, run: bool = False) -> None:
        asked = self._wanted
        if asked is None or not choice.value:
            return
        row, column = self.cursor_location
        value = shown(choice.value)
        if asked.at and not value.endswith("/"):
            value = f"`{value}`" if " " in value else value
        elif asked.at:
            value = "@" + value
        more = value.endswith("/")
        self._quiet = True
        self.replace(value + ("" if more or run else " "), (row, asked.start), (row, column))
        self._dismiss()
        if run:
            self._send()
        elif more:
            self._look()

    def _dismiss(self) -> None:
        self._wanted = self._offered_for = self._held = None
        self._completion.offer(())
