"""A review as plain text: what the change is, what to look out for, and every line of its diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from steward.cli.output import listed, plural
from steward.visible import line, visible

if TYPE_CHECKING:
    from steward.proposals.diff import FileDiff, Line
    from steward.service.views import Review


def review_text(review: Review) -> str:
    """Everything a person should have read before applying; every line can be shown as it is."""
    return "\n".join(
        (*_head(review), *_warnings(review), *(row for diff in review.diffs for row in _file(diff)))
    )


def _head(review: Review) -> Iterator[str]:
    proposal = review.proposal
    added, removed = (sum(getattr(count, side) for count in review.counts) for side in ("added", "removed"))
    yield f"{proposal.id}  {proposal.short_stamp}  {proposal.status}"
    if proposal.title:
        yield line(proposal.title)
    made = f" · {line(proposal.model)}" if proposal.model else ""
    yield f"{plural(len(proposal.files), 'file')}, +{added} −{removed} · {proposal.created}{made}"
    governing = dict.fromkeys(document.path for document in proposal.instructions)
    if governing:
        yield f"Governed by {listed(line(path) for path in governing)}"
    if proposal.reason:
        yield f"Discarded because: {line(proposal.reason)}"


def _warnings(review: Review) -> Iterator[str]:
    for stale in review.stale:
        yield f"! Stale: {line(stale.path)} {stale.reason}"
    if review.overlaps:
        yield f"! Overlaps with {listed(review.overlaps)}"
    for note in review.proposal.notes:
        yield f"! {line(note)}"
    for path in review.instructions_changed:
        yield f"! {line(path)} governs this change and has changed since it was proposed"
    if review.hidden:
        yield f"! {plural(review.hidden, 'hidden character')} in added lines, shown as marks"
    for path, text in review.banners:
        yield f"! {line(path)}: {line(text)}"


def _file(diff: FileDiff) -> Iterator[str]:
    change = diff.change
    name = line(change.path) if change.old_path is None else f"{line(change.old_path)} → {line(change.path)}"
    yield ""
    yield f"{change.action} {name}  +{diff.added} −{diff.removed}"
    for notice in diff.notices:
        yield f"! {line(notice)}"
    for hunk in diff.hunks:
        yield hunk.header
        for row in hunk.lines:
            yield _row(row)


def _row(row: Line) -> str:
    # Tabs move the cursor but draw nothing else; they are kept, everything else hidden is marked.
    text = visible(row.text, keep="\t")
    ending = "␍" if row.ending_changed and row.ending == "\r\n" else ""
    return f"{row.sign}{text}{ending}"
