"""The append-only, hash-chained log of what happened to changes: digests, never contents."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from typing import Literal

from steward.proposals import Proposal
from steward.storage.clock import now
from steward.storage.database import Database

AuditKind = Literal["proposed", "withdrawn", "shown", "applied", "discarded", "undone"]
"""``withdrawn``: the model took back the last of a change; ``discarded``: the person set it aside."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the log; ``digest`` covers the line and the digest before it."""

    number: int
    at: str
    kind: str
    change: str
    stamp: str
    detail: str
    digest: str


class AuditLog:
    """Reads, extends and checks the log."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, cursor: sqlite3.Cursor, kind: AuditKind, proposal: Proposal) -> str:
        """Add a line within the caller's transaction; gives its digest."""
        detail = json.dumps(
            [[f.action, f.path, f.base_sha256, f.result_sha256] for f in proposal.files],
            separators=(",", ":"),
        )
        last = cursor.execute("SELECT digest FROM audit ORDER BY number DESC LIMIT 1").fetchone()
        previous = str(last["digest"]) if last else ""
        at = now()
        digest = _digest(previous, at, kind, proposal.id, proposal.stamp, detail)
        cursor.execute(
            "INSERT INTO audit (at, kind, change, stamp, detail, previous, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (at, kind, proposal.id, proposal.stamp, detail, previous, digest),
        )
        return digest

    def last(self) -> int:
        """The number of the newest line; 0 when there is none."""
        with self._database.read() as cursor:
            return int(cursor.execute("SELECT coalesce(max(number), 0) FROM audit").fetchone()[0])

    def entries(self, after: int = 0) -> tuple[AuditEntry, ...]:
        """The log, or what follows the line of that number, oldest first."""
        with self._database.read() as cursor:
            rows = cursor.execute("SELECT * FROM audit WHERE number > ? ORDER BY number", (after,)).fetchall()
        return tuple(
            AuditEntry(r["number"], r["at"], r["kind"], r["change"], r["stamp"], r["detail"], r["digest"])
            for r in rows
        )

    def broken(self) -> int | None:
        """The number of the first line that does not follow from the one before it, ``None`` when all do."""
        previous = ""
        for entry in self.entries():
            expected = _digest(previous, entry.at, entry.kind, entry.change, entry.stamp, entry.detail)
            if entry.digest != expected:
                return entry.number
            previous = entry.digest
        return None


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()
