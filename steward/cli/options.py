"""The global options, accepted before and after the name of a command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from steward.cli.completing import profiles, session_ids

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Options:
    """What was said before or after the command; ``None`` where nothing was said."""

    workspace: Path | None = None
    model: str | None = None
    config: Path | None = None
    profile: str | None = None
    trust: bool = False

    def over(self, other: Options) -> Options:
        """These options, completed by ``other``."""
        return Options(
            self.workspace or other.workspace,
            self.model or other.model,
            self.config or other.config,
            self.profile or other.profile,
            self.trust or other.trust,
        )


def global_options(command: Callable[Concatenate[Options, P], R]) -> Callable[P, R]:
    """Add the global options to a command and hand them over as its first argument."""

    @click.option(
        "--workspace",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Take DIR itself as the workspace, instead of the repository around you.",
    )
    @click.option("--model", metavar="NAME", help="The model: a litellm name, offline/guide or script/FILE.")
    @click.option(
        "--config",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Read this configuration file instead of your own.",
    )
    @click.option(
        "--profile",
        metavar="NAME",
        shell_complete=profiles,
        help="Ask under a profile of your settings, or the built-in reviewer, which cannot propose.",
    )
    @click.option(
        "--trust",
        is_flag=True,
        help="For this run, use the repository's instructions, skills and configuration unseen.",
    )
    @click.pass_context
    @functools.wraps(command)
    def with_options(context: click.Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        given: list[Any] = [kwargs.pop(field.name, None) for field in fields(Options)]
        own = Options(*given)
        before = context.find_object(Options) or Options()
        return command(own.over(before), *args, **kwargs)

    return with_options


def session_options(command: Callable[P, R]) -> Callable[P, R]:
    """Options of whatever opens the screen."""
    for option in (
        click.option(
            "--read",
            "reads",
            metavar="FILE",
            multiple=True,
            type=click.Path(path_type=Path),
            help="A further instruction document; a directory means its files. May be repeated.",
        ),
        click.option(
            "--resume",
            metavar="SESSION",
            shell_complete=session_ids,
            help="Go on with this session; its id may be shortened.",
        ),
        click.option("--continue", "resume_last", is_flag=True, help="Go on with the last session."),
        click.option(
            "--plain", is_flag=True, help="A conversation in lines instead of the screen, for screen readers."
        ),
    ):
        command = option(command)
    return command
