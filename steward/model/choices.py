"""Models a person may choose, and what is known of the one that was chosen."""

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
    verdict: str = ""
    """What its last exam said of it; empty when none was held."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of one model; ``None`` means unknown."""

    host: str
    """The host that code is sent to, as ``api.openai.com`` or ``127.0.0.1:11434 (this machine)``."""
    local: bool = False
    """Whether that is a server on this machine."""
    window: int | None = None
    """Tokens its context holds."""
    tools: bool | None = None
    """Whether it takes tool definitions."""
    ignored: tuple[str, ...] = ()
    """Options of the person that it does not have, so that they are left out."""
