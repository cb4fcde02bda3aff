"""What the person typed before, and what they typed and have not sent yet."""

from __future__ import annotations

import secrets

from steward.conversation import clean
from steward.storage.clock import now
from steward.storage.database import Database

KEPT = 2_000
KEPT_DRAFTS = 20


class PromptStore:
    """Prompt history of one workspace, and the draft of one steward in it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._own = f"prompt-{secrets.token_hex(8)}"
        """Stewards that are open at the same time do not write over each other's drafts."""
        self._taken = ""

    def remember(self, text: str) -> None:
        """Add to the history; the same text twice in a row is kept once."""
        with self._database.write() as cursor:
            last = cursor.execute("SELECT text FROM prompts ORDER BY number DESC LIMIT 1").fetchone()
            if last is None or last["text"] != clean(text):
                cursor.execute("INSERT INTO prompts (at, text) VALUES (?, ?)", (now(), clean(text)))
                cursor.execute(
                    "DELETE FROM prompts WHERE number <= (SELECT max(number) FROM prompts) - ?", (KEPT,)
                )

    def history(self, limit: int) -> tuple[str, ...]:
        """The last ``limit`` prompts, oldest first."""
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT text FROM prompts ORDER BY number DESC LIMIT ?", (limit,)
            ).fetchall()
        return tuple(str(row["text"]) for row in reversed(rows))

    def keep_draft(self, text: str) -> None:
        """Keep what stands in the prompt, in the place of the ``draft`` that was taken up; an empty text forgets it."""
        with self._database.write() as cursor:
            cursor.execute("DELETE FROM drafts WHERE name IN (?, ?)", (self._own, self._taken))
            if text:
                cursor.execute("INSERT INTO drafts VALUES (?, ?)", (self._own, clean(text)))
                cursor.execute(
                    "DELETE FROM drafts WHERE rowid <= (SELECT max(rowid) FROM drafts) - ?", (KEPT_DRAFTS,)
                )

    def draft(self) -> str:
        """What was typed last and not sent, here or in another steward that is open or was."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT name, text FROM drafts ORDER BY rowid DESC LIMIT 1").fetchone()
        if row is None:
            return ""
        self._taken = str(row["name"])
        return str(row["text"])
