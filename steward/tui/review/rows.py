"""A review as rows: what stands on each row of the diff, before anything is known about width or colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from steward.tui import sentences

if TYPE_CHECKING:
    from steward.proposals.diff import FileDiff, Hunk, Line
    from steward.service.revising import Comment
    from steward.service.views import Review

FAR = 500
"""Lines above a hunk among which the one it stands within is looked for."""

LONGEST = 120
"""Bytes of that line that are shown at most."""

Level = Literal["plain", "note", "warning"]


@dataclass(frozen=True, slots=True)
class TextRow:
    """A sentence about the change or one of its files."""

    text: str
    level: Level = "plain"
    file: int = -1


@dataclass(frozen=True, slots=True)
class FileRow:
    """Where a file begins."""

    file: int
    action: str
    path: str
    old_path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class IndexRow:
    """A file in the list at the top; ``warned`` when something stands at its head that a reader must see."""

    file: int
    action: str
    path: str
    old_path: str
    added: int
    removed: int
    warned: bool


@dataclass(frozen=True, slots=True)
class HunkRow:
    """Where a hunk begins."""

    file: int
    hunk: int
    of: int
    header: str
    within: str = ""
    """The line above it that begins at the margin, as git shows it: the function or section it stands in."""


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A line of either side, or one of each. Both sides hold the same line where nothing changed."""

    file: int
    hunk: int
    old: Line | None
    new: Line | None


@dataclass(frozen=True, slots=True)
class CommentRow:
    """What the person says about the lines above it; ``index`` is its place among the comments."""

    file: int
    index: int
    where: str
    text: str


Row = TextRow | IndexRow | FileRow | HunkRow | CodeRow | CommentRow


def rows_of(
    review: Review,
    diffs: Sequence[FileDiff],
    split: bool,
    comments: Sequence[Comment] = (),
    about: Sequence[TextRow] | None = None,
) -> list[Row]:
    """The rows of the whole review; ``diffs`` may hold more context than the review came with.

    Each comment stands below the last of its lines, else below the head of its file, else on top. ``about`` takes
    the place of what is said before the first file.
    """
    from steward.proposals.lines import split as cut

    rows: list[Row] = list(_about(review) if about is None else about)
    said: dict[str, list[tuple[int, Comment]]] = {}
    for index, comment in enumerate(comments):
        said.setdefault(comment.path, []).append((index, comment))
    banners: dict[str, list[str]] = {}
    for path, text in review.banners:
        banners.setdefault(path, []).append(text)
    for path in [path for path in said if path not in {diff.path for diff in review.diffs}]:
        rows.extend(_comment(-1, place, comment) for place, comment in said[path])
    stale = {file.path: file.reason for file in review.stale}
    if len(diffs) > 1:
        rows.append(TextRow(""))
        rows.extend(_listed(number, diff, {*banners, *stale}) for number, diff in enumerate(diffs))
    for number, diff in enumerate(diffs):
        change = diff.change
        rows.append(TextRow("", file=number))
        rows.append(
            FileRow(number, change.action, change.path, change.old_path or "", diff.added, diff.removed)
        )
        for path in dict.fromkeys((change.path, change.source)):
            if path in stale:
                rows.append(
                    TextRow(
                        f"{path} is not what it was when this was proposed: {stale[path]}.", "warning", number
                    )
                )
            for text in banners.get(path, ()):
                rows.append(TextRow(f"This file {text}." if text[:1].islower() else text, "warning", number))
        for notice in diff.notices:
            rows.append(TextRow(notice, "note", number))
        if diff.binary:
            rows.append(TextRow(_binary(diff), "note", number))
        waiting = dict(said.get(change.path, ()))
        head = len(rows)
        base = cut(change.base or b"") if diff.hunks else []
        for index, hunk in enumerate(diff.hunks):
            rows.append(HunkRow(number, index, len(diff.hunks), hunk.header, _within(base, hunk.old_start)))
            for row in _split(number, index, hunk) if split else _unified(number, index, hunk):
                rows.append(row)
                for place, comment in tuple(waiting.items()):
                    if _ends_at(comment, row):
                        del waiting[place]
                        rows.append(_comment(number, place, comment))
        rows[head:head] = [_comment(number, place, comment) for place, comment in waiting.items()]
    return rows


def near(rows: Sequence[Row], kept: Row | None, otherwise: int) -> int:
    """The index of the row that says what ``kept`` says, in another layout or with more context."""
    if isinstance(kept, CodeRow):
        old_no = kept.old.old_no if kept.old else None
        new_no = kept.new.new_no if kept.new else None
        for index, row in enumerate(rows):
            if isinstance(row, CodeRow) and row.file == kept.file:
                if new_no is not None and row.new is not None and row.new.new_no == new_no:
                    return index
                if new_no is None and row.old is not None and row.old.old_no == old_no:
                    return index
    elif kept is not None and kept in rows:
        return rows.index(kept)
    return min(otherwise, max(len(rows) - 1, 0))


