"""Conversations as they are stored: a row for the session and one for each message."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from steward.conversation import JsonObject, Message, clean, from_json, to_json
from steward.errors import NoSuchThing
from steward.storage.clock import now
from steward.storage.database import Database


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session without its messages; ``state`` holds what its rooms want back when it is resumed."""

    id: str
    title: str
    created: str
    updated: str
    model: str
    focus: str
    state: JsonObject
    messages: int


class SessionStore:
    """The sessions of one workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, model: str) -> str:
        """A new, empty session; gives its id."""
        session = now()[:10].replace("-", "") + "-" + secrets.token_hex(4)
        with self._database.write() as cursor:
            at = now()
            cursor.execute(
                "INSERT INTO sessions (id, created, updated, model) VALUES (?, ?, ?, ?)",
                (session, at, at, model),
            )
        return session

    def append(self, session: str, position: int, messages: Sequence[Message]) -> None:
        """Store messages at ``position`` and after it; what stands there already stays as it is."""
        if not messages:
            return
        with self._database.write() as cursor:
            cursor.executemany(
                "INSERT OR IGNORE INTO messages VALUES (?, ?, ?)",
                [(session, position + n, json.dumps(to_json(message))) for n, message in enumerate(messages)],
            )
            cursor.execute("UPDATE sessions SET updated = ? WHERE id = ?", (now(), session))

    def update(self, session: str, *, title: str, model: str, focus: str, state: JsonObject) -> None:
        """Store what the session is about now."""
        with self._database.write() as cursor:
            cursor.execute(
                "UPDATE sessions SET title = ?, model = ?, focus = ?, state = ?, updated = ? WHERE id = ?",
                (clean(title), model, focus, json.dumps(state), now(), session),
            )

    def messages(self, session: str) -> tuple[Message, ...]:
        """All messages, in order."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT body FROM messages WHERE session = ? ORDER BY position", (session,)
            ).fetchall()
        return tuple(from_json(cast(JsonObject, json.loads(row["body"]))) for row in rows)

    def get(self, session: str) -> SessionRow:
        """The session of that id; ``NoSuchThing`` when there is none."""
        found = [row for row in self.all() if row.id == session]
        if not found:
            raise NoSuchThing("session", session)
        return found[0]

    def all(self) -> tuple[SessionRow, ...]:
        """Sessions that hold a question, the latest first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT s.*, (SELECT count(*) FROM messages m WHERE m.session = s.id) AS size "
                "FROM sessions s ORDER BY updated DESC, created DESC, id DESC"
            ).fetchall()
        return tuple(
            SessionRow(
                r["id"],
                r["title"],
                r["created"],
                r["updated"],
                r["model"],
                r["focus"],
                cast(JsonObject, json.loads(r["state"])),
                r["size"],
            )
            for r in rows
            if r["size"]
        )
