"""The palette: every command in a list to pick from, from the one declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steward.service.commands import COMMANDS
from steward.tui.prompt.completion import key_name
from steward.tui.screens.picker import Item, Picker

if TYPE_CHECKING:
    from steward.tui.app import StewardApp

THEME = "theme"
"""The one entry that is no command: colours are the screen's alone."""


class Palette(Picker):
    """What begins with what is typed comes first, then what is named so, then what does so."""

    def fitting(self, typed: str) -> Sequence[Item]:
        words = typed.casefold().strip()
        return sorted(
            super().fitting(typed),
            key=lambda item: (not item.value.startswith(words), words not in item.value),
        )


async def choose(app: StewardApp) -> None:
    """Have a command picked, and do what its slash name does."""
    items = [
        Item(c.name, c.name, c.help + (f"  ({key_name(c.key)})" if c.key else ""), wide=True)
        for c in COMMANDS
    ]
    if not app.no_color:
        items.append(Item(THEME, THEME, "Choose other colours", wide=True))
    match await app.deeds.pick(Palette("Commands", items)):
        case None:
            pass
        case "theme":
            themes = [
                Item(name, name, badge="in use" if name == app.theme else "")
                for name in sorted(app.available_themes)
            ]
            app.theme = await app.deeds.pick(Picker("Theme", themes)) or app.theme
        case command:
            app.command(command)
