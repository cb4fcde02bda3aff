"""The click group, and how every end becomes an exit code and at most one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from steward import __version__
from steward.cli import output
from steward.cli.commands import ENTRIES, command, find
from steward.cli.options import Options, global_options, said_option, session_options
from steward.cli.pages import EXIT_CODES
from steward.errors import StewardError, UsageError


class LazyGroup(click.Group):
    """A group that imports a command's module when the command runs, and takes a path as a command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names as declared."""
        return [entry.name for entry in ENTRIES if entry.name != "open"]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The click command, imported now."""
        return command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A word that is no command but a path on disk opens the screen there."""
        word = args[0]
        if find(word) is None:
            if ctx.resilient_parsing:
                return None, None, args
            if not _on_disk(word):
                import difflib

                near = difflib.get_close_matches(word, self.list_commands(ctx), 1)
                hint = f" Did you mean {near[0]}?" if near else " See steward --help."
                raise UsageError(f"There is no command and no path {word}.{hint}")
            return "open", self.get_command(ctx, "open"), args
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names as declared, so that completing them imports none of them; then options or paths."""
        names = [
            CompletionItem(entry.name, help=entry.help)
            for entry in ENTRIES
            if entry.name != "open" and entry.name.startswith(incomplete)
        ]
        if incomplete.startswith("-"):
            return click.Command.shell_complete(self, ctx, incomplete)
        return [*names, CompletionItem(incomplete, type="file")] if incomplete else names

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of ``steward`` alone, those that go with every command, and the commands."""
        everywhere = {field.name for field in fields(Options)} | {"help"}
        for title, common in (("Options", False), ("Options of every command", True)):
            rows = [
                row
                for parameter in self.get_params(ctx)
                if (parameter.name in everywhere) is common
                and (row := parameter.get_help_record(ctx)) is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands from the declarations, so that ``--help`` imports none of them."""
        rows = [
            (f"{entry.name} {entry.usage}".strip(), entry.help) for entry in ENTRIES if entry.name != "open"
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="[OPTIONS]",
    subcommand_metavar="[PATH | COMMAND ...]",
    epilog=f"Exit codes: {'; '.join(f'{code} {words}' for code, words in EXIT_CODES.items())}. "
    "steward COMMAND --help says more of one; steward help shows the manual.",
)
@said_option("--version", says=lambda _: f"steward {__version__}", help="Show the version and exit.")
@session_options
@global_options
def steward(
    options: Options, resume_last: bool, resume: str | None, reads: tuple[Path, ...], plain: bool
) -> None:
    """A terminal coding agent for one repository: the model proposes, your hand applies.

    Without a command, or with a PATH, it opens the screen in the repository that holds PATH or the current
    directory.
    """
    context = click.get_current_context()
    context.obj = options
    if context.invoked_subcommand is None:
        from steward.cli.screen import show

        show(options, None, resume_last, resume, reads, plain)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code; nothing escapes as a traceback."""
    output.prepare()
    try:
        result: Any = steward.main(list(arguments), prog_name="steward", standalone_mode=False)
        output.flush()
        return result if isinstance(result, int) else 0
    except StewardError as error:
        output.fail(str(error))
        return _after_failure(error.exit_code)
    except click.ClickException as error:
        output.fail(_one_sentence(error))
        return _after_failure(2)
    except (KeyboardInterrupt, click.Abort):
        output.note("Interrupted.")
        return _after_failure(130)
    except output.OutputClosed:
        output.forget_output()
        return 0
    except Exception as error:
        from steward.cli.crash import report

        output.fail(report(error))
        return _after_failure(1)


def _on_disk(word: str) -> bool:
    """Whether there is such a path; one that is too long or not allowed counts as none."""
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def _after_failure(code: int) -> int:
    """Hand over what was said before; a reader that has gone changes nothing about the failure."""
    try:
        output.flush()
    except (output.OutputClosed, output.OutputFailed):
        output.forget_output()
    return code


def _one_sentence(error: click.ClickException) -> str:
    sentence = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        stop = "" if sentence.endswith((".", "?")) else "."
        sentence = f"{sentence}{stop} See {error.ctx.command_path} --help"
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."
