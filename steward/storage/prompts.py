"""What the person typed before, and what they typed and have not sent yet."""

from __future__ import annotations

from steward.conversation import clean
from steward.storage.clock import now
from steward.storage.database import Database

KEPT = 2_000


class PromptStore:
    """Prompt history and the draft of one workspace."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
        """Keep what stands in the prompt; an empty text forgets it."""
        with self._database.write() as cursor:
            if text:
                cursor.execute("INSERT OR REPLACE INTO drafts VALUES ('prompt', ?)", (clean(text),))
            else:
                cursor.execute("DELETE FROM drafts WHERE name = 'prompt'")

    def draft(self) -> str:
        """What was typed and not sent."""
        with self._database.read() as cursor:
            row = cursor.execute("SELECT text FROM drafts WHERE name = 'prompt'").fetchone()
        return str(row["text"]) if row else ""
