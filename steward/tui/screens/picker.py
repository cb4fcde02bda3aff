"""A list to pick from, narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from steward.tui.keys import LIST, Key, bindings, foot, keys_of
from steward.tui.lines import Line, pad, plain, shorten, width_of
from steward.tui.looks import looks_for
from steward.tui.screens.above import Above
from steward.visible import visible

if TYPE_CHECKING:
    from textual.app import App

    from steward.tui.app import StewardApp
    from steward.tui.keyboard import Keyboard

HASTY = "This list came while you were typing; enter once more takes the row"


@dataclass(frozen=True, slots=True)
class Item:
    """One row: its value, what is shown, a note at the right, and a badge."""

    value: str
    label: str
    note: str = ""
    badge: str = ""
    detail: str = ""
    wide: bool = False
    """Whether the note has all the room that the label leaves."""


class Rows(ScrollView, can_focus=False):
    """The rows and which of them is chosen."""

    DEFAULT_CSS = """
    Rows {
        height: 1fr; background: $background; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-color: $border; scrollbar-background: $background;
    }
    """

    class Picked(Message):
        """A row was clicked."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__()
        self.items = list(items)
        self.index = 0

    def show(self, items: Sequence[Item]) -> None:
        """Other rows."""
        self.items = list(items)
        self.index = 0
        self.virtual_size = Size(self.size.width, len(self.items) * self._each)
        self.scroll_to(y=0, animate=False)
        self.refresh()

    @property
    def _each(self) -> int:
        return 2 if any(item.detail for item in self.items) else 1

    @property
    def chosen(self) -> Item | None:
        """The row the cursor is on."""
        return self.items[self.index] if self.items else None

    def move(self, step: int) -> None:
        """Move the cursor and keep it in view."""
        if not self.items:
            return
        self.index = min(max(self.index + step, 0), len(self.items) - 1)
        top, each = self.scroll_offset.y, self._each
        if self.index * each < top:
            self.scroll_to(y=self.index * each, animate=False)
        elif (self.index + 1) * each > top + self.size.height:
            self.scroll_to(y=(self.index + 1) * each - self.size.height, animate=False)
        self.refresh()

    def on_mount(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.items) * self._each)

    def on_click(self, event: events.Click) -> None:
        row = (event.y + self.scroll_offset.y) // self._each
        if 0 <= row < len(self.items):
            self.index = row
            self.post_message(self.Picked())

    def render_line(self, y: int) -> Strip:
        looks = looks_for(self)
        width = self.size.width
        row, part = divmod(y + self.scroll_offset.y, self._each)
        if row >= len(self.items):
            return Strip.blank(width, looks.base)
        item, here = self.items[row], row == self.index
        style = looks.cursor if here else looks.base
        if part == 1:
            detail = shorten(plain(item.detail), max(width - 6, 4))
            return Strip(pad([Segment("     " + detail, style if here else looks.muted)], width, style))
        room = width - cell_len(plain(item.label)) - 8 if item.wide else width // 2
        note = _fitting(plain(item.note), max(room, 8))
        badge = f" {plain(item.badge)} " if item.badge else ""
        left: Line = [
            Segment(" ❯ " if here else "   ", style + looks.bold if here else style),
            Segment(
                shorten(plain(item.label), max(width - len(note) - len(badge) - 7, 8)), style + looks.bold
            ),
        ]
        if badge:
            left.extend([Segment(" ", style), Segment(badge, looks.chip_warning)])
        gap = max(width - width_of(left) - width_of([Segment(note)]) - 2, 1)
        line = [*left, Segment(" " * gap, style), Segment(note, style if here else looks.muted)]
        return Strip(pad(line, width, style)).crop(0, width)


def _fitting(note: str, width: int) -> str:
    """The note cut to the width, without a last part of which next to nothing would be left."""
    shown = shorten(note, width)
    whole, _, part = shown.rpartition(" · ")
    return whole if shown != note and whole and cell_len(part) < 8 else shown


