"""The two lines of the review that never scroll: which change it is, and where in it the cursor stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from steward.tui import sentences
from steward.tui.lines import Line, pad, plain, shorten, width_of, wrap
from steward.tui.looks import looks_for

if TYPE_CHECKING:
    from steward.service.views import Review


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
