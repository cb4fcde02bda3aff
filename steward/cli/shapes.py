"""The JSON shapes that other people's scripts rely on: keys may be added, never renamed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from steward.conversation import JsonObject

if TYPE_CHECKING:
    from steward.proposals import Proposal
    from steward.service.views import ChangeView, FileCount, Happening, Review
    from steward.storage import SessionRow


def change(view: ChangeView | Review) -> JsonObject:
    """One row of ``changes --json``, or ``show-change --json`` without its diff."""
    proposal = view.proposal
    return {
        **_head(proposal),
        "stale": bool(view.stale),
        "stale_files": [{"path": stale.path, "reason": stale.reason} for stale in view.stale],
        "overlaps": list(view.overlaps),
        "files": files(proposal, view.counts),
    }


def files(proposal: Proposal, counts: tuple[FileCount, ...]) -> list[JsonObject]:
    """The files of a change with their counted lines and digests."""
    by_path = {count.path: count for count in counts}
    rows: list[JsonObject] = []
    for file in proposal.files:
        count = by_path[file.path]
        row: JsonObject = {
            "path": file.path,
            "action": file.action,
            "added": count.added,
            "removed": count.removed,
            "base_sha256": file.base_sha256,
            "result_sha256": file.result_sha256,
        }
        if file.old_path is not None:
            row["old_path"] = file.old_path
        rows.append(row)
    return rows


def _head(proposal: Proposal) -> JsonObject:
    governing = dict.fromkeys((document.path, document.sha256) for document in proposal.instructions)
    return {
        "id": proposal.id,
        "status": proposal.status,
        "stamp": proposal.stamp,
        "title": proposal.title,
        "created": proposal.created,
        "instructions": [{"path": path, "sha256": sha256} for path, sha256 in governing],
        "model": proposal.model,
        "session": proposal.session,
        "notes": list(proposal.notes),
        "reason": proposal.reason,
    }


def history(lines: list[Happening]) -> list[JsonObject]:
    """What happened to a change, oldest first; digests, never contents."""
    return [{"at": line.at, "kind": line.kind, "stamp": line.stamp} for line in lines]


def session(view: SessionRow) -> JsonObject:
    """One row of ``sessions --json``."""
    return {
        "id": view.id,
        "title": view.title,
        "created": view.created,
        "updated": view.updated,
        "messages": view.messages,
        "model": view.model,
        "parent": view.parent,
    }


def arguments(text: str) -> Any:
    """A call's arguments as JSON, or the text itself when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
