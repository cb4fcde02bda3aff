"""The screen: everything that knows Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.service import Steward


def run(steward: Steward, settings: Settings | None = None, *, question: str = "") -> int:
    """Show the screen until the person leaves, then close the steward; the exit code.

    ``question`` is asked first. Whatever goes wrong inside, the terminal is as it was and stderr has one
    sentence.
    """
    from steward.tui.app import show

    return show(steward, settings, question)
