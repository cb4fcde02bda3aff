"""One SQLite file per workspace: opened privately, migrated by number, its faults worded for a person."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from collections.abc import Generator
from pathlib import Path

from steward.errors import StorageError
from steward.storage.schema import MIGRATIONS

APPLICATION = 0x53545752
"""Marks the file as ours ("STWR"), so that another program's database is never written to."""

BUSY_SECONDS = 5.0


class Database:
    """The workspace's database; safe to use from several threads, one transaction at a time.

    ``directory`` is created with mode 0700 and the file with 0600. Raises ``StorageError`` when it is locked,
    full, read-only, newer than this program or damaged; nothing is overwritten then.
    """

    def __init__(self, directory: Path, name: str = "steward.db") -> None:
        self.file = directory / name
        self._lock = threading.RLock()
        with _worded():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
            self._connection = sqlite3.connect(
                self.file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        connection = self._connection
        connection.row_factory = sqlite3.Row
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application not in (0, APPLICATION) or (application == 0 and version):
            raise StorageError(f"{self.file.name} belongs to another program; move it away to start afresh.")
        if version > len(MIGRATIONS):
            raise StorageError(
                f"{self.file.name} was written by a newer steward (format {version}, this one knows "
                f"{len(MIGRATIONS)}); use the newer one."
            )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if version == len(MIGRATIONS):
            return
        with self.write() as cursor:
            # Another process may have migrated while this one waited for the lock.
            version = cursor.execute("PRAGMA user_version").fetchone()[0]
            for number, script in enumerate(MIGRATIONS[version:], version + 1):
                for statement in script:
                    cursor.execute(statement)
                cursor.execute(f"PRAGMA user_version = {number}")
            cursor.execute(f"PRAGMA application_id = {APPLICATION}")

    @contextlib.contextmanager
    def read(self) -> Generator[sqlite3.Cursor, None, None]:
        """A cursor to read with."""
        with self._lock, _worded():
            cursor = self._connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    @contextlib.contextmanager
    def write(self) -> Generator[sqlite3.Cursor, None, None]:
        """A cursor in a transaction that is durable once the block is left without an error."""
        with self._lock, _worded():
            cursor = self._connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def secret(self) -> str:
        """32 random hex digits of this workspace, made once; what carries it cannot be forged by a file."""
        with self.write() as cursor:
            cursor.execute("INSERT OR IGNORE INTO facts VALUES ('secret', ?)", (secrets.token_hex(16),))
            return str(cursor.execute("SELECT value FROM facts WHERE name = 'secret'").fetchone()["value"])

    def close(self) -> None:
        """Give the file back."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._connection.close()


@contextlib.contextmanager
def _worded() -> Generator[None, None, None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise StorageError(_sentence(error)) from error


def _sentence(error: sqlite3.Error | OSError) -> str:
    if isinstance(error, OSError):
        reason = (error.strerror or "error").lower()
        return f"The state directory cannot be used ({reason}); set STEWARD_STATE_DIR to one that can."
    match getattr(error, "sqlite_errorname", "").split("_")[1:2]:
        case ["BUSY" | "LOCKED"]:
            return "The steward's database is locked by another process; try again when it has finished."
        case ["FULL"]:
            return "The disk with the steward's database is full; nothing was lost, make room and try again."
        case ["READONLY" | "PERM" | "CANTOPEN"]:
            return "The steward's database cannot be written; set STEWARD_STATE_DIR to a directory that can."
        case ["CORRUPT" | "NOTADB"]:
            return (
                "The steward's database is damaged; move steward.db in the state directory away to start afresh, "
                "the repository is not touched."
            )
        case _:
            return f"The steward's database failed: {error}."
