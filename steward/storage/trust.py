"""Which place the person trusted, and the exact texts they accepted there."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steward.storage.clock import now
from steward.storage.database import Database, parsed


@dataclass(frozen=True, slots=True)
class Place:
    """A directory as a person means it: its real path, and which directory stands there."""

    path: str
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A text that the person accepted, kept whole so that a later one can be compared with it."""

    kind: str
    path: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Hex digest of the text."""
        return hashlib.sha256(self.data).hexdigest()


class TrustStore:
    """Trust in one workspace. It stands in the state directory, out of the repository's reach."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def place(self) -> Place | None:
        """The place that was trusted, ``None`` when none was."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT path, device, inode FROM trust").fetchone()
        return Place(str(row["path"]), int(row["device"]), int(row["inode"])) if row else None

    def accepted(self) -> tuple[Accepted, ...]:
        """The texts that were accepted, by kind and path."""
        with self._database.read() as cursor:
            rows = cursor.execute("SELECT kind, path, data FROM trusted_texts ORDER BY kind, path").fetchall()
        return tuple(Accepted(str(row["kind"]), str(row["path"]), bytes(row["data"])) for row in rows)

    def trust(self, place: Place, texts: Iterable[Accepted], gone: Iterable[tuple[str, str]] = ()) -> None:
        """Trust the place with these texts besides those accepted before, which end with another place.

        ``gone`` are kinds and paths that are no longer there.
        """
        with self._database.write() as cursor:
            row = cursor.execute("SELECT path, inode FROM trust").fetchone()
            if row is not None and (row["path"], row["inode"]) != (place.path, place.inode):
                cursor.execute("DELETE FROM trusted_texts")
            cursor.execute("DELETE FROM trust")
            cursor.execute(
                "INSERT INTO trust VALUES (?, ?, ?, ?)", (place.path, place.device, place.inode, now())
            )
            cursor.executemany("DELETE FROM trusted_texts WHERE kind = ? AND path = ?", list(gone))
            cursor.executemany(
                "INSERT OR REPLACE INTO trusted_texts VALUES (?, ?, ?)",
                [(text.kind, text.path, text.data) for text in texts],
            )

    def decided(self) -> bool:
        """Whether the person was asked at all, whatever they said."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT 1 FROM facts WHERE name = 'trust-decided'").fetchone()
        return row is not None or self.place() is not None

    def decline(self, place: Place, digests: Mapping[str, str]) -> None:
        """The person was asked about these texts (digests by ``kind:path``) and went on without them."""
        with self._database.write() as cursor:
            _decline(cursor, place, digests)

    def declined(self, place: Place) -> Mapping[str, str] | None:
        """The texts of that very place that the person went on without; ``None`` when they never did."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT value FROM facts WHERE name = 'trust-declined'").fetchone()
        shape: dict[str, Any] = parsed(row["value"], dict) if row is not None else {}
        if (shape.get("path"), shape.get("inode")) != (place.path, place.inode):
            return None
        return dict(shape["digests"])

    def forget(self, place: Place) -> None:
        """Trust nothing here any more; the person need not be asked again by itself."""
        with self._database.write() as cursor:
            _decline(cursor, place, {})
            cursor.execute("DELETE FROM trust")
            cursor.execute("DELETE FROM trusted_texts")


def _decline(cursor: sqlite3.Cursor, place: Place, digests: Mapping[str, str]) -> None:
    shape = {"path": place.path, "inode": place.inode, "digests": dict(digests)}
    cursor.execute("INSERT OR REPLACE INTO facts VALUES ('trust-decided', 'no')")
    cursor.execute("INSERT OR REPLACE INTO facts VALUES ('trust-declined', ?)", (json.dumps(shape),))
