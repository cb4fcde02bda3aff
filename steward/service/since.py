"""What changed in the project's instructions since a conversation was told them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steward.agents_md import Resolver
from steward.visible import line


def changed_since(resolver: Resolver, given: Iterable[Mapping[str, Any]], focus: str) -> tuple[str, ...]:
    """Sentences for the person: which of the documents ``given`` are not on disk as they were, and which are new.

    ``given`` is what a briefing keeps of each document: its path, its scope and its digest.
    """
    if not resolver.resolve(focus).enabled:
        return ()
    known = {str(item["path"]): item for item in given}
    if not known:
        return ()
    scopes = dict.fromkeys(str(item["scope"]) for item in known.values())
    here = {
        document.path: document for scope in scopes for document in resolver.resolve(f"{scope}/").documents
    }
    now = {document.path: document for document in resolver.resolve(focus).documents}
    said = [
        *(f"{line(path)} changed" for path, item in known.items() if _differs(here.get(path), item)),
        *(f"{line(path)} is gone" for path in known if path not in here),
        *(f"{line(path)} is new" for path in now if path not in known),
    ]
    if not said:
        return ()
    many = f"{', '.join(said[:-1])} and {said[-1]}" if len(said) > 1 else said[0]
    return (
        f"Since this session was last told its instructions, {many}; the model is told when it next works there.",
    )


def _differs(document: Any, item: Mapping[str, Any]) -> bool:
    return document is not None and document.sha256 != item["sha256"]
