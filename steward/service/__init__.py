"""The one object a front end holds, and what stands behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from steward.config import Settings
from steward.service.house import House, home_directory

if TYPE_CHECKING:
    from steward.confine.outside import Outside
    from steward.service.steward import Steward

__all__ = ["House", "Steward", "home_directory", "open_steward"]


def __getattr__(name: str) -> object:
    """``Steward``, imported when it is asked for: commands that need the house alone do not wait for the loop."""
    if name == "Steward":
        from steward.service.steward import Steward

        return Steward
    raise AttributeError(name)


def open_steward(
    root: Path,
    settings: Settings,
    *,
    state: Path,
    model: str | None = None,
    worker: bool = True,
    watch: bool = True,
    config_directory: Path | None = None,
    reads: tuple[Path, ...] = (),
    profile: str = "",
    trusted: bool | Literal["undecided"] | None = True,
    outside: Outside | None = None,
    configuration: Path | None = None,
) -> Steward:
    """A steward for the workspace at ``root``; it is not started yet.

    ``state`` holds the state of all workspaces. Without ``worker`` no model can be asked, without ``watch``
    changes on disk are noticed when they are looked at. ``profile`` names one of the settings' profiles,
    ``trusted``, ``outside`` and ``configuration`` are as for ``House``.
    """
    from steward.service.steward import Steward

    house = House(
        root,
        settings,
        state=state,
        home=home_directory(),
        config_directory=config_directory,
        reads=reads,
        profile=profile,
        trusted=trusted,
        outside=outside,
        configuration=configuration,
    )
    return Steward(house, model=model, worker=worker, watch=watch)
