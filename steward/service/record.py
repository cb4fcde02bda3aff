"""The place on disk of one conversation: which of its messages are stored, and where."""

from __future__ import annotations

import json
import threading

from steward.conversation import Conversation, JsonObject
from steward.storage import About, SessionMoved, SessionRow, SessionStore


class Record:
    """Stores a conversation as it grows. Its session is made when there is something to store."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self.session = ""
        """The stored session; empty until there is one."""
        self.parent = ""
        """The session that this one was forked from."""
        self._base = 0
        self._saved = 0
        self._state = ""

    def begin(self, model: str, title: str) -> None:
        """Make sure that there is a session; one that was only begun, as by an editor, may have expired since.

        Blocks for one durable write.
        """
        with self._lock:
            if not self.session:
                self.session = self._store.create(model, title=title, parent=self.parent)
            elif not self._base + self._saved:
                self._store.keep(self.session, model, title=title, parent=self.parent)

    def take_up(self, row: SessionRow, messages: int) -> None:
        """Go on with a stored session that has so many messages from where its conversation begins."""
        self.session, self._base, self._saved = row.id, row.begins, messages

    def begin_anew(self) -> None:
        """The conversation was replaced by a new one; the messages of the old one, all saved, stay before it."""
        self._base += self._saved
        self._saved = 0

    def save(self, conversation: Conversation, title: str, model: str, focus: str, state: JsonObject) -> str:
        """Store what is new; does nothing when nothing is. Gives a sentence for the person, empty for none.

        Where another steward has gone on with the session or deleted it, all goes to a new session.
        """
        if not self.session:
            return ""
        with self._lock:
            fresh = conversation.messages[self._saved :]
            text = json.dumps(state)
            if not fresh and text == self._state:
                return ""
            sentence, about = "", About(title, model, focus, state)
            try:
                self._append(conversation, about)
            except SessionMoved as moved:
                if fresh:
                    self.parent = moved.session
                    self.session = self._store.create(model, title=title, parent=self.parent)
                    self._base = self._saved = 0
                    self._append(conversation, about)
                    sentence = f"{moved} This conversation is kept as session {self.session} from here on."
                # Else nothing is lost: the session is about what the other steward has made of it.
            self._state = text
            return sentence

    def _append(self, conversation: Conversation, about: About) -> None:
        fresh = conversation.messages[self._saved :]
        self._store.append(self.session, self._base + self._saved, fresh, begins=self._base, about=about)
        self._saved += len(fresh)
