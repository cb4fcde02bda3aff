"""The global options, accepted before and after the name of a command."""

from __future__ import annotations

import functools
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from steward.cli import output
from steward.cli.completing import profiles, session_ids
from steward.errors import NoSuchThing, UsageError


def further_texts(
    context: click.Context, parameter: click.Parameter, reads: tuple[Path, ...]
) -> tuple[Path, ...]:
    """What ``--read`` names, refused here when it is not there: asked for by a person, it is not left out."""
    for file in () if context.resilient_parsing else reads:
        try:
            kind = file.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise NoSuchThing("file", file.name) from None
        except OSError as error:
            raise UsageError(f"{file.name} cannot be read: {(error.strerror or 'error').lower()}.") from None
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
            raise UsageError(f"{file.name} is neither a file nor a directory, so --read cannot take it.")
    return reads


MAY_BE_EMPTY = frozenset({"arguments", "reason", "search", "title"})
"""Parameters for which an empty word means something: no reason, no title, no arguments."""


class GivenPath(click.Path):
    """A path as it was typed. An empty one is refused: it is a variable that was not set, never a wish for ``.``."""

    def __init__(self, *, dash: bool = False) -> None:
        super().__init__(path_type=Path, allow_dash=dash)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "" and param is not None and ctx is not None:
            raise _is_empty(param)
        return super().convert(value, param, ctx)


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
    """Add the global options to a command and hand them over as its first argument.

    A word that is no text, or that is empty where something was to be named, never reaches the command.
    """

    @click.option(
        "--workspace",
        metavar="DIR",
        type=GivenPath(),
        help="Take DIR itself as the workspace, instead of the repository around you.",
    )
    @click.option("--model", metavar="NAME", help="The model: a litellm name, offline/guide or script/FILE.")
    @click.option(
        "--config",
        metavar="FILE",
        type=GivenPath(),
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
    @said_option("-h", "--help", says=click.Context.get_help, help="Show this message and exit.")
    @click.pass_context
    @functools.wraps(command)
    def with_options(context: click.Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        _refuse_odd_words(context, kwargs)
        given: list[Any] = [kwargs.pop(field.name, None) for field in fields(Options)]
        own = Options(*given)
        before = context.find_object(Options) or Options()
        return command(own.over(before), *args, **kwargs)

    return with_options


def said_option(
    *names: str, says: Callable[[click.Context], str], help: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An option that prints a text and ends; a full disk or a reader that is gone is met as with all output."""

    def say(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            output.say(says(context))
            context.exit()

    return click.option(*names, is_flag=True, is_eager=True, expose_value=False, callback=say, help=help)


def _refuse_odd_words(context: click.Context, given: Mapping[str, Any]) -> None:
    """Raise ``UsageError`` for a word whose bytes are no UTF-8 (paths may hold any), or that is empty."""
    for parameter in context.command.params:
        name = parameter.name or ""
        value = given.get(name)
        if (
            not isinstance(value, str)
            or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE
        ):
            continue
        if not value and name not in MAY_BE_EMPTY:
            raise _is_empty(parameter)
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"What was given as {name.replace('_', '-')} is not UTF-8.") from None


def _is_empty(parameter: click.Parameter) -> UsageError:
    called = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
    return UsageError(f"{called.strip('[]')} is empty, as from a variable that was not set.")


def session_options(command: Callable[P, R]) -> Callable[P, R]:
    """Options of whatever opens the screen."""
    for option in (
        click.option(
            "--read",
            "reads",
            metavar="FILE",
            multiple=True,
            type=GivenPath(),
            callback=further_texts,
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
