"""What one person has made of each change while reading it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from steward.tui.review.parts import Parts

if TYPE_CHECKING:
    from steward.proposals import Proposal
    from steward.proposals.diff import FileDiff
    from steward.service import Steward
    from steward.service.reading import Kept
    from steward.service.revising import Comment
    from steward.service.views import Review
    from steward.tui.review.rows import Row


@dataclass(slots=True)
class Reading:
    """One change: as it was looked at last, as before that, what is left out, and what is said about it."""

    proposal: Proposal
    parts: Parts
    before: Proposal | None = None
    """What it was when it was looked at under another stamp; ``None`` when it never was."""
    comments: list[Comment] = field(default_factory=list["Comment"])
    """Not sent yet."""
    place: Row | None = None
    """Where the cursor stood."""

    def since(self) -> tuple[tuple[FileDiff, ...], tuple[str, ...]]:
        """What changed since the last look: files whose result is another one, and sentences about the rest."""
        from steward.proposals.diff import between

        if self.before is None:
            return (), ()
        then = {file.source: file for file in self.before.files}
        diffs: list[FileDiff] = []
        told: list[str] = []
        for file in self.proposal.files:
            old = then.pop(file.source, None)
            if old is None:
                told.append(f"{file.path} is new in this change.")
            elif old.path != file.path:
                told.append(f"{file.path} was to be {old.path}.")
            if old is not None and old.base != file.base:
                told.append(f"{file.path} starts from other bytes: it changed on disk and was re-anchored.")
            was = old.result if old is not None else file.base
            if was != file.result:
                diffs.append(between(file.path, was, file.result))
        told += [f"{file.path} is no longer in this change." for file in then.values()]
        return tuple(diffs), tuple(told)


class Readings:
    """Every change that was looked at; what was made of a pending one outlives the program."""

    def __init__(self) -> None:
        self._by_change: dict[str, Reading] = {}
        self._unkept: set[str] = set()
        self._keeping = asyncio.Lock()

    async def of(self, review: Review, steward: Steward) -> Reading:
        """What is known of a change that is looked at now; a new stamp begins anew, but for the comments."""
        proposal = review.proposal
        known = self._by_change.get(proposal.id)
        if known is not None and known.proposal.stamp == proposal.stamp:
            known.proposal = proposal
            return known
        made = Reading(proposal, Parts(review.diffs))
        if known is not None:
            made.before = known.proposal
            made.comments = [moved(c, known.proposal, proposal) for c in known.comments]
        elif (kept := await steward.reading(proposal.id)) is not None:
            _restore(made, kept)
        self._by_change[proposal.id] = made
        return made

    async def keep(self, steward: Steward, change: str) -> None:
        """Keep what was made of a change; of calls that come meanwhile the last one counts."""
        if change in self._unkept:
            return
        self._unkept.add(change)
        async with self._keeping:
            self._unkept.discard(change)
            from steward.service.reading import Kept

            reading = self._by_change[change]
            parts, comments = reading.parts, tuple(reading.comments)
            kept = Kept(reading.proposal.stamp, parts.lines_out, parts.files_out, comments)
            await steward.keep_reading(change, kept)


def _restore(made: Reading, kept: Kept) -> None:
    """Go on from what was kept, of this version or of the one before it."""
    made.before = kept.before
    made.comments = list(kept.comments)
    if kept.stamp == made.proposal.stamp:
        made.parts.restore(kept.lines, kept.files)
    elif kept.before is not None:
        made.comments = [moved(c, kept.before, made.proposal) for c in kept.comments]


def lines_of(proposal: Proposal, comment: Comment) -> Sequence[bytes]:
    """All lines of the side that a comment is about."""
    from steward.proposals.lines import split

    file = proposal.file(comment.path)
    data = None if file is None else file.base if comment.side == "base" else file.result
    return split(data or b"")


def moved(comment: Comment, then: Proposal, now: Proposal) -> Comment:
    """The comment on the same lines of the new version, where they are still there and nowhere else."""
    if then.stamp == now.stamp:
        return comment
    old, new = lines_of(then, comment), lines_of(now, comment)
    quoted = list(old[comment.first - 1 : comment.last])
    size = len(quoted)
    found = [i for i in range(len(new) - size + 1) if list(new[i : i + size]) == quoted] if size else []
    if len(found) != 1:
        return comment
    return replace(comment, first=found[0] + 1, last=found[0] + size)
