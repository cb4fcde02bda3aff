"""One turn of a conversation as an async generator of events."""

from steward.loop.briefed import Briefed
from steward.loop.turn import Bounds, Desk, run_turn

__all__ = ["Bounds", "Briefed", "Desk", "run_turn"]
