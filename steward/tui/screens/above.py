"""A screen that lies over the conversation and is left once, whatever comes late or lies over it in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType

if TYPE_CHECKING:
    from textual.app import App


class Above(Screen[ScreenResultType]):
    """Textual takes away whatever lies on top; this takes away itself, at the latest when it is on top again."""

    _left: tuple[ScreenResultType | None] | None = None
    """What it was left with, while something else lies over it."""

    @property
    def gone(self) -> bool:
        """Whether it was left, so that what comes late has nowhere to be shown."""
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        return self not in app.screen_stack

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Leave it; nothing happens when it was left already."""
        app = cast("App[Any]", self.app)  # pyright: ignore[reportUnknownMemberType]
        if self.gone:
            return AwaitComplete()
        if app.screen is not self:
            self._left = (result,)
            return AwaitComplete()
        return super().dismiss(result)

    def on_screen_resume(self) -> None:
        if self._left is not None:
            self.dismiss(*self._left)
