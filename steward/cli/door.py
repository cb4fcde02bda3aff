"""How a command that speaks to a model closes the door: first the helper, then the house, then the kernel."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from steward.confine.landlock import abi
from steward.confine.outside import Outside

if TYPE_CHECKING:
    from steward.config import Settings
    from steward.confine.helper import Worker


def outside_for(settings: Settings, *, programs: bool) -> Outside:
    """What starts programs from here on: a helper, forked now, where this process is going to be confined.

    With ``programs`` it starts what the person names, else the worker alone. Nothing may be open yet.
    """
    if not settings.confine or not abi():
        return Outside()

    def worker() -> Worker:
        from steward.confine.helper import Worker
        from steward.model.process import CONFINE, MODELS, QUIET, command
        from steward.service.confine import environment_of

        return Worker(command(), {**environment_of(settings), **QUIET}, CONFINE, MODELS)

    return Outside.behind_helper(worker, programs=programs)


def hold_for_many() -> None:
    """Hold a process that serves any number of repositories: no socket, and no program but ripgrep."""
    from pathlib import Path

    from steward.confine.own import hold, program_grants
    from steward.confine.programs import find_program

    hold(program_grants(find_program(Path(os.devnull))), files=False)
