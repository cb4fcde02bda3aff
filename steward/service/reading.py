"""What a person makes of a pending change while reading it, as it outlives the program: see ``Kept``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from steward.errors import NoSuchThing
from steward.service.revising import Comment

if TYPE_CHECKING:
    from steward.conversation import JsonObject
    from steward.proposals import Proposal
    from steward.storage import ChangeStore

LeftOut = tuple[int, str, int]
"""A line that is left out: place of its file, sign, and its number on the side of that sign."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A reading of one version of a change."""

    stamp: str
    """That of the version that was looked at last."""
    lines: tuple[LeftOut, ...] = ()
    files: tuple[int, ...] = ()
    """Places of the files without lines that are left out."""
    comments: tuple[Comment, ...] = ()
    """Not sent yet."""
    before: Proposal | None = None
    """The version that was looked at before the one that is pending now."""


def keep(store: ChangeStore, change: str, kept: Kept) -> None:
    """Keep it until the change is decided on; ``before`` is kept by itself when a version takes its place."""
    body: JsonObject = {
        "lines": [list(line) for line in kept.lines],
        "files": list(kept.files),
        "comments": [asdict(comment) for comment in kept.comments],
    }
    store.readings.keep(change, kept.stamp, body)


def find(store: ChangeStore, change: str) -> Kept | None:
    """What was kept of a pending change; ``None`` when nothing was."""
    stored = store.readings.find(change)
    if stored is None:
        return None
    try:
        proposal = store.get(change)
    except NoSuchThing:
        return None
    body = cast("dict[str, list[Any]]", stored.body)
    before = replace(proposal, files=stored.before) if stored.before else None
    return Kept(
        stored.stamp,
        tuple((int(file), str(sign), int(number)) for file, sign, number in body["lines"]),
        tuple(body["files"]),
        tuple(Comment(**said) for said in body["comments"]),
        None if before is None or before.stamp == proposal.stamp else before,
    )
