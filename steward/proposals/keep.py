"""Keeping bytes that are not ours to remove, under a name that a person finds."""

from __future__ import annotations

from steward.proposals.disk import Disk
from steward.proposals.moves import move_new
from steward.proposals.record import Entry
from steward.workspace import RepoPath

PREFIX = ".steward-kept-"
_ROOM = 255 - 3
"""Bytes of a name, less what tells several of them apart."""


def keep(disk: Disk, at: int, entry: Entry, mark: str) -> str:
    """Rename an entry's stage to a kept file beside its path; the sentence that says so."""
    path = RepoPath.parse(entry.path)
    stem = _cut(f"{PREFIX}{mark}-{path.name}")
    name, number = stem, 1
    while True:
        try:
            move_new(disk, at, entry.stage, name)
            break
        except FileExistsError:
            number += 1
            name = f"{stem}.{number}"
    where = path.parent.child(name).text
    return f"{path.text} was changed by another program at the same time; the version that gave way is kept as {where}."


def _cut(name: str) -> str:
    return name.encode("utf-8")[:_ROOM].decode("utf-8", "ignore")
