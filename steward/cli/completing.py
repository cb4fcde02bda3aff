"""What a shell completes: ids of changes and sessions, tools, topics, profiles; read quickly and never written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from steward.errors import StewardError
from steward.visible import line

MOST = 200
"""Ids that are offered."""

WIDTH = 60
"""Characters of a title."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def change_ids(*statuses: str) -> Complete:
    """Ids of changes with one of these statuses, all for none, the newest first; ``3`` stands for ``change-003``."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from steward.storage import ChangeStore

        found = _from_database(context, lambda database: ChangeStore(database).titles()) or ()
        wanted = (
            f"change-{int(incomplete):03d}"
            if incomplete.isascii() and incomplete.isdigit() and len(incomplete) < 10
            else incomplete
        )
        return [
            CompletionItem(change, help=_shown(f"{status}: {title}"))
            for change, status, title in found
            if change.startswith(wanted) and (not statuses or status in statuses)
        ][:MOST]

    return complete


def session_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of sessions, the latest first."""
    from steward.storage import SessionStore

    rows = _from_database(context, lambda database: SessionStore(database).all()) or ()
    return [CompletionItem(r.id, help=_shown(r.title)) for r in rows if r.id.startswith(incomplete)][:MOST]


def paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and directories, by the shell's own means."""
    return [CompletionItem(incomplete, type="file")]


def topics(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Topics of the manual."""
    from steward.service.manual import topics as all_topics

    return [CompletionItem(name) for name in all_topics() if name.startswith(incomplete)]


def tools(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the model's tools."""
    names = ("listFiles", "searchFiles", "readFile", "proposePatch", "Skill")
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the profiles."""
    from steward.cli.house import settings_of
    from steward.service.profiles import names

    try:
        found = names(settings_of(_options(context)))
    except StewardError:
        return []
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def _shown(title: str) -> str:
    """A title beside an id: one line without anything that acts on the terminal."""
    text = line(title)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def _from_database(context: click.Context, read: Callable[[Any], Any]) -> Any:
    """What the workspace's database says; ``None`` when there is none or it cannot be read."""
    from steward.cli.house import state_directory, workspace_root
    from steward.storage import Database
    from steward.workspace import Policy, Workspace

    try:
        state = state_directory()
        with Workspace.open(workspace_root(_options(context)), Policy(state_dir=state)) as workspace:
            directory = state / workspace.identity
        if not (directory / "steward.db").is_file():
            return None
        database = Database(directory)
        try:
            return read(database)
        finally:
            database.close()
    except StewardError:
        return None


def _options(context: click.Context) -> Any:
    """The global options as far as they have been typed."""
    from steward.cli.options import Options

    found = Options()
    at: click.Context | None = context
    while at is not None:
        given = [at.params.get(name) for name in ("workspace", "config")]
        workspace, config = (Path(value) if value else None for value in given)
        found = found.over(Options(workspace=workspace, config=config))
        at = at.parent
    return found
