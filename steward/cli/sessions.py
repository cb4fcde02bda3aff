"""``sessions``, ``rename-session`` and ``delete-session``: the stored conversations of this workspace."""

from __future__ import annotations

import click

from steward.cli import output, shapes
from steward.cli.completing import session_ids
from steward.cli.house import rooms
from steward.cli.options import Options, global_options
from steward.errors import UsageError


@click.command()
@click.option(
    "--search", default="", metavar="WORDS", help="Those whose title, questions or answers hold all words."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@global_options
def sessions(options: Options, search: str, as_json: bool) -> None:
    """List the sessions of this workspace, the latest first."""
    with rooms(options) as house:
        store = house.sessions
        found = store.search(search) if search.strip() else tuple((row, "") for row in store.all())
    if as_json:
        output.say_json([{**shapes.session(row), "found": place} for row, place in found])
    elif not found:
        output.say("There are no sessions." if not search.strip() else "No session holds all of these words.")
    else:
        output.say(
            output.table(
                [
                    [
                        row.id,
                        row.updated,
                        output.plural(row.messages, "message"),
                        row.model,
                        row.title or "(no title)",
                        *((place,) if search.strip() else ()),
                    ]
                    for row, place in found
                ]
            )
        )


@click.command("rename-session")
@click.argument("session", metavar="ID", shell_complete=session_ids)
@click.argument("title", nargs=-1, required=True)
@global_options
def rename_session(options: Options, session: str, title: tuple[str, ...]) -> None:
    """Give a session another title. ID may be shortened as long as it is the only one."""
    words = " ".join(" ".join(title).split())
    if not words:
        raise UsageError("A title is at least one word.")
    with rooms(options) as house:
        row = house.sessions.find(session)
        house.sessions.rename(row.id, words)
    output.say(f"{row.id} is called {words}.")


@click.command("delete-session")
@click.argument("session", metavar="ID", shell_complete=session_ids)
@global_options
def delete_session(options: Options, session: str) -> None:
    """Delete a session with all its messages; its changes stay. ID may be shortened as long as it is the only one."""
    with rooms(options) as house:
        row = house.sessions.find(session)
        house.sessions.delete(row.id)
    output.say(f"{row.id} deleted: {output.plural(row.messages, 'message')}, {row.title or 'no title'}.")
