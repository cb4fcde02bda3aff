"""``acp``: an editor as the screen."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli.options import Options, global_options
from steward.errors import UsageError

if TYPE_CHECKING:
    from steward.service import Steward


@click.command()
@global_options
def acp(options: Options) -> None:
    """Serve an editor over the Agent Client Protocol, on standard input and output.

    Proposals reach the editor as diffs; applying them stays with steward apply-change or the screen.
    """
    try:
        from steward.acp import serve
    except ModuleNotFoundError as error:
        if error.name != "acp":
            raise
        raise UsageError(
            "The editor protocol is not installed; pip install 'repository-steward[acp]' adds it."
        ) from None
    for descriptor, name in ((0, "input"), (1, "output")):
        kind = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(descriptor)):
            raise UsageError(
                f"An editor speaks to steward acp through pipes; standard {name} is neither a pipe nor a socket."
            )
    from steward.cli.door import hold_for_many, outside_for
    from steward.cli.house import new_steward, settings_of, state_directory
    from steward.cli.log import log_to

    log_to(state_directory())
    settings = settings_of(options)
    outside = outside_for(settings, programs=False)
    if outside.helped:
        hold_for_many()

    def opened(directory: Path) -> Steward:
        start = None if options.workspace else directory
        return new_steward(options, settings=settings, start=start, asked=True, outside=outside)

    serve(opened)
