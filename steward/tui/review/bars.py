"""What of the review never scrolls: which change it is, where in it the cursor stands, and which keys are of use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from steward.tui import sentences
from steward.tui.lines import Line, pad, plain, shorten, width_of, wrap
from steward.tui.looks import looks_for
from steward.tui.review.rows import CodeRow, FileRow, HunkRow, TextRow

if TYPE_CHECKING:
    from steward.service.views import Review
    from steward.tui.review.diff_view import DiffView
    from steward.tui.review.reading import Reading


class Title(Widget, can_focus=False):
    """One line that always says which change this is and how it stands."""

    DEFAULT_CSS = "Title { height: 1; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.review: Review | None = None
        self.note = ""
        self.left_out = ""
        """What is left out, in few words."""
        self.comments = 0
        """Comments that are not sent yet."""

    def render_line(self, y: int) -> Strip:
        looks, width = looks_for(self), self.size.width
        if self.review is None:
            return Strip(pad([Segment(" " + self.note, looks.file)], width, looks.file)).crop(0, width)
        review, back = self.review, looks.file
        proposal = review.proposal
        added = sum(count.added for count in review.counts)
        removed = sum(count.removed for count in review.counts)
        left: Line = [Segment(f" ◆ {plain(proposal.id)} ", back)]
        badges = [(proposal.status, looks.chip if proposal.status == "pending" else looks.chip_warning)]
        if review.stale:
            badges.append(("stale", looks.chip_error))
        if review.overlaps:
            badges.append(("overlaps", looks.chip_warning))
        if review.hidden:
            badges.append((f"{review.hidden} hidden", looks.chip_error))
        if self.left_out:
            badges.append((f"without {self.left_out}", looks.chip_warning))
        if self.comments:
            badges.append((sentences.count(self.comments, "comment"), looks.chip))
        facts = f"{sentences.count(len(proposal.files), 'file')} +{added} −{removed}"
        right = [Segment(f" {facts} · {plain(proposal.short_stamp)} ", back)]
        taken = width_of(left) + sum(len(text) + 3 for text, _ in badges)
        if taken + width_of(right) > width:
            right = [Segment(f" {plain(proposal.short_stamp)} ", back)]
        if taken + width_of(right) > width and proposal.status == "pending":
            taken -= len(badges.pop(0)[0]) + 3
        while badges and taken + width_of(right) > width:
            taken -= len(badges.pop()[0]) + 3
        for text, style in badges:
            left.extend([Segment(f" {text} ", style), Segment(" ", back)])
        gap = max(width - width_of(left) - width_of(right), 0)
        return Strip([*left, Segment(" " * gap, back), *right]).adjust_cell_length(width, back)


class Place(Widget, can_focus=False):
    """Says where in the change the cursor is, or what a key could not do, on as many lines as that takes."""

    DEFAULT_CSS = "Place { height: 1; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.where = ""
        self._told = ""

    def say(self, sentence: str) -> None:
        """Something that a key could not do; it stays until the cursor moves. Empty takes it back."""
        self._told = sentence
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        self.styles.height = len(self._lines(max(self.screen.size.width, 20)))

    def on_resize(self) -> None:
        self._fit()

    def _lines(self, width: int) -> list[Line]:
        looks = looks_for(self)
        if not self._told:
            return [[Segment(" " + shorten(self.where, width - 2), looks.muted)]]
        mark, margin = [Segment(" ▲ ", looks.warning)], [Segment("   ", looks.base)]
        return wrap([Segment(plain(self._told), looks.base)], width - 1, mark, margin)

    def render_line(self, y: int) -> Strip:
        looks, width = looks_for(self), self.size.width
        lines = self._lines(width)
        return Strip(pad(lines[y] if y < len(lines) else [], width, looks.base))


def standing(view: DiffView) -> str:
    """Where the cursor stands, in words."""
    row = view.rows[view.cursor]
    parts: list[str] = []
    files = sum(isinstance(row, FileRow) for row in view.rows)
    if not isinstance(row, TextRow) and row.file >= 0 and view.review is not None:
        path = view.diffs[row.file].path
        parts.append(plain(path) + (f" ({row.file + 1} of {files})" if files > 1 else ""))
    if isinstance(row, CodeRow | HunkRow) and view.review is not None:
        parts.append(f"hunk {row.hunk + 1} of {len(view.diffs[row.file].hunks)}")
    if view.mark is not None:
        parts.append(f"range of {sentences.count(len(view.chosen), 'line')}")
    at, of = view.hits
    if of:
        parts.append(f"hit {at} of {of}" if at else sentences.count(of, "hit"))
    if view.context > 3:
        parts.append("whole file" if view.context > 1000 else f"{view.context} lines of context")
    parts.append(f"{100 * (view.cursor + 1) // len(view.rows)}%")
    return " · ".join(parts)


def useful(review: Review | None, reading: Reading | None) -> list[tuple[str, ...]]:
    """Names of the keys that do something to the change as it is."""
    status = review.proposal.status if review is not None else "pending"
    stale = bool(review is not None and review.stale)
    names = list[tuple[str, ...]]()
    if status == "pending":
        names.append(("rebase-change",) if stale else ("apply-change",))
        names += [("discard-change",), ("back",), ("take-hunk",), ("take-line",), ("comment",)]
        if reading is not None and reading.comments:
            names.append(("send-comments",))
        names.append(("edit",))
    elif status == "applied":
        names.append(("undo-change",))
    if reading is not None and reading.before is not None:
        names.append(("since",))
    if status != "pending":
        names.append(("back",))
    names += [
        ("next-hunk", "previous-hunk"),
        ("next-file", "previous-file"),
        ("range",),
        ("sides",),
        ("widen",),
        ("search",),
    ]
    return names
