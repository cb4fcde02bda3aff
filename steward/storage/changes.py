"""Proposals that outlive the process: put, got, listed, and moved from one status to the next."""

from __future__ import annotations

import json
import sqlite3
from contextlib import AbstractContextManager
from typing import Any, Literal, cast

from steward.conversation import clean
from steward.errors import NoSuchThing, StampMismatch, WrongStatus
from steward.proposals import Edit, FileChange, Governing, Proposal, Remains, Status, counts, short
from steward.storage.audit import AuditKind, AuditLog
from steward.storage.clock import days_ago, now
from steward.storage.database import Database, parsed
from steward.storage.readings import ReadingStore, forget, put_aside

FINISHED = ("applied", "discarded", "undone")


class ChangeStore:
    """The changes of one workspace. Every move is written to the audit log in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.audit = AuditLog(database)
        self.readings = ReadingStore(database)
        self.recorded: set[str] = set()
        """Digests of the audit lines that came from here, and not from another process."""

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

    def put(self, proposal: Proposal, read: Proposal | None = None) -> None:
        """Store a proposal, new or amended, whole; its id was reserved by ``next_id``.

        It is pending, or discarded when the model took back all of it. Raises ``WrongStatus`` when the change was
        applied, discarded or undone meanwhile, and ``StampMismatch`` when it is no longer ``read``, which was amended.
        """
        with self._database.write() as cursor:
            row = cursor.execute("SELECT status, stamp FROM changes WHERE id = ?", (proposal.id,)).fetchone()
            if row is None:
                raise NoSuchThing("change", proposal.id)
            if row["status"] not in ("reserved", "pending"):
                raise WrongStatus(proposal.id, str(row["status"]), "amended")
            if read is not None and row["stamp"] != read.stamp:
                raise StampMismatch(proposal.id, read.short_stamp, short(row["stamp"]))
            _write(cursor, proposal)
            self._record(cursor, "proposed" if proposal.status == "pending" else "withdrawn", proposal)

    def settle(self, proposal: Proposal, to: Literal["applied", "undone"]) -> None:
        """Record what is on the disk by now: exactly this proposal, whatever another process stored meanwhile."""
        with self._database.write() as cursor:
            row = cursor.execute("SELECT status, stamp FROM changes WHERE id = ?", (proposal.id,)).fetchone()
            if row is None:
                raise NoSuchThing("change", proposal.id)
            if (row["status"], row["stamp"]) == (to, proposal.stamp) or row["status"] == "undone":
                return
            if row["stamp"] != proposal.stamp:
                _write(cursor, proposal)
            forget(cursor, proposal.id)
            cursor.execute(
                "UPDATE changes SET status = ?, reason = '', updated = ? WHERE id = ?",
                (to, now(), proposal.id),
            )
            self._record(cursor, to, proposal)

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

    def stored(self, change: str) -> bool:
        """Whether there is a change of that id, not only the id."""
        with self._database.read() as cursor:
            cursor.execute("SELECT 1 FROM changes WHERE id = ? AND status != 'reserved'", (change,))
            return cursor.fetchone() is not None

    def pending(self) -> tuple[Proposal, ...]:
        """Pending changes, oldest first."""
        return self._select("status = 'pending'")

    def everything(self) -> tuple[Proposal, ...]:
        """All changes, oldest first."""
        return self._select("status != 'reserved'")

    def listed(self) -> tuple[Proposal, ...]:
        """All changes, oldest first; finished ones without the bytes of their files, as if these were not kept."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT DISTINCT c.id FROM changes c JOIN change_files f ON f.change = c.id "
                f"WHERE c.status IN {FINISHED} AND NOT EXISTS "
                "(SELECT 1 FROM change_remains r WHERE r.change = c.id) AND NOT EXISTS "
                "(SELECT 1 FROM change_sums s WHERE s.change = c.id)"
            ).fetchall()
        for row in rows:
            self._sum_up(str(row["id"]))
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT * FROM changes WHERE status != 'reserved' ORDER BY number"
            ).fetchall()
            return tuple(_proposal(cursor, row, whole=row["status"] not in FINISHED) for row in rows)

    def _sum_up(self, change: str) -> None:
        """Keep what a list shows of a finished change."""
        proposal = self.get(change)
        if not proposal.kept:
            return  # Another process has let its bytes go, and has kept the same before.
        sums = _sums(proposal)
        with self._database.write() as cursor:
            # Another process may have done the same, or have stored what is really on the disk.
            row = cursor.execute("SELECT stamp FROM changes WHERE id = ?", (change,)).fetchone()
            if row is not None and row["stamp"] == proposal.stamp:
                cursor.executemany("INSERT OR IGNORE INTO change_sums VALUES (?, ?, ?, ?, ?, ?)", sums)

    def discard(self, change: str, reason: str = "") -> Proposal:
        """Set a pending change aside. Raises ``WrongStatus`` when it is decided on already."""
        with self._database.write() as cursor:
            row = cursor.execute(
                "SELECT * FROM changes WHERE id = ? AND status != 'reserved'", (change,)
            ).fetchone()
            if row is None:
                raise NoSuchThing("change", change)
            if row["status"] != "pending":
                raise WrongStatus(change, str(row["status"]), "discarded")
            cursor.execute(
                "UPDATE changes SET status = 'discarded', reason = ?, updated = ? WHERE id = ?",
                (clean(reason), now(), change),
            )
            forget(cursor, change)
            row = cursor.execute("SELECT * FROM changes WHERE id = ?", (change,)).fetchone()
            proposal = _proposal(cursor, row)
            self._record(cursor, "discarded", proposal)
            return proposal

    def shown(self, proposal: Proposal) -> None:
        """Write to the audit log that a person was shown the diff under this stamp."""
        with self._database.write() as cursor:
            self._record(cursor, "shown", proposal)

    def statuses(self) -> dict[str, Status]:
        """The status of every change, by id, oldest first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT id, status FROM changes WHERE status != 'reserved' ORDER BY number"
            ).fetchall()
        return {str(row["id"]): cast(Status, row["status"]) for row in rows}

    def titles(self) -> tuple[tuple[str, Status, str], ...]:
        """Id, status and title of every change, the newest first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT id, status, title FROM changes WHERE status != 'reserved' ORDER BY number DESC"
            ).fetchall()
        return tuple((str(row["id"]), cast(Status, row["status"]), str(row["title"])) for row in rows)

    def stamps(self) -> dict[str, tuple[Status, str]]:
        """Status and stamp of every change as stored, by id; the stamp is that of the bytes while they are kept."""
        return {p.id: (p.status, p.stamp) for p in self.everything()}

    def prune(self, keep_days: int, keep_bytes: int) -> tuple[str, ...]:
        """Let go of the bytes of finished changes, the oldest first; gives their ids.

        What goes is all that was finished more than ``keep_days`` ago, and of the rest as much as is needed for
        their bases and results to be no more than ``keep_bytes``. Rows, digests and counts stay.
        """
        before = days_ago(keep_days)
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT c.id, c.updated, "
                "sum(coalesce(length(f.base), 0) + coalesce(length(f.result), 0)) AS bytes "
                "FROM changes c JOIN change_files f ON f.change = c.id "
                f"WHERE c.status IN {FINISHED} AND NOT EXISTS "
                "(SELECT 1 FROM change_remains r WHERE r.change = c.id) "
                "GROUP BY c.id ORDER BY c.updated, c.number"
            ).fetchall()
        kept = sum(int(row["bytes"]) for row in rows)
        gone: list[sqlite3.Row] = []
        for row in rows:
            if row["updated"] > before and kept <= keep_bytes:
                break
            kept -= int(row["bytes"])
            gone.append(row)
        done = tuple(row["id"] for row in gone if self._let_go(row["id"], row["updated"]))
        if done:
            self._database.give_back()
        return done

    def _let_go(self, change: str, updated: str) -> bool:
        """Whether it was let go: not when another process has done that, or has undone the change, meanwhile."""
        remains = _sums(self.get(change))
        with self._database.write() as cursor:
            cursor.execute(
                "SELECT 1 FROM changes c WHERE c.id = ? AND c.updated = ? AND NOT EXISTS "
                "(SELECT 1 FROM change_remains r WHERE r.change = c.id)",
                (change, updated),
            )
            if cursor.fetchone() is None:
                return False
            cursor.executemany("INSERT INTO change_remains VALUES (?, ?, ?, ?, ?, ?)", remains)
            cursor.execute(
                "UPDATE change_files SET base = NULL, result = NULL, edits = '[]' WHERE change = ?", (change,)
            )
        return True

    def at_one_moment(self) -> AbstractContextManager[object]:
        """What is read of changes and log in this block is of one moment, whatever other processes do meanwhile."""
        return self._database.read()

    def _record(self, cursor: sqlite3.Cursor, kind: AuditKind, proposal: Proposal) -> None:
        self.recorded.add(self.audit.record(cursor, kind, proposal))

    def _select(self, condition: str) -> tuple[Proposal, ...]:
        with self._database.read() as cursor:
            rows = cursor.execute(f"SELECT * FROM changes WHERE {condition} ORDER BY number").fetchall()
            return tuple(_proposal(cursor, row) for row in rows)


