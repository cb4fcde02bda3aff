"""SQLite under the state directory: changes, sessions, trust, the audit log, prompts. All SQL is in this room."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from steward.storage.database import Database

if TYPE_CHECKING:
    from steward.storage.audit import AuditEntry, AuditLog
    from steward.storage.changes import ChangeStore
    from steward.storage.copies import CopyStore
    from steward.storage.prompts import PromptStore
    from steward.storage.sessions import About, SessionMoved, SessionRow, SessionStore

__all__ = [
    "About",
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

_PLACES = {
    "audit": (
        "AuditEntry",
        "AuditLog",
    ),
    "changes": ("ChangeStore",),
    "copies": ("CopyStore",),
    "prompts": ("PromptStore",),
    "sessions": (
        "About",
        "SessionMoved",
        "SessionRow",
        "SessionStore",
    ),
}
"""Where each name is defined; a module is imported when one of its names is asked for."""


def __getattr__(name: str) -> object:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
