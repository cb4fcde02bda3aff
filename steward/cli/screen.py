"""``steward [PATH]``: the screen, or with ``--plain`` lines."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import click

from steward.cli.options import GivenPath, Options, global_options, session_options
from steward.errors import NeedsPerson


@click.command("open")
@click.argument("path", type=GivenPath())
@session_options
@global_options
def open_screen(
    options: Options, path: Path, resume_last: bool, resume: str | None, reads: tuple[Path, ...], plain: bool
) -> None:
    """Open the screen in the repository that holds PATH."""
    show(options, path, resume_last, resume, reads, plain)


def show(
    options: Options,
    start: Path | None,
    resume_last: bool,
    resume: str | None,
    reads: tuple[Path, ...],
    plain: bool,
) -> None:
    """Run the screen, or with ``plain`` a conversation in lines, until the person leaves."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NeedsPerson("The screen needs a terminal; use steward ask, or see steward --help.")
    if not plain and os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        raise NeedsPerson("This terminal cannot show the screen (TERM); use steward --plain, or steward ask.")
    # The screen is drawn on standard error.
    if not plain and not sys.stderr.isatty():
        raise NeedsPerson("The screen needs standard error to be the terminal; use steward --plain.")
    if not plain:
        gc.disable()  # until the first frame is there: what is imported and built up to then stays
    from steward.cli.door import outside_for
    from steward.cli.house import new_steward, settings_of
    from steward.cli.trust import before_screen
    from steward.tui import run

    settings = settings_of(options)
    outside = outside_for(settings, programs=True)
    if not before_screen(options, start):
        return
    steward = new_steward(options, settings=settings, start=start, reads=reads, asked=True, outside=outside)
    if resume_last or resume:
        import asyncio

        asyncio.run(steward.resume(resume))
    if plain:
        from steward.cli.plain import converse

        code = converse(steward, outside)
    else:
        code = run(steward, settings, outside=outside)
    if code:
        raise click.exceptions.Exit(code)
