"""``help``: the manual that ships in the package."""

from __future__ import annotations

import click

from steward.cli import output
from steward.cli.commands import command
from steward.cli.completing import topics
from steward.cli.options import Options, global_options


@click.command("help")
@click.argument("topic", required=False, metavar="[TOPIC | COMMAND]", shell_complete=topics)
@click.option("--list", "list_topics", is_flag=True, help="List the topics.")
@global_options
def manual(options: Options, topic: str | None, list_topics: bool) -> None:
    """Show the manual, or one TOPIC of it; the name of a command that is no topic shows what its --help says."""
    from steward.service.manual import page
    from steward.service.manual import topics as all_topics

    shown = command(topic) if topic is not None and topic not in all_topics() else None
    if list_topics:
        output.say("\n".join(all_topics()))
    elif shown is not None:
        parent = click.get_current_context().parent
        output.say(shown.get_help(click.Context(shown, info_name=topic, parent=parent)))
    else:
        output.say(page(topic).rstrip("\n"))
