"""SQLite under the state directory: changes, sessions, the audit log, prompt history. All SQL is in this room."""

from steward.storage.audit import AuditEntry, AuditLog
from steward.storage.changes import ChangeStore
from steward.storage.copies import CopyStore
from steward.storage.database import Database
from steward.storage.prompts import PromptStore
from steward.storage.sessions import SessionMoved, SessionRow, SessionStore

__all__ = [
    "AuditEntry",
    "AuditLog",
    "ChangeStore",
    "CopyStore",
    "Database",
    "PromptStore",
    "SessionMoved",
    "SessionRow",
    "SessionStore",
]
