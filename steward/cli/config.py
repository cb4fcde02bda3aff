"""``config``: every setting with its value and where it comes from; and the file to edit."""

from __future__ import annotations

import os
import shlex
import subprocess
from contextlib import suppress

import click

from steward.cli import output
from steward.cli.options import Options, global_options
from steward.errors import UsageError
from steward.visible import line


@click.command()
@click.argument(
    "action", required=False, type=click.Choice(["show", "edit", "path", "template"]), default="show"
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@global_options
def config(options: Options, action: str, as_json: bool) -> int:
    """Show every setting with its value and where it comes from.

    edit opens your file in $VISUAL or $EDITOR, with every setting explained; path prints where it is; template prints
    the explained settings.
    """
    from steward.cli.house import configuration_file
    from steward.config import template

    match action:
        case "template":
            output.say(template().rstrip("\n"))
        case "path":
            output.say(str(configuration_file(options) or "There is no home directory."))
        case "edit":
            return _edit(options)
        case _:
            _show(options, as_json)
    return 0


def _show(options: Options, as_json: bool) -> None:
    from steward.cli.house import configuration_file, rooms
    from steward.config import load_with_sources, shown

    file = configuration_file(options)
    loaded = load_with_sources(file, os.environ, required=options.config is not None)
    with rooms(options) as house:
        rows = shown(house.settings, loaded.sources, house.own_settings)
        notices = house.notices
    if as_json:
        output.say_json([{"key": r.key, "value": r.value, "source": r.source, "help": r.help} for r in rows])
    else:
        output.say(output.table([[row.key, line(row.value), row.source] for row in rows]))
    for sentence in notices:
        output.note(sentence)


def _edit(options: Options) -> int:
    from steward.cli.house import configuration_file
    from steward.config import load, template

    file = configuration_file(options)
    if file is None:
        raise UsageError("There is no home directory; name a file with --config.")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise UsageError(f"Neither VISUAL nor EDITOR is set; the file is {file}.")
    explained = template()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError), open(file, "x", encoding="utf-8", opener=_private) as fresh:
        fresh.write(explained)
    output.flush()
    try:
        done = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError):
        raise UsageError(f"The editor {line(editor)[:200]} cannot be started; the file is {file}.") from None
    load(file, os.environ)
    return 0 if done.returncode == 0 else 1


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
