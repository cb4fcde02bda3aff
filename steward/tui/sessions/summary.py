"""A summary to read and edit: here, or in the person's own editor; accepted or left with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from steward.tui.keys import SUMMARY, bindings, entry
from steward.tui.lines import plain
from steward.tui.prompt.prompt import shown
from steward.tui.review import editor
from steward.tui.screens.above import Above
from steward.tui.status import KeyBar

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import App

    from steward.confine.outside import Outside


class Words(TextArea):
    """Text in which hidden characters show, whatever way they come."""

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if result := self._replace_via_keyboard(shown(event.text), *self.selection):
            self.move_cursor(result.end_location)


class SummaryScreen(ModalScreen[str | None], Above[str | None]):
    """Gives the text as it was accepted, or ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SUMMARY)

    DEFAULT_CSS = """
    SummaryScreen { background: $background; }
    SummaryScreen > #summary-title {
        height: 1; width: 1fr; background: $panel; color: $foreground; padding: 0 1; text-style: bold;
    }
    SummaryScreen > #summary-said { height: auto; max-height: 3; width: 1fr; color: $foreground 60%; padding: 0 1; }
    SummaryScreen > Words, SummaryScreen > Words:focus {
        height: 1fr; border: none; padding: 1 2; background: $background; scrollbar-size-vertical: 1;
    }
    SummaryScreen Words .text-area--cursor-line { background: $background; }
    """

    def __init__(self, title: str, text: str, outside: Outside, place: Path | None) -> None:
        """An editor is started through ``outside``, on a copy below ``place``."""
        super().__init__()
        self._outside = outside
        self._place = place
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="summary-title")
        yield Words(shown(self._text), soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        yield Static(
            Content(
                "What you wrote yourself, pending changes and open questions go on beside it; instructions are "
                "given again by themselves."
            ),
            id="summary-said",
        )
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        yield KeyBar(tuple(entry(app, key.name) for key in SUMMARY))

    def on_mount(self) -> None:
        words = self.query_one(Words)
        words.cursor_blink = False
        words.focus()

    def _say(self, sentence: str) -> None:
        self.query_one("#summary-said", Static).update(Content(plain(sentence)))

    def action_accept(self) -> None:
        """Go on from what stands here."""
        text = self.query_one(Words).text
        if text.strip():
            self.dismiss(text)
        else:
            self._say("An empty summary cannot be accepted; esc leaves the conversation as it is.")

    def action_leave(self) -> None:
        """Leave all as it is."""
        self.dismiss(None)

    def action_edit(self) -> None:
        """Open what stands here in the person's editor."""
        argv = editor.command()
        if argv is None:
            self._say("Set VISUAL or EDITOR to the editor that is to be opened.")
            return
        words = self.query_one(Words)
        try:
            with self.app.suspend():  # pyright: ignore[reportUnknownMemberType]
                edited = editor.edit(
                    argv, "summary.md", words.text.encode(), outside=self._outside, place=self._place
                )
        except SuspendNotSupported:
            self._say("The screen cannot be left for an editor here.")
            return
        if edited.data is None:
            self._say(edited.sentence)
        else:
            words.load_text(shown(edited.data.decode("utf-8", "replace")))
