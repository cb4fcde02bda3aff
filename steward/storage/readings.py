"""What a person makes of a pending change while reading it, kept until the change is decided on."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from steward.conversation import JsonObject
from steward.proposals import FileChange
from steward.storage.database import Database, parsed


@dataclass(frozen=True, slots=True)
class StoredReading:
    """A reading as it was kept."""

    stamp: str
    """That of the version that was looked at last."""
    body: JsonObject
    before: tuple[FileChange, ...]
    """The files of the version that was looked at last before the stored one; empty when there was none."""


class ReadingStore:
    """The readings of one workspace, one for each pending change that was looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, change: str, stamp: str, body: JsonObject) -> None:
        """Keep what was made of the version with that stamp; nothing for a change that is not pending."""
        with self._database.write() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO readings SELECT id, ?, ? FROM changes WHERE id = ? AND status = 'pending'",
                (stamp, json.dumps(body), change),
            )

    def find(self, change: str) -> StoredReading | None:
        """What is kept of a change; ``None`` when it was never looked at, or is decided on."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT stamp, body FROM readings WHERE change = ?", (change,)).fetchone()
            if row is None:
                return None
            files = cursor.execute(
                "SELECT * FROM read_files WHERE change = ? ORDER BY position", (change,)
            ).fetchall()
        return StoredReading(row["stamp"], parsed(row["body"], dict), tuple(_file(file) for file in files))


def put_aside(cursor: sqlite3.Cursor, change: str, stamp: str) -> None:
    """Before another version is stored: keep the files of the one that stands there, if it was looked at."""
    looked_at = cursor.execute(
        "SELECT 1 FROM readings r JOIN changes c ON c.id = r.change AND c.stamp = r.stamp "
        "WHERE c.id = ? AND c.stamp != ?",
        (change, stamp),
    ).fetchone()
    if looked_at is not None:
        cursor.execute("DELETE FROM read_files WHERE change = ?", (change,))
        cursor.execute(
            "INSERT INTO read_files SELECT change, position, path, action, old_path, base, result, base_mode, "
            "result_mode FROM change_files WHERE change = ?",
            (change,),
        )


def forget(cursor: sqlite3.Cursor, change: str) -> None:
    """The change is decided on."""
    cursor.execute("DELETE FROM read_files WHERE change = ?", (change,))
    cursor.execute("DELETE FROM readings WHERE change = ?", (change,))


def _file(row: sqlite3.Row) -> FileChange:
    return FileChange(
        row["path"],
        row["action"],
        row["base"],
        row["result"],
        row["base_mode"],
        row["result_mode"],
        row["old_path"],
    )
