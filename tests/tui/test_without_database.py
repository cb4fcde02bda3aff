"""A database that cannot be used is one clear sentence on the screen, and the screen works once it can be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.storage.database import APPLICATION
from steward.tui.app import StewardApp
from tests.support import plant, steward_in
from tests.tui.looking import Clock, until
from tests.tui.test_sessions import command, until_said


def garbage(file: Path) -> None:
    file.write_bytes(b"\x93garbage" * 1000)


def newer(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 999")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.commit()
    connection.close()


def foreign(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA application_id = 77")
    connection.commit()
    connection.close()


def directory(file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (garbage, "database is damaged"),
        (newer, "written by a newer steward"),
        (foreign, "belongs to another program"),
        (directory, "cannot be used"),
    ],
)
async def test_what_is_wrong_is_said_and_asking_works_once_it_is_mended(
    tmp_path: Path, spoil: Callable[[Path], None], says: str
) -> None:
    root = plant(tmp_path / "repo")
    steward, _ = steward_in(root, [{"text": "Here."}])
    file = Path(steward.workspace_view().state) / "steward.db"
    file.parent.mkdir(parents=True)
    spoil(file)
    before = file.read_bytes() if file.is_file() else b""
    app = StewardApp(steward, now=Clock())
    try:
        async with app.run_test(size=(89, 44)) as pilot:
            await until_said(pilot, says)
            await command(pilot, "one")
            await until(pilot, lambda: app.turns.ended == 1 and not app.turns.running, "the turn ends")
            await until_said(pilot, "❯ one")
            assert (file.read_bytes() if file.is_file() else b"") == before, "nothing is overwritten"
            if file.is_dir():
                file.rmdir()
            else:
                file.unlink()
            await command(pilot, "two")
            await until_said(pilot, "Here.")
    finally:
        await steward.close()
