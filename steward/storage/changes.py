"""Proposals that outlive the process: put, got, listed, and moved from one status to the next."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from steward.conversation import clean
from steward.errors import NoSuchThing, WrongStatus
from steward.proposals import Edit, FileChange, Governing, Proposal, Status
from steward.storage.audit import AuditLog
from steward.storage.clock import now
from steward.storage.database import Database


class ChangeStore:
    """The changes of one workspace. Every move is written to the audit log in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._audit = AuditLog(database)

    def next_id(self) -> str:
        """Reserve the next number; numbers are never used twice, also across processes."""
        with self._database.write() as cursor:
            number = cursor.execute("SELECT coalesce(max(number), 0) + 1 FROM changes").fetchone()[0]
            change = f"change-{number:03d}"
            at = now()
            cursor.execute(
                "INSERT INTO changes (number, id, status, created, updated) VALUES (?, ?, 'reserved', ?, ?)",
                (number, change, at, at),
            )
        return change

    def put(self, proposal: Proposal) -> None:
        """Store a proposal, new or amended, whole; its id was reserved by ``next_id``.

        It is pending, or discarded when the model took back all of it. Raises ``WrongStatus`` when the change was
        applied, discarded or undone meanwhile.
        """
        with self._database.write() as cursor:
            row = cursor.execute("SELECT status FROM changes WHERE id = ?", (proposal.id,)).fetchone()
            if row is None:
                raise NoSuchThing("change", proposal.id)
            if row["status"] not in ("reserved", "pending"):
                raise WrongStatus(proposal.id, str(row["status"]), "amended")
            cursor.execute(
                "UPDATE changes SET status = ?, title = ?, created = ?, updated = ?, workspace = ?, "
                "session = ?, model = ?, stamp = ?, reason = ?, notes = ? WHERE id = ?",
                (
                    proposal.status,
                    clean(proposal.title),
                    proposal.created,
                    now(),
                    proposal.workspace,
                    proposal.session,
                    proposal.model,
                    proposal.stamp,
                    clean(proposal.reason),
                    json.dumps(proposal.notes),
                    proposal.id,
                ),
            )
            cursor.execute("DELETE FROM change_files WHERE change = ?", (proposal.id,))
            cursor.execute("DELETE FROM change_instructions WHERE change = ?", (proposal.id,))
            cursor.executemany(
                "INSERT INTO change_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        proposal.id,
                        position,
                        file.path,
                        file.action,
                        file.old_path,
                        file.base,
                        file.result,
                        file.base_mode,
                        file.result_mode,
                        json.dumps([[edit.old, edit.new] for edit in file.edits]),
                    )
                    for position, file in enumerate(proposal.files)
                ],
            )
            cursor.executemany(
                "INSERT INTO change_instructions VALUES (?, ?, ?, ?, ?)",
                [
                    (proposal.id, position, governing.file, governing.path, governing.sha256)
                    for position, governing in enumerate(proposal.instructions)
                ],
            )
            self._audit.record(
                cursor, "proposed" if proposal.status == "pending" else proposal.status, proposal
            )

    def get(self, change: str) -> Proposal:
        """The change of that id; ``NoSuchThing`` when there is none."""
        with self._database.read() as cursor:
            row = cursor.execute(
                "SELECT * FROM changes WHERE id = ? AND status != 'reserved'", (change,)
            ).fetchone()
            if row is None:
                known = cursor.execute("SELECT id FROM changes WHERE status = 'pending'").fetchall()
                raise NoSuchThing("change", change, tuple(str(r["id"]) for r in known[-3:]))
            return _proposal(cursor, row)

    def pending(self) -> tuple[Proposal, ...]:
        """Pending changes, oldest first."""
        return self._select("status = 'pending'")

    def everything(self) -> tuple[Proposal, ...]:
        """All changes, oldest first."""
        return self._select("status != 'reserved'")

    def move(
        self, change: str, to: Status, *, reason: str = "", allowed: Iterable[Status] = ("pending",)
    ) -> Proposal:
        """Set the status and say so in the audit log; ``WrongStatus`` unless it is one of ``allowed`` now."""
        with self._database.write() as cursor:
            row = cursor.execute(
                "SELECT * FROM changes WHERE id = ? AND status != 'reserved'", (change,)
            ).fetchone()
            if row is None:
                raise NoSuchThing("change", change)
            if row["status"] not in tuple(allowed):
                raise WrongStatus(change, str(row["status"]), to)
            cursor.execute(
                "UPDATE changes SET status = ?, reason = ?, updated = ? WHERE id = ?",
                (to, clean(reason), now(), change),
            )
            row = cursor.execute("SELECT * FROM changes WHERE id = ?", (change,)).fetchone()
            proposal = _proposal(cursor, row)
            self._audit.record(cursor, to, proposal)
            return proposal

    def shown(self, proposal: Proposal) -> None:
        """Write to the audit log that a person was shown the diff under this stamp."""
        with self._database.write() as cursor:
            self._audit.record(cursor, "shown", proposal)

    def _select(self, condition: str) -> tuple[Proposal, ...]:
        with self._database.read() as cursor:
            rows = cursor.execute(f"SELECT * FROM changes WHERE {condition} ORDER BY number").fetchall()
            return tuple(_proposal(cursor, row) for row in rows)


def _proposal(cursor: sqlite3.Cursor, row: sqlite3.Row) -> Proposal:
    change = str(row["id"])
    files = cursor.execute(
        "SELECT * FROM change_files WHERE change = ? ORDER BY position", (change,)
    ).fetchall()
    governing = cursor.execute(
        "SELECT * FROM change_instructions WHERE change = ? ORDER BY position", (change,)
    ).fetchall()
    return Proposal(
        id=change,
        title=row["title"],
        created=row["created"],
        files=tuple(_file(file) for file in files),
        workspace=row["workspace"],
        status=cast(Status, row["status"]),
        instructions=tuple(Governing(g["file"], g["path"], g["sha256"]) for g in governing),
        session=row["session"],
        model=row["model"],
        notes=tuple(json.loads(row["notes"])),
        reason=row["reason"],
    )


def _file(row: sqlite3.Row) -> FileChange:
    edits = cast(list[list[Any]], json.loads(row["edits"]))
    return FileChange(
        path=row["path"],
        action=row["action"],
        base=row["base"],
        result=row["result"],
        base_mode=row["base_mode"],
        result_mode=row["result_mode"],
        old_path=row["old_path"],
        edits=tuple(Edit(str(old), str(new)) for old, new in edits),
    )
