"""How long the steward waits for a model, counted by itself and not by the HTTP library."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields

from steward.conversation import JsonObject


@dataclass(frozen=True, slots=True)
class Clocks:
    """All times in seconds. Nonsense raises ``ValueError`` with one sentence when the value is made."""

    connect: float = 10.0
    """Until a connection stands (for providers whose client lets us say so)."""
    first_token: float = 90.0
    """From the request to the first chunk that carries something; keep-alive comments do not count."""
    gap: float = 60.0
    """Between two chunks that carry something."""
    local_factor: float = 4.0
    """Servers on loopback get that many times ``first_token`` and ``gap``: they may be loading a model."""
    retries: int = 3
    """How often a call is made again, at most, and only while nothing has arrived."""
    retry_base: float = 1.0
    """The first pause before a retry; each further one doubles, with jitter of half to one and a half."""
    retry_after_limit: float = 60.0
    """A server that asks for a longer pause than this is not waited for."""
    start: float = 120.0
    """Until the worker process has loaded litellm."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            lowest = 0 if field.name in {"retries", "retry_base", "retry_after_limit"} else 0.001
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not math.isfinite(value)
                or value < lowest
            ):
                raise ValueError(f"The clock {field.name} must be a number of at least {lowest:g}.")
        if self.local_factor < 1:
            raise ValueError("The clock local_factor must be at least 1.")

    @property
    def longest(self) -> float:
        """The longest silence of a worker that is in order."""
        return max(self.first_token, self.gap) * self.local_factor

    def to_json(self) -> JsonObject:
        """The clocks as they travel to the worker."""
        return asdict(self)
