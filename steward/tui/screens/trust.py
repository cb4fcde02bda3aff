"""What of a repository would steer the model: each text to be read, and one deliberate key that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from steward.service.trust import FORCED
from steward.tui import sentences
from steward.tui.keys import LIST, TRUST, bindings, foot
from steward.tui.lines import Line, expand, plain, safe, wrap
from steward.tui.looks import Looks
from steward.tui.screens.above import Above
from steward.tui.screens.picker import Item, Rows
from steward.tui.screens.reader import Reader

if TYPE_CHECKING:
    from textual.app import App

    from steward.service.trust import TrustItem, TrustView
    from steward.tui.keyboard import Keyboard
    from steward.tui.screens.lineview import Maker

KINDS = {
    "instructions": "instructions",
    "skill": "skill",
    "configuration": "configuration",
    "url": "URL of yours",
}


class TrustScreen(ModalScreen[str | None], Above[str | None]):
    """Gives ``all``, ``decline``, ``nothing``, or the ``kind:path`` of the one text to trust; ``None`` for nothing."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*LIST, *TRUST))

    DEFAULT_CSS = """
    TrustScreen { background: $background; }
    TrustScreen > #trust-title {
        height: 1; width: 1fr; background: $panel; color: $foreground; padding: 0 1; text-style: bold;
    }
    TrustScreen > #trust-about { height: auto; max-height: 8; width: 1fr; padding: 1; color: $foreground 80%; }
    TrustScreen > #trust-told { height: auto; max-height: 3; width: 1fr; padding: 0 1; color: $warning; }
    TrustScreen > #trust-foot { height: auto; width: 1fr; color: $foreground 60%; padding: 0 1; }
    """

    def __init__(self, view: TrustView, keyboard: Keyboard) -> None:
        super().__init__()
        self._view = view
        self._keyboard = keyboard
        self.drawn: float | None = None
        """When the list had been on the screen."""

    def compose(self) -> ComposeResult:
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        yield Static(Content("What steers the model here"), id="trust-title")
        yield Static(Content(plain_lines(about(self._view))), id="trust-about")
        yield Rows([_row(item) for item in self._view.items])
        yield Static(Content(""), id="trust-told")
        keys = foot(app, "trust-all", "trust-one", "trust-decline", "trust-nothing", "leave-list", LIST[2:4])
        yield Static(Content(f"enter reads · {keys}"), id="trust-foot")

    def on_mount(self) -> None:
        first = next((n for n, item in enumerate(self._view.items) if item in self._view.pending), 0)
        self.query_one(Rows).move(first)
        self.call_after_refresh(self._shown)

    def _shown(self) -> None:
        self.drawn = self._keyboard.now()

    def _say(self, sentence: str) -> None:
        self.query_one("#trust-told", Static).update(Content(plain(sentence)))

    @property
    def _chosen(self) -> TrustItem | None:
        rows = self.query_one(Rows)
        return self._view.items[rows.index] if rows.items else None

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self.query_one(Rows).move(step)

    def action_pick(self) -> None:
        """Read the text the cursor is on."""
        item = self._chosen
        if item is not None:
            self.app.push_screen(Reader(plain(item.path), text_page(item)))  # pyright: ignore[reportUnknownMemberType]

    def on_rows_picked(self) -> None:
        self.action_pick()

    def action_decide(self, what: str) -> None:
        """Decide, when that key came from a hand that has seen the list."""
        item = self._chosen
        if self._view.forced:
            self._say(FORCED)
        elif what in ("all", "one", "decline") and not self._view.pending:
            self._say("There is nothing to decide: all that is here is trusted.")
        elif what == "one" and (item is None or item.state not in ("new", "changed")):
            self._say("That one needs no word of yours.")
        elif what == "nothing" and not self._view.trusted:
            self._say("Nothing of this repository is trusted.")
        elif not self._keyboard.deliberate(self.drawn):
            self._say("That key came too soon after another; once more decides.")
        elif what == "one" and item is not None:
            self.dismiss(f"{item.kind}:{item.path}")
        else:
            self.dismiss(what)


def about(view: TrustView) -> str:
    """How things stand, in a few lines."""
    standing = "trusted" if view.trusted else "not trusted: none of these texts reaches the model"
    lines = [f"{view.root} is {standing}."]
    if not view.items:
        lines.append("It holds no instructions, skills or configuration.")
    elif view.forced:
        lines.append(FORCED)
    elif view.trusted and view.pending:
        waiting = sentences.count(len(view.pending), "text")
        lines.append(f"{waiting} changed or came since; each is used only once you have trusted it.")
    lines += [f"{path} was trusted and is not loaded any more." for _, path in view.gone[:3]]
    if view.incomplete:
        lines.append("There are more documents than were looked for; each is asked about when it is met.")
    return "\n".join(lines)


def plain_lines(text: str) -> str:
    """Several lines made safe one by one."""
    return "\n".join(map(plain, text.split("\n")))


def text_page(item: TrustItem) -> Maker:
    """One text: what may be overlooked in it, how it differs from what was accepted, and all of it."""

    def make(width: int, looks: Looks) -> list[Line]:
        lines: list[Line] = [[]]
        margin = [Segment("  ", looks.base)]

        def put(text: str, style: Style, opening: str = "  ") -> None:
            first = [Segment(opening, style)]
            for row in safe(text).split("\n"):
                lines.extend(wrap([Segment(expand(row), style)], width - 2, first, margin))

        put(
            f"{KINDS[item.kind]} · {item.state} · {sentences.bytes_of(item.bytes)} · {item.sha256[:12]}",
            looks.muted,
        )
        for warning in item.warnings:
            put(f"It {warning}.", looks.warning, "▲ ")
        if item.difference:
            lines.append([])
            put("What differs from the text that you trusted", looks.heading)
            for row in item.difference.split("\n"):
                put(row, {"+": looks.ok, "-": looks.error}.get(row[:1], looks.base))
            lines.append([])
            put("The whole text", looks.heading)
        lines.append([])
        put(item.text, looks.base)
        return lines

    return make


def _row(item: TrustItem) -> Item:
    size = "" if item.kind == "url" else f" · {sentences.bytes_of(item.bytes)}"
    badge = item.state if item.state in ("new", "changed") else ""
    warnings = "▲ it " + "; it ".join(item.warnings) if item.warnings else ""
    return Item(f"{item.kind}:{item.path}", item.path, f"{KINDS[item.kind]}{size}", badge, warnings)
