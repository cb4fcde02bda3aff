"""What esc and ctrl+c stop: only what the person can have meant, when what they saw is over already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steward.tui import carrying

if TYPE_CHECKING:
    from collections.abc import Callable

    from steward.tui.app import StewardApp

AGAIN = 1.0
"""Seconds in which a second ctrl+c leaves."""

OVER = "the turn was over already"


class Stopping:
    """Stops what was begun last first. ``now`` is a clock in seconds that only goes forward."""

    def __init__(self, app: StewardApp, now: Callable[[], float]) -> None:
        self._app = app
        self._now = now
        self._pressed = float("-inf")
        """When ctrl+c was pressed."""

    @property
    def pressed(self) -> bool:
        """Whether ctrl+c was pressed within a second."""
        return self._now() - self._pressed < AGAIN

    def interrupt(self) -> None:
        """Stop what goes on beside the running turn and was begun in it, the turn, or else what goes on without one."""
        app = self._app
        if app.deeds.waits.stop(over_turn=True) or app.turns.interrupt():
            return
        if app.turns.just_over:
            self._hint(OVER, 3.0)
        elif not app.deeds.stop():
            app.shell.stop()

    def stop_or_leave(self) -> None:
        """Copy what is selected; else stop the turn; else clear the prompt; twice within a second leaves."""
        app = self._app
        if self.pressed:
            app.work(app.leave())
            return
        self._pressed = self._now()
        met = self._copy_selection() or app.turns.interrupt() or app.turns.just_over
        met = met or app.deeds.stop() or app.shell.stop()
        if app.prompt.text and not met:
            app.draft.clear()
        self._hint("ctrl+c again leaves", AGAIN)

    def _hint(self, sentence: str, seconds: float) -> None:
        status = self._app.status
        status.show(hint=sentence)
        self._app.set_timer(seconds, lambda: status.show(hint=""))

    def _copy_selection(self) -> bool:
        app = self._app
        text = app.screen.get_selected_text() or (app.prompt.selected_text if app.prompt.has_focus else "")
        if not text:
            return False
        app.feed.say(carrying.copy(app, text, "The selection"), "info")
        app.screen.clear_selection()
        return True
