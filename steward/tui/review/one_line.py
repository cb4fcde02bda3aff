"""A line to type in; a paste of several lines becomes one, whole."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from steward.visible import visible


class OneLine(Input):
    """Shows hidden characters as marks; the line ends of a paste become spaces."""

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(visible(" ".join(event.text.split()), keep=""))
