"""What the person's settings say of the model: which one, how long it is waited for, where a turn stops."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steward.model.choices import GUIDE
from steward.service.private_file import read_private, write_private

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.loop import Bounds
    from steward.model.clocks import Clocks

REMEMBERED = "model.json"


def model_of(given: str | None, settings: Settings, state: Path) -> str:
    """The model in force: the one ``given``, else that of the settings, else the one chosen last, else the guide.

    ``state`` is the state directory of all workspaces. In ``settings`` the environment stands over the file.
    """
    return given or settings.model or remembered(state) or GUIDE


def remembered(state: Path) -> str:
    """The model that the person chose last while the steward ran; empty when there is none."""
    name: object = read_private(state / REMEMBERED).get("model")
    return name if isinstance(name, str) and name and not any(c.isspace() for c in name) else ""


def remember(state: Path, model: str) -> None:
    """Keep the choice for the next start; raises ``OSError``."""
    write_private(state / REMEMBERED, {"model": model})


def clocks_of(settings: Settings) -> Clocks:
    """How long a model may keep silent."""
    from steward.model.clocks import Clocks

    wanted = settings.clocks
    return Clocks(
        connect=wanted.connect,
        first_token=wanted.first_token,
        gap=wanted.gap,
        local_factor=wanted.local_factor,
        retries=wanted.retries,
    )


def bounds_of(
    settings: Settings, rounds: int | None = None, cost: float | None = None, tokens: int | None = None
) -> Bounds:
    """Where a turn stops by itself; ``rounds``, ``cost`` (US dollars), ``tokens``, above 0, win over the settings."""
    from steward.loop import Bounds
    from steward.loop.budget import Budget

    limits = settings.limits
    budget = Budget(
        tokens or limits.turn_tokens, cost or limits.turn_cost, limits.session_tokens, limits.session_cost
    )
    return Bounds(rounds or limits.rounds, limits.turn_seconds, budget, settings.clocks.local_factor)
