"""``help``: the manual that ships in the package."""

from __future__ import annotations

import click

from steward.cli import output
from steward.cli.completing import topics
from steward.cli.options import Options, global_options


@click.command("help")
@click.argument("topic", required=False, shell_complete=topics)
@click.option("--list", "list_topics", is_flag=True, help="List the topics.")
@global_options
def manual(options: Options, topic: str | None, list_topics: bool) -> None:
    """Show the manual, or one TOPIC of it."""
    from steward.service.manual import page
    from steward.service.manual import topics as all_topics

    if list_topics:
        output.say("\n".join(all_topics()))
    else:
        output.say(page(topic).rstrip("\n"))
