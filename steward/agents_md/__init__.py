"""AGENTS.md for any Python program: which instruction documents govern a path, and how to hand them to a model.

    resolver = Resolver("path/to/repository")
    resolution = resolver.resolve("services/billing/tax.py")
    messages = resolver.augment(messages, "services/billing/tax.py")

The standard library is all it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steward.agents_md.document import Document, LimitReached, Resolution, Skipped, tokens_in
from steward.agents_md.files import Calls, Disk, FileSystem, Folder
from steward.agents_md.resolver import Resolver
from steward.agents_md.settings import Settings, user_locations

if TYPE_CHECKING:
    from steward.agents_md.ignored import override_notice
    from steward.agents_md.memory import Link, Memory
    from steward.agents_md.messages import augment
    from steward.agents_md.remote import RemoteDocument

__all__ = [
    "Calls",
    "Disk",
    "Document",
    "FileSystem",
    "Folder",
    "LimitReached",
    "Link",
    "Memory",
    "RemoteDocument",
    "Resolution",
    "Resolver",
    "Settings",
    "Skipped",
    "augment",
    "override_notice",
    "tokens_in",
    "user_locations",
]

_LATER = {
    "Link": "memory",
    "Memory": "memory",
    "RemoteDocument": "remote",
    "augment": "messages",
    "override_notice": "ignored",
}


def __getattr__(name: str) -> Any:
    """What few programs need is imported when it is asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
