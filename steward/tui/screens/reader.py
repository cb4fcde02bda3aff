"""A page to read: the manual, the workspace, the instructions, the skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from steward.tui.keys import PAGE, READING, bindings, foot
from steward.tui.lines import Line
from steward.tui.looks import Looks
from steward.tui.screens.above import Above
from steward.tui.screens.lineview import LineView, Maker

if TYPE_CHECKING:
    from textual.app import App


class Reader(ModalScreen[None], Above[None]):
    """A title and lines; ``esc`` goes back."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(PAGE[1:])

    DEFAULT_CSS = """
    Reader { align: center middle; background: $background 60%; }
    Reader > #page-title {
        dock: top; height: 1; width: 1fr; background: $panel; color: $foreground; padding: 0 1; text-style: bold;
    }
    Reader > #page-foot {
        dock: bottom; height: 1; width: 1fr; background: $background; color: $foreground 60%; padding: 0 1;
    }
    """

    def __init__(self, title: str, make: Maker) -> None:
        """``title`` must have gone through ``visible``."""
        super().__init__()
        self._title = title
        self._make = make

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="page-title")
        yield LineView(self._make, id="page")
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        yield Static(Content(foot(app, "leave-page", READING)), id="page-foot")

    def on_mount(self) -> None:
        self.query_one(LineView).focus()


def markdown_page(text: str) -> Maker:
    """Markdown with a margin."""

    def make(width: int, looks: Looks) -> list[Line]:
        from steward.tui.markdown import render

        margin = Segment("  ", looks.base)
        room = min(max(width - 4, 10), 100)
        return [[], *([margin, *line] for line in render(text, room, looks)), []]

    return make
