"""The frame round the prompt; it says when there is more of the conversation below, or more typed than is in sight."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from steward.tui import sentences
from steward.tui.prompt.prompt import Prompt


class PromptBox(Horizontal):
    """Mark and prompt within a border."""

    DEFAULT_CSS = """
    PromptBox {
        height: auto; border: round $border-blurred; background: $background;
        margin: 0 1; padding: 0 1 0 0;
        border-subtitle-color: $accent; border-subtitle-background: $background;
        border-title-color: $foreground 60%; border-title-background: $background;
    }
    PromptBox:focus-within { border: round $border; }
    PromptBox > #mark {
        width: 3; height: 1; color: $accent; text-style: bold; padding: 0 0 0 1; background: $background;
        visibility: hidden;
    }
    PromptBox:focus-within > #mark { visibility: visible; }
    """

    def __init__(self, prompt: Prompt) -> None:
        super().__init__()
        self._prompt = prompt

    def compose(self) -> ComposeResult:
        yield Static(Content("❯"), id="mark")
        yield self._prompt

    def on_text_area_changed(self) -> None:
        lines = self._prompt.document.line_count
        most = self._prompt.styles.max_height
        self.border_title = f"{lines:,} lines" if most is not None and lines > most.value else ""

    def show_below(self, lines: int) -> None:
        """Say how much is below the view; nothing at the end."""
        self.border_subtitle = f"↓ {sentences.count(lines, 'line')} below · ctrl+end" if lines else ""
