"""What the audit log tells: to a person the history of changes, to a model what the person did meanwhile."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from steward.service.views import FileDigests, Happening, History

if TYPE_CHECKING:
    from steward.proposals import Action
    from steward.storage import AuditEntry, ChangeStore

_STATUS = {
    "proposed": "pending",
    "withdrawn": "discarded",
    "applied": "applied",
    "discarded": "discarded",
    "undone": "undone",
}
"""What a change is after each kind of line."""


def history(store: ChangeStore, change: str | None = None) -> History:
    """The lines of one change or of all, oldest first, with what was found when the whole log was checked."""
    with store.at_one_moment():
        entries = store.audit.entries()
        broken, contradicted = store.audit.broken(), tuple(_contradicted(store, entries))
    lines = tuple(_happening(entry) for entry in entries if change in (None, entry.change))
    return History(lines, broken, contradicted)


def news(store: ChangeStore, after: int) -> Iterator[str]:
    """What other processes did to changes after that line of the log, as sentences for a model."""
    for entry in store.audit.entries(after):
        if entry.digest not in store.recorded:
            yield from _sentence(store, entry)


def missed(store: ChangeStore, since: str, held: str) -> tuple[str, ...]:
    """What was done to changes since a time (ISO 8601 in UTC) and is not told in the text ``held``."""
    told = Counter[str]()
    found: list[str] = []
    for entry in store.audit.entries():
        for sentence in _sentence(store, entry) if entry.at >= since else ():
            told[sentence] += 1
            if told[sentence] > held.count(sentence):
                found.append(sentence)
    return tuple(found)


def _sentence(store: ChangeStore, entry: AuditEntry) -> Iterator[str]:
    match entry.kind:
        case "applied":
            yield f"The person applied {entry.change}."
        case "undone":
            yield f"The person undid {entry.change}: its files are as they were before it."
        case "discarded":
            reason = " ".join(store.get(entry.change).reason.split())
            yield f"The person discarded {entry.change}{', saying: ' if reason else ''}{reason}."
        case _:
            pass


def _happening(entry: AuditEntry) -> Happening:
    return Happening(entry.number, entry.at, entry.kind, entry.change, entry.stamp, _files(entry.detail))


def _files(detail: str) -> tuple[FileDigests, ...]:
    """What a line tells of files; nothing where somebody altered it, which the check of the log finds."""
    try:
        rows = cast(list[list[str | None]], json.loads(detail))
        return tuple(
            FileDigests(str(p), cast("Action", action), base, result) for action, p, base, result in rows
        )
    except (ValueError, TypeError):
        return ()


def _contradicted(store: ChangeStore, entries: tuple[AuditEntry, ...]) -> Iterator[str]:
    """Changes whose last line in the log says otherwise than what is stored."""
    last = {entry.change: entry for entry in entries if entry.kind in _STATUS}
    for change, (status, stamp) in store.stamps().items():
        entry = last.get(change)
        if entry is None or _STATUS[entry.kind] != status or entry.stamp != stamp:
            yield change
