"""Runs the application on the terminal and ends it in order, whatever happens inside."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from steward.errors import StewardError
from steward.tui import terminal
from steward.tui.app import StewardApp

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.confine.outside import Outside
    from steward.service import Steward

_log = logging.getLogger("steward.tui")


class Shown(StewardApp):
    """The application as the one thing its process does."""

    def on_ready(self) -> None:
        """The first frame is there."""
        short_looks_for_garbage()


def short_looks_for_garbage() -> None:
    """What was made up to now stays, and is not looked through for garbage again.

    Small generations keep each later look short, so that no key waits for one.
    """
    gc.freeze()
    gc.set_threshold(5_000, 10, 20)
    gc.enable()


def show(steward: Steward, settings: Settings | None, question: str, outside: Outside | None = None) -> int:
    """Run the application on the terminal; see ``steward.tui.run``."""
    terminal.install()
    app = Shown(steward, settings, question=question, outside=outside)

    async def main() -> int:
        if sys.platform != "win32":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, lambda code=128 + number: app.work(app.leave(code)))
        try:
            code = await app.run_async(mouse=settings.mouse if settings is not None else True)
        finally:
            with suppress(StewardError):
                await steward.close()
        return code or 0

    try:
        code = asyncio.run(main())
    except Exception as error:
        _log.exception("the screen failed")
        app.failed = app.failed or error
        code = 1
    if app.failed is not None:
        from steward.confine.own import perhaps_why

        kind, why = type(app.failed).__name__, perhaps_why(app.failed)
        sys.stderr.write(
            f"The screen failed ({kind}); nothing was written, and the conversation is kept.{why}\n"
        )
        return 1
    return code
