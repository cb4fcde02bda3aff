"""A model a person may choose, as found in the environment or on a local server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One row of the model picker; ``None`` means unknown, never zero."""

    name: str
    """The name to give as ``--model``."""
    where: str
    """The host that would receive the code, or ``this machine`` for what needs no network."""
    window: int | None = None
    """Tokens its context holds."""
    price_in: float | None = None
    """US dollars for a million prompt tokens."""
    price_out: float | None = None
    """US dollars for a million completion tokens."""
    tools: bool | None = None
    """Whether it takes tool definitions."""
    found: str = ""
    """How it was found: the name of the environment variable, the local server, or ``built in``."""
