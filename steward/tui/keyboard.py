"""When keys arrived: what tells a deliberate key from one typed ahead, pasted, or meant for somewhere else."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

QUIET = 0.3
"""Seconds without any key or paste before a key may decide something, and after what it decides on was drawn."""

PASTE = 0.03
"""Seconds between keys below which no hand has pressed them."""


class Keyboard:
    """Knows the last arrivals. ``now`` is a clock in seconds that only goes forward."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        self._last = float("-inf")
        self._before = float("-inf")
        self.first = float("inf")
        """The first arrival since ``expect``."""
        self.typing = False
        """Whether the last arrival was text."""
        self.doubtful = False
        """Whether keys came that meant nothing where they were pressed: somebody may be typing for another window."""

    def arrived(self, sent: float | None = None, *, text: bool = False) -> None:
        """A key or a paste came, ``text`` or not.

        ``sent`` is when the terminal gave it, which may be before it could be handled.
        """
        moment = self.now() if sent is None else min(sent, self.now())
        self._before, self._last = self._last, max(moment, self._last)
        self.first = min(self.first, self._last)
        self.typing = text

    @property
    def pause(self) -> float:
        """Seconds between the last two arrivals."""
        return self._last - self._before

    def expect(self) -> None:
        """Note the next arrival."""
        self.first = float("inf")

    def stray(self) -> None:
        """The last key meant nothing."""
        self.doubtful = True

    def sure(self) -> None:
        """The last key was meant for this screen beyond doubt."""
        self.doubtful = False

    def steady(self) -> bool:
        """Whether the last key came as from a hand: not as fast as a terminal that gives a paste as keys."""
        return self.pause >= PASTE

    def unaware(self, drawn: float | None) -> bool:
        """Whether the key being handled came too soon after something drawn at ``drawn``, and no other did since."""
        return drawn is None or (self._before < drawn and self._last - drawn < QUIET)

    def deliberate(self, drawn: float | None) -> bool:
        """Whether the key being handled may decide about something drawn at ``drawn`` (``None``: not yet)."""
        return drawn is not None and self._last - drawn >= QUIET and self.pause >= QUIET
