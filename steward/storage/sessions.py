"""Conversations as they are stored: a row for the session and one for each message."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from steward.conversation import JsonObject, Message, clean, from_json, to_json
from steward.errors import Conflict, NoSuchThing, NothingYet, UsageError
from steward.storage.clock import days_ago, now
from steward.storage.database import Database, parsed
from steward.storage.words import found_in

NAMED = 3
"""How many sessions a sentence names at most."""


class SessionMoved(Conflict):
    """Another steward has gone on with the session, or deleted it; nothing was stored."""

    def __init__(self, session: str) -> None:
        self.session = session
        super().__init__(f"The session {session} was gone on with, or deleted, by another steward.")


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
    """All that are stored, also those before a compaction."""
    begins: int = 0
    """Where the messages of the conversation as it is now begin among all that are stored."""
    parent: str = ""
    """The session it was forked from."""


@dataclass(frozen=True, slots=True)
class About:
    """What a session is about by now; a title that it has already stays."""

    title: str
    model: str
    focus: str
    state: JsonObject


class SessionStore:
    """The sessions of one workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, model: str, *, title: str = "", parent: str = "") -> str:
        """A new, empty session; gives its id."""
        session = now()[:10].replace("-", "") + "-" + secrets.token_hex(4)
        with self._database.write() as cursor:
            at = now()
            cursor.execute(
                "INSERT INTO sessions (id, created, updated, model, title, parent) VALUES (?, ?, ?, ?, ?, ?)",
                (session, at, at, model, clean(title), parent),
            )
        return session

    def keep(self, session: str, model: str, *, title: str = "", parent: str = "") -> None:
        """Make an empty session that somebody holds anew where it has expired; does nothing where it is there."""
        with self._database.write() as cursor:
            at = now()
            cursor.execute(
                "INSERT OR IGNORE INTO sessions (id, created, updated, model, title, parent) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (session, at, at, model, clean(title), parent),
            )

    def append(
        self,
        session: str,
        position: int,
        messages: Sequence[Message],
        *,
        begins: int | None = None,
        about: About | None = None,
    ) -> None:
        """Store messages at ``position`` and after it; nothing that stands there is ever rewritten.

        With ``begins`` the conversation begins there from now on, and ``about`` is stored with them or not at all.
        Raises ``SessionMoved`` when something else stands at these positions, or the session is gone.
        """
        if not messages and about is None:
            return
        rows = [(session, position + n, json.dumps(to_json(message))) for n, message in enumerate(messages)]
        with self._database.write() as cursor:
            if cursor.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is None:
                raise SessionMoved(session)
            there = cursor.execute(
                "SELECT position, body FROM messages WHERE session = ? AND position >= ?", (session, position)
            ).fetchall()
            bodies = {number: body for _, number, body in rows}
            if any(bodies.get(row["position"]) != row["body"] for row in there):
                raise SessionMoved(session)
            cursor.executemany("INSERT OR IGNORE INTO messages VALUES (?, ?, ?)", rows)
            cursor.execute(
                "UPDATE sessions SET updated = ?, begins = coalesce(?, begins) WHERE id = ?",
                (now(), begins, session),
            )
            if about is not None:
                cursor.execute(
                    "UPDATE sessions SET title = CASE title WHEN '' THEN ? ELSE title END, model = ?, focus = ?, "
                    "state = ? WHERE id = ?",
                    (clean(about.title), about.model, about.focus, json.dumps(about.state), session),
                )

    def rename(self, session: str, title: str) -> None:
        """Give the session another title; ``NoSuchThing`` when there is no such session."""
        with self._database.write() as cursor:
            cursor.execute("UPDATE sessions SET title = ? WHERE id = ?", (clean(title), session))
            if not cursor.rowcount:
                raise NoSuchThing("session", session)

    def delete(self, session: str) -> None:
        """Delete the session with all its messages; ``NoSuchThing`` when there is no such session."""
        with self._database.write() as cursor:
            cursor.execute("DELETE FROM messages WHERE session = ?", (session,))
            cursor.execute("DELETE FROM sessions WHERE id = ?", (session,))
            if not cursor.rowcount:
                raise NoSuchThing("session", session)

    def expire(self, days: int) -> tuple[str, ...]:
        """Delete the sessions that were last used more than ``days`` ago; gives the ids of those with messages.

        Sessions in which nothing was ever said go after a day.
        """
        old, empty = days_ago(days), days_ago(1)
        with self._database.write() as cursor:
            rows = cursor.execute(f"SELECT id, {_SIZE} AS size FROM sessions s WHERE updated < ?", (old,))
            gone = [(str(row["id"]), int(row["size"])) for row in rows.fetchall()]
            cursor.executemany("DELETE FROM messages WHERE session = ?", [(session,) for session, _ in gone])
            cursor.executemany("DELETE FROM sessions WHERE id = ?", [(session,) for session, _ in gone])
            cursor.execute(
                "DELETE FROM sessions WHERE updated < ? AND id NOT IN (SELECT session FROM messages)",
                (empty,),
            )
        if gone:
            self._database.give_back()
        return tuple(session for session, size in gone if size)

    def messages(self, session: str, *, everything: bool = False) -> tuple[Message, ...]:
        """The messages of the conversation in order; with ``everything`` also those before it was compacted.

        Each stretch of a compacted session begins with a ``System`` message.
        """
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT body FROM messages WHERE session = ? AND position >= "
                "(SELECT CASE WHEN ? THEN 0 ELSE begins END FROM sessions WHERE id = messages.session) "
                "ORDER BY position",
                (session, everything),
            ).fetchall()
        return tuple(parsed(row["body"], from_json) for row in rows)

    def load(self, session: str, *, everything: bool = False) -> tuple[SessionRow, tuple[Message, ...]]:
        """A session and its messages as they are at one moment; ``NoSuchThing`` when there is no such session."""
        with self._database.read():
            return self.get(session), self.messages(session, everything=everything)

    def get(self, session: str) -> SessionRow:
        """The session of that id; ``NoSuchThing`` when there is none."""
        with self._database.read() as cursor:
            row = cursor.execute(f"SELECT s.*, {_SIZE} AS size FROM sessions s WHERE id = ?", (session,))
            found = row.fetchone()
        if found is None:
            raise NoSuchThing("session", session)
        return _row(found)

    def find(self, name: str | None) -> SessionRow:
        """The session whose id is ``name`` or alone begins with it, date or not; the latest one for ``None``.

        Raises ``NoSuchThing``, or ``UsageError`` when several begin with it.
        """
        rows = self.all()
        if name is None:
            if not rows:
                raise NothingYet("session", "No session is stored in this workspace yet.")
            return rows[0]
        wanted = name.strip().lower()
        exact = [row for row in rows if row.id == wanted]
        begin = [row for row in rows if wanted and wanted in _beginnings(row.id, len(wanted))]
        match exact or begin:
            case [row]:
                return row
            case []:
                raise NoSuchThing("session", name, tuple(row.id for row in rows[:NAMED]))
            case several:
                named = ", ".join(row.id for row in several[:NAMED])
                more = " and more" if len(several) > NAMED else ""
                raise UsageError(f"Several sessions begin with {name}: {named}{more}.")

    def all(self) -> tuple[SessionRow, ...]:
        """Sessions that hold a message, the latest first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                f"SELECT s.*, {_SIZE} AS size FROM sessions s ORDER BY updated DESC, created DESC, id DESC"
            ).fetchall()
        return tuple(_row(row) for row in rows if row["size"])

    def search(self, words: str) -> tuple[tuple[SessionRow, str], ...]:
        """Sessions whose title, or one of whose questions or answers, holds all the words; the latest first.

        With each the place where they were found, on one line; case does not count.
        """
        wanted = tuple(words.casefold().split())
        found: list[tuple[SessionRow, str]] = []
        for row in self.all():
            if (place := found_in(row.title, wanted)) is not None:
                found.append((row, place))
                continue
            with self._database.read() as cursor:
                bodies = cursor.execute(
                    "SELECT body FROM messages WHERE session = ? AND "
                    "json_extract(body, '$.kind') IN ('user', 'assistant') ORDER BY position DESC",
                    (row.id,),
                )
                for stored in bodies:
                    text = parsed(stored["body"], from_json).text
                    if (place := found_in(text, wanted)) is not None:
                        found.append((row, place))
                        break
        return tuple(found)


_SIZE = "(SELECT count(*) FROM messages m WHERE m.session = s.id)"


def _beginnings(session: str, length: int) -> tuple[str, ...]:
    """The id and its random part, cut to that length."""
    return session[:length], session.partition("-")[2][:length]


def _row(row: sqlite3.Row) -> SessionRow:
    return SessionRow(
        row["id"],
        row["title"],
        row["created"],
        row["updated"],
        row["model"],
        row["focus"],
        parsed(row["state"], dict),
        row["size"],
        row["begins"],
        row["parent"],
    )
