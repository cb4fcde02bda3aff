"""The screen: everything that knows Textual."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.confine.outside import Outside
    from steward.service import Steward


def run(
    steward: Steward,
    settings: Settings | None = None,
    *,
    question: str = "",
    outside: Outside | None = None,
) -> int:
    """Show the screen until the person leaves, then close the steward; the exit code.

    ``question`` is asked first. What the person starts by hand goes through ``outside``; where that has a helper, this
    process is confined once the screen's code is loaded and before its threads are started. Whatever goes wrong
    inside, the terminal is as it was and stderr has one sentence.
    """
    from steward.tui.running import show

    if outside is not None and outside.helped:
        steward.hold()
    return show(steward, settings, question, outside)