class Words(Input):
    """What is typed to narrow the rows. It hands the list its keys, each after what was typed before it."""

    def __init__(self, keys: Sequence[Key], value: str = "", *, placeholder: str = "") -> None:
        super().__init__(value, placeholder=placeholder)
        self._keys = keys

    async def on_key(self, event: events.Key) -> None:
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        for key in self._keys:
            if event.key in keys_of(app, key.name) and not event.is_printable:
                event.stop()
                event.prevent_default()
                await app.run_action(key.action, self.screen)


class Picker(ModalScreen[str | None], Above[str | None]):
    """Gives the value of the row that was picked, or what was typed when ``free`` and no row fits."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(LIST)

    DEFAULT_CSS = """
    Picker { background: $background; }
    Picker > #pick-title {
        height: 1; width: 1fr; background: $panel; color: $foreground; padding: 0 1; text-style: bold;
    }
    Picker > #pick-foot { height: 1; width: 1fr; color: $foreground 60%; padding: 0 1; }
    Picker > Input, Picker > Input:focus { height: 1; border: none; background: $surface; padding: 0 1; }
    """

    def __init__(
        self, title: str, items: Sequence[Item], *, free: bool = False, empty: str = "Nothing here."
    ) -> None:
        super().__init__()
        self._title = title
        self._items = tuple(items)
        self._free = free
        self._empty = empty
        self._unexpected = False
        """Whether it came while somebody typed, so that enter may be the end of what they typed for the prompt."""
        self._drawn: float | None = None
        """When it had been on the screen."""
        self._narrowed = ""
        """What the rows that are shown fit."""

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="pick-title")
        yield Words(LIST, placeholder="type to narrow" + (", or a name of your own" if self._free else ""))
        yield Rows(self._items)
        yield Static(Content(self._foot(self._items)), id="pick-foot")

    def _foot(self, shown: Sequence[Item]) -> str:
        """The keys that do something, and why no row is shown when none is."""
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        if shown or (self._free and not self._items):
            return foot(app, "pick", "leave-list", LIST[2:4])
        why = self._empty.rstrip(".") if not self._items else "Nothing fits what is typed"
        taken = f" · {foot(app, 'pick')} as it is typed" if self._free else ""
        return f"{why}{taken} · {foot(app, 'leave-list')}"

    def on_mount(self) -> None:
        self.query_one(Input).cursor_blink = False
        self.query_one(Input).focus()
        self._unexpected = self._keys.typing
        self.call_after_refresh(self._seen)

    @property
    def _keys(self) -> Keyboard:
        return cast("StewardApp", self.app).keyboard

    def _seen(self) -> None:
        self._drawn = self._keys.now()

    def meant(self) -> bool:
        """Whether enter was meant for this list; says so when it may not have been."""
        meant = not self._unexpected or self._keys.deliberate(self._drawn)
        self._unexpected = False
        if not meant:
            self.query_one("#pick-foot", Static).update(Content(HASTY))
        return meant

    def on_input_changed(self, event: Input.Changed) -> None:
        if (clean := visible(event.value, keep="")) != event.value:
            event.input.value = clean
            return
        self.narrow()

    def fitting(self, typed: str) -> Sequence[Item]:
        """The rows that have all words of what is typed."""
        words = typed.casefold().split()
        return [
            i
            for i in self._items
            if all(w in f"{i.value} {i.label} {i.note} {i.detail}".casefold() for w in words)
        ]

    def narrow(self) -> None:
        """Show what fits what is typed, unless that is shown."""
        typed = visible(self.query_one(Input).value, keep="")
        if typed != self._narrowed:
            self._narrowed = typed
            found = self.fitting(typed)
            self.query_one(Rows).show(found)
            self.query_one("#pick-foot", Static).update(Content(self._foot(found)))

    def on_rows_picked(self) -> None:
        self.take()

    def action_pick(self) -> None:
        """Take the row that fits what is typed."""
        self.narrow()
        if self.meant():
            self.take()

    def take(self) -> None:
        """Take the row the cursor is on, or what is typed where that may be something new."""
        chosen, typed = self.query_one(Rows).chosen, self.query_one(Input).value.strip()
        if chosen is not None:
            self.dismiss(chosen.value)
        elif self._free and typed:
            self.dismiss(typed)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        self.narrow()
        self.query_one(Rows).move(step)
