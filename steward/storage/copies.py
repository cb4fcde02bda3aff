"""Last good copies of what was fetched."""

from __future__ import annotations

import time
from dataclasses import dataclass

from steward.storage.database import Database


@dataclass(frozen=True, slots=True)
class Copy:
    """What a URL gave, and when (seconds since 1970)."""

    data: bytes
    at: float


class CopyStore:
    """One copy per URL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, url: str) -> Copy | None:
        """The last good copy."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT data, at FROM copies WHERE url = ?", (url,)).fetchone()
        return Copy(row["data"], row["at"]) if row else None

    def put(self, url: str, data: bytes) -> None:
        """Keep what was fetched just now."""
        with self._database.write() as cursor:
            cursor.execute("INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", (url, data, time.time()))
