"""``sessions``, ``rename-session`` and ``delete-session``: the stored conversations of this workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steward.cli import output, shapes
from steward.cli.completing import session_ids
from steward.cli.house import rooms
from steward.cli.options import GivenPath, Options, global_options
from steward.errors import StewardError, UsageError
from steward.visible import line

if TYPE_CHECKING:
    from steward.service.recording import Form

LAST = "last"
"""Names the session that was used last."""


class NotWritten(StewardError):
    """The file of an export could not be written."""


@click.command()
@click.option(
    "--search", default="", metavar="WORDS", help="Those whose title, questions or answers hold all words."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--export",
    "exported",
    metavar="ID",
    default="",
    shell_complete=session_ids,
    help="Write that session, or the `last` one, without keys.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "script"]),
    help="For --export: a page to read, or a script to replay; by default what the name of --output says.",
)
@click.option("--output", "file", type=GivenPath(), help="For --export: a new file, not standard output.")
@click.option(
    "--with-files",
    is_flag=True,
    help="For --export: let a script hold the workspace, so that it stands alone.",
)
@global_options
def sessions(
    options: Options,
    search: str,
    as_json: bool,
    exported: str,
    form: Form | None,
    file: Path | None,
    with_files: bool,
) -> None:
    """List the sessions of this workspace, the latest first, or export one.

    A script (.jsonl) holds the questions, the replies and calls of the model, and what you decided meanwhile; what
    files held is not in it unless you add --with-files. `steward replay FILE` runs it again.
    """
    if exported:
        if search or as_json:
            raise UsageError("--export goes with neither --search nor --json.")
        _export(options, exported, form or _form_of(file), file, with_files)
        return
    if form or file or with_files:
        raise UsageError("--format, --output and --with-files go with --export ID.")
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


def _form_of(file: Path | None) -> Form:
    return "script" if file is not None and file.suffix in (".jsonl", ".json") else "markdown"


def _export(options: Options, session: str, form: Form, file: Path | None, with_files: bool) -> None:
    from steward.service.recording import exported
    from steward.visible import visible

    if with_files and form != "script":
        raise UsageError("--with-files goes with a script: name a .jsonl file, or add --format script.")
    with rooms(options) as house:
        text = exported(house, None if session == LAST else session, form, files=with_files)
    if form == "markdown":
        text = visible(text)
    if file is None:
        output.say_exactly(text)
        return
    try:
        with file.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise UsageError(f"{file.name} exists and was left alone; name another file.") from None
    except OSError as error:
        raise NotWritten(f"{file.name} was not written: {(error.strerror or 'error').lower()}.") from None
    output.note(f"The session was written to {file.name} ({len(text.encode()):,} bytes).")


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
    output.say(f"{row.id} is called {line(words)}.")


@click.command("delete-session")
@click.argument("session", metavar="ID", shell_complete=session_ids)
@global_options
def delete_session(options: Options, session: str) -> None:
    """Delete a session with all its messages; its changes stay. ID may be shortened as long as it is the only one."""
    with rooms(options) as house:
        row = house.sessions.find(session)
        house.sessions.delete(row.id)
    output.say(
        f"{row.id} deleted: {output.plural(row.messages, 'message')}, {line(row.title) or 'no title'}."
    )
