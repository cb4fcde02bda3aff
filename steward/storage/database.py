"""One SQLite file per workspace: opened privately, migrated by number, its faults worded for a person."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from steward.errors import StorageError
from steward.storage.schema import MIGRATIONS

APPLICATION = 0x53545752
"""Marks the file as ours ("STWR"), so that another program's database is never written to."""

BUSY_SECONDS = 5.0
"""How long another process is waited for that writes."""

TOLD_AFTER = 0.5
"""Seconds of that wait after which the person is told of it."""

AGAIN_SECONDS = 0.1
"""How long the next wait is when one has just been in vain: what writes several times is not waited for as often."""

_PAUSE = 0.005
WORTH_GIVING_BACK = 1024 * 1024
"""Bytes of free pages from which on the file is made smaller."""
_INCREMENTAL = 2

T = TypeVar("T")

_UNWRITABLE = "The steward's database cannot be written; set STEWARD_STATE_DIR to a directory that can."
_WAY_OUT = "move steward.db in the state directory away to start afresh, the repository is not touched."
_DAMAGED = f"The steward's database is damaged; {_WAY_OUT}"


class Database:
    """The workspace's database; safe to use from several threads, one transaction at a time.

    ``directory`` is created with mode 0700 and the file with 0600. Raises ``StorageError`` when it is locked,
    full, read-only, newer than this program or damaged; nothing is overwritten then.
    """

    def __init__(self, directory: Path) -> None:
        self.file = directory / "steward.db"
        self.waiting: Callable[[], None] | None = None
        """Called, in the thread that writes, when another process has been waited for some time."""
        self._lock = threading.RLock()
        self._in_vain = -BUSY_SECONDS
        with _worded():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_file()
            self._connection = sqlite3.connect(
                self.file, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _make_file(self) -> None:
        """Make the file where it is missing; one that cannot be used is named."""
        try:
            os.close(os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        except OSError as error:
            if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
                raise StorageError(_UNWRITABLE) from error
            reason = "symbolic link" if error.errno == errno.ELOOP else (error.strerror or "error").lower()
            raise StorageError(
                f"{self.file.name} in the state directory cannot be used ({reason}); move it away to start afresh, "
                "or set STEWARD_STATE_DIR to another directory."
            ) from error

    def _prepare(self) -> None:
        connection = self._connection
        connection.row_factory = sqlite3.Row
        with self.read() as cursor:
            # Both at once, since another process may make the tables in between.
            application = cursor.execute("PRAGMA application_id").fetchone()[0]
            version = cursor.execute("PRAGMA user_version").fetchone()[0]
        if application not in (0, APPLICATION) or (application == 0 and version):
            raise StorageError(f"{self.file.name} belongs to another program; move it away to start afresh.")
        if version > len(MIGRATIONS):
            raise StorageError(
                f"{self.file.name} was written by a newer steward (format {version}, this one knows "
                f"{len(MIGRATIONS)}); use the newer one."
            )
        if not version:
            # Only before the first table is made.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._log_ahead()
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # A confined process may make files in the state directory alone, and SQLite's own would stand elsewhere.
        connection.execute("PRAGMA temp_store = MEMORY")
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

    def _log_ahead(self) -> None:
        """Have what is written go to a log first; another process that is changing to that is waited for.

        SQLite by itself does not wait there.
        """
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if not _busy(error) or time.monotonic() >= until:
                    raise
            time.sleep(_PAUSE)

    @contextlib.contextmanager
    def read(self) -> Generator[sqlite3.Cursor, None, None]:
        """A cursor to read with. All that is read in the block is of one moment, also by reads within it."""
        with self._lock, _worded():
            cursor = self._connection.cursor()
            outermost = not self._connection.in_transaction
            try:
                if outermost:
                    cursor.execute("BEGIN")
                yield cursor
            finally:
                if outermost:
                    with contextlib.suppress(sqlite3.Error):
                        cursor.execute("ROLLBACK")
                cursor.close()

    @contextlib.contextmanager
    def write(self) -> Generator[sqlite3.Cursor, None, None]:
        """A cursor in a transaction that is durable once the block is left without an error."""
        with self._lock, _worded():
            cursor = self._connection.cursor()
            self._begin(cursor)
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    cursor.execute("ROLLBACK")
                raise
            finally:
                cursor.close()

    def _begin(self, cursor: sqlite3.Cursor) -> None:
        """Begin to write, as soon as no other process does."""
        fresh = time.monotonic() - self._in_vain >= BUSY_SECONDS
        waits = (TOLD_AFTER, BUSY_SECONDS - TOLD_AFTER) if fresh else (AGAIN_SECONDS,)
        for number, seconds in enumerate(waits, 1):
            cursor.execute(f"PRAGMA busy_timeout = {int(1000 * max(seconds, 0))}")
            try:
                cursor.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not _busy(error):
                    raise
                if number == len(waits):
                    self._in_vain = time.monotonic()
                    raise
                if self.waiting is not None:
                    self.waiting()

    def give_back(self) -> None:
        """Give the space of what was deleted back to the disk, when that is worth it; never raises for the disk."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            free, size = (self._number(name) for name in ("freelist_count", "page_size"))
            if free * size < WORTH_GIVING_BACK:
                return
            if self._number("auto_vacuum") == _INCREMENTAL:
                # A plain ``execute`` takes one step of it, which is one page.
                self._connection.executescript("PRAGMA incremental_vacuum")
            else:
                # Made before this was asked for at the beginning: written anew as a whole, once.
                self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                self._connection.execute("VACUUM")

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def secret(self) -> str:
        """32 random hex digits of this workspace, made once; what carries it cannot be forged by a file."""
        wanted = "SELECT value FROM facts WHERE name = 'secret'"
        with self.read() as cursor:
            found = cursor.execute(wanted).fetchone()
        if found is None:
            import secrets  # here, since it is needed once in the life of a workspace

            with self.write() as cursor:
                # Another process may have made one meanwhile.
                cursor.execute("INSERT OR IGNORE INTO facts VALUES ('secret', ?)", (secrets.token_hex(16),))
                found = cursor.execute(wanted).fetchone()
        return str(found["value"])

    def check(self) -> str:
        """The first fault of the whole file, in SQLite's words; empty when there is none."""
        with self.read() as cursor:
            found = str(cursor.execute("PRAGMA quick_check(1)").fetchone()[0])
        return "" if found == "ok" else " ".join(found.split()).rstrip(".")

    def close(self) -> None:
        """Give the file back."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._connection.close()


def parsed(text: str, into: Callable[[Any], T]) -> T:
    """What ``into`` makes of a JSON text that was stored. Raises ``StorageError`` when it is no such text any more."""
    try:
        return into(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError):
        raise StorageError(_DAMAGED) from None


def _busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


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
            return _UNWRITABLE
        case ["CORRUPT" | "NOTADB"]:
            return _DAMAGED
        case ["IOERR"]:
            return (
                f"The steward's database cannot be read or written ({error}); see whether its disk is full or failing, "
                "or set STEWARD_STATE_DIR to another directory."
            )
        case _:
            return f"The steward's database failed ({error}); {_WAY_OUT}"
