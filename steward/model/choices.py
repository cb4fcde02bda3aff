"""Models a person may choose, and what is known of the one that was chosen."""

from __future__ import annotations

from dataclasses import dataclass

GUIDE = "offline/guide"
"""The model that is none: it answers where no other was chosen."""


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

    @property
    def origin(self) -> str:
        """Where it is and how that was found, for people: ``Ollama at 127.0.0.1:11434``."""
        if self.found.isupper():
            return f"{self.where}, key in {self.found}"
        if self.found in ("", "in use", "examined"):
            return self.where
        return self.found if self.found == "built in" else f"{self.found} at {self.where}"

    @property
    def ability(self) -> str:
        """Whether it takes tools, and what its last exam said, for people."""
        tools = {True: "takes tools", False: "takes no tools", None: "tools unknown"}[self.tools]
        return f"{tools} · " + (f"last exam: {self.verdict}" if self.verdict else "not examined")

    @property
    def price(self) -> str:
        """US dollars for a million tokens, for people; empty when it is unknown."""
        if self.price_in is None or self.price_out is None:
            return ""
        return f"${self.price_in:g} in, ${self.price_out:g} out per million"


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