def _write(cursor: sqlite3.Cursor, proposal: Proposal) -> None:
    """Store all of a proposal in place of what stands under its id."""
    if proposal.status == "pending":
        put_aside(cursor, proposal.id, proposal.stamp)
    else:
        forget(cursor, proposal.id)
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
    cursor.execute("DELETE FROM change_sums WHERE change = ?", (proposal.id,))
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


_WHOLE = (
    "SELECT f.*, r.change AS pruned, r.base_sha256, r.result_sha256, r.added, r.removed "
    "FROM change_files f LEFT JOIN change_remains r ON r.change = f.change AND r.position = f.position "
    "WHERE f.change = ? ORDER BY f.position"
)
_SUMMED_UP = (
    "SELECT f.path, f.action, f.old_path, NULL AS base, NULL AS result, f.base_mode, f.result_mode, '[]' AS edits, "
    "f.change AS pruned, r.base_sha256, r.result_sha256, r.added, r.removed FROM change_files f JOIN "
    "(SELECT * FROM change_remains UNION SELECT * FROM change_sums) r "
    "ON r.change = f.change AND r.position = f.position WHERE f.change = ? ORDER BY f.position"
)


def _sums(proposal: Proposal) -> list[tuple[Any, ...]]:
    """What is shown of each file without its bytes, as rows."""
    return [
        (proposal.id, number, file.base_sha256, file.result_sha256, *counts(file))
        for number, file in enumerate(proposal.files)
    ]


def _proposal(cursor: sqlite3.Cursor, row: sqlite3.Row, *, whole: bool = True) -> Proposal:
    change = str(row["id"])
    files = [] if whole else cursor.execute(_SUMMED_UP, (change,)).fetchall()
    # Another process may have finished the change after others were summed up.
    files = files or cursor.execute(_WHOLE, (change,)).fetchall()
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
        notes=parsed(row["notes"], tuple),
        reason=row["reason"],
    )


def _file(row: sqlite3.Row) -> FileChange:
    return FileChange(
        path=row["path"],
        action=row["action"],
        base=row["base"],
        result=row["result"],
        base_mode=row["base_mode"],
        result_mode=row["result_mode"],
        old_path=row["old_path"],
        edits=parsed(row["edits"], _edits),
        remains=None if row["pruned"] is None else _remains(row),
    )


def _edits(pairs: list[list[Any]]) -> tuple[Edit, ...]:
    return tuple(Edit(str(old), str(new)) for old, new in pairs)


def _remains(row: sqlite3.Row) -> Remains:
    return Remains(row["base_sha256"], row["result_sha256"], row["added"], row["removed"])
