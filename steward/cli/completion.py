"""``completion``: what a shell runs to complete the steward's commands."""

from __future__ import annotations

import click

from steward.cli import output
from steward.cli.options import Options, global_options

VARIABLE = "_STEWARD_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@global_options
def completion(options: Options, shell: str) -> None:
    """Print the completion script for SHELL.

    bash: eval "$(steward completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc; fish: steward completion fish >
    ~/.config/fish/completions/steward.fish.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    source = made(click.Group("steward"), {}, "steward", VARIABLE)
    output.say_exactly(source.source_template % source.source_vars())