def in_version(kept: Row | None, then: Sequence[FileDiff], now: Sequence[FileDiff]) -> Row | None:
    """``kept`` as a row of another version of the change, if that still has the file."""
    if kept is None or kept.file < 0:
        return None
    path = then[kept.file].path
    return next((replace(kept, file=file) for file, diff in enumerate(now) if diff.path == path), None)


def _listed(number: int, diff: FileDiff, warned: set[str]) -> IndexRow:
    change = diff.change
    return IndexRow(
        number,
        change.action,
        change.path,
        change.old_path or "",
        diff.added,
        diff.removed,
        bool(diff.hidden) or bool(warned & {change.path, change.source}),
    )


def _within(base: Sequence[bytes], start: int) -> str:
    for raw in reversed(base[max(start - 1 - FAR, 0) : max(start - 1, 0)]):
        if raw[:1].isalpha() or raw[:1] in (b"_", b"$"):
            return raw[:LONGEST].decode("utf-8", "replace").strip()
    return ""


def _ends_at(comment: Comment, row: CodeRow) -> bool:
    line = row.old if comment.side == "base" else row.new
    number = line and (line.old_no if comment.side == "base" else line.new_no)
    return number == comment.last


def _comment(file: int, index: int, comment: Comment) -> CommentRow:
    lines = (
        f"line {comment.first}" if comment.first == comment.last else f"lines {comment.first}–{comment.last}"
    )
    side = " before" if comment.side == "base" else ""
    path = f"{comment.path}, " if file < 0 else ""
    return CommentRow(file, index, f"{path}{lines}{side}", comment.text)


def _about(review: Review) -> Iterator[TextRow]:
    """What a reader should know before the first file."""
    proposal = review.proposal
    if proposal.title:
        yield TextRow(proposal.title)
    governing = dict.fromkeys(document.path for document in proposal.instructions)
    if governing:
        yield TextRow("Made under " + ", ".join(governing), "note")
    else:
        yield TextRow("No instruction document governed it.", "note")
    if proposal.status == "discarded" and proposal.reason:
        yield TextRow("Discarded: " + proposal.reason, "note")
    for note in proposal.notes:
        yield TextRow(note, "warning")
    if review.stale:
        yield TextRow(
            f"Stale: {sentences.count(len(review.stale), 'file')} changed on disk since. "
            "It cannot be applied; b re-anchors it, then read it again.",
            "warning",
        )
    if review.overlaps:
        yield TextRow("Changes the same files as " + ", ".join(review.overlaps) + ".", "warning")
    if review.instructions_changed:
        yield TextRow(
            "Instructions changed since it was made: " + ", ".join(review.instructions_changed) + ".",
            "warning",
        )
    if review.banners and len(review.diffs) > 1:
        named = ", ".join(dict.fromkeys(path for path, _ in review.banners))
        yield TextRow(f"Read with care, these can run or steer something: {named}.", "warning")
    if review.hidden:
        count = sentences.count(review.hidden, "hidden character")
        yield TextRow(f"Adds {count}; each stands out as a mark.", "warning")


def _binary(diff: FileDiff) -> str:
    def size(data: bytes | None) -> str:
        return "absent" if data is None else sentences.bytes_of(len(data))

    return f"Binary: {size(diff.change.base)} → {size(diff.change.result)}; it cannot be shown as lines."


def _unified(file: int, index: int, hunk: Hunk) -> Iterator[CodeRow]:
    last: Line | None = None
    for line in hunk.lines:
        match line.sign:
            case " ":
                yield CodeRow(file, index, line, line)
            case "-":
                yield CodeRow(file, index, line, None)
            case "+":
                yield CodeRow(file, index, None, line)
            case _:
                sign = last.sign if last is not None else " "
                yield CodeRow(file, index, None if sign == "+" else line, None if sign == "-" else line)
        last = line


def _split(file: int, index: int, hunk: Hunk) -> Iterator[CodeRow]:
    gone: list[Line] = []
    come: list[Line] = []
    last = " "
    for line in hunk.lines:
        if line.sign == " ":
            yield from _pairs(file, index, gone, come)
            gone, come = [], []
            yield CodeRow(file, index, line, line)
        elif line.sign == "-":
            if come:
                yield from _pairs(file, index, gone, come)
                gone, come = [], []
            gone.append(line)
        elif line.sign == "+":
            come.append(line)
        elif last == "-":
            gone.append(line)
        elif last == "+":
            come.append(line)
        else:
            yield CodeRow(file, index, line, line)
        last = line.sign
    yield from _pairs(file, index, gone, come)


def _pairs(file: int, index: int, gone: list[Line], come: list[Line]) -> Iterable[CodeRow]:
    """Lines that replace each other side by side; lines without a partner against nothing."""
    i = j = 0
    while i < len(gone) or j < len(come):
        old = gone[i] if i < len(gone) else None
        new = come[j] if j < len(come) else None
        if old is not None and new is not None and (old.other is None) != (new.other is None):
            old, new = (None, new) if old.other is not None else (old, None)
        i += old is not None
        j += new is not None
        yield CodeRow(file, index, old, new)
