"""The commands in Textual's palette, from the one declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from steward.service.commands import COMMANDS
from steward.tui.prompt.completion import key_name

if TYPE_CHECKING:
    from steward.tui.app import StewardApp


class CommandProvider(Provider):
    """Every command; choosing one does what its slash name does."""

    async def discover(self) -> Hits:
        for name, text, act in self._all():
            yield DiscoveryHit(Content(name), act, text=name, help=text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, text, act in self._all():
            score = max(matcher.match(name), 0.8 * matcher.match(text))
            if score > 0:
                yield Hit(score, Content(name), act, text=name, help=text)

    def _all(self) -> Iterator[tuple[str, str, Callable[[], None]]]:
        app = cast("StewardApp", self.app)
        for command in COMMANDS:
            key = f"  ({key_name(command.key)})" if command.key else ""
            yield command.name, command.help + key, partial(app.command, command.name)
