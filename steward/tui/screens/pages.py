"""What the pages say: workspace, instructions, skills; and the rows of the pickers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment

from steward.tui import sentences
from steward.tui.lines import Line, plain, wrap
from steward.tui.looks import Looks
from steward.tui.screens.picker import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steward.model.choices import ModelChoice
    from steward.service.steering import SkillsView
    from steward.service.views import (
        ChangeView,
        InstructionsView,
        WorkspaceView,
    )
    from steward.tui.screens.lineview import Maker

LABEL = 16
"""Cells of the left column of a page."""


class _Page:
    """Lines being made."""

    def __init__(self, width: int, looks: Looks) -> None:
        self.width, self.looks = width, looks
        self.lines: list[Line] = [[]]

    def heading(self, text: str) -> None:
        """A heading with an empty line before it."""
        if len(self.lines) > 1:
            self.lines.append([])
        margin = [Segment("  ", self.looks.heading)]
        self.lines.extend(wrap([Segment(text, self.looks.heading)], self.width - 2, margin, margin))

    def fact(self, label: str, text: str, warn: bool = False) -> None:
        """A label and what belongs to it."""
        style = self.looks.warning if warn else self.looks.base
        opening = [Segment("  " + label.ljust(LABEL), self.looks.muted)]
        rest = [Segment(" " * (LABEL + 2), self.looks.base)]
        self.lines.extend(wrap([Segment(plain(text), style)], self.width - 2, opening, rest))

    def item(self, mark: str, text: str, note: str = "", warn: bool = False) -> None:
        """One of a list."""
        opening = [Segment(f"  {mark} ", self.looks.warning if warn else self.looks.primary)]
        spans = [Segment(plain(text), self.looks.base)]
        if note:
            spans.append(Segment("  " + plain(note), self.looks.muted))
        self.lines.extend(wrap(spans, self.width - 2, opening, [Segment("    ", self.looks.base)]))

    def prose(self, text: str) -> None:
        """A sentence."""
        margin = [Segment("  ", self.looks.base)]
        self.lines.extend(wrap([Segment(plain(text), self.looks.muted)], self.width - 2, margin, margin))


def workspace_page(view: WorkspaceView) -> Maker:
    """The bounds and how they hold."""

    def make(width: int, looks: Looks) -> list[Line]:
        page = _Page(width, looks)
        page.heading("Workspace")
        page.fact("name", view.name)
        page.fact("directory", view.root)
        page.fact("identity", view.identity)
        page.fact("boundary", f"{view.boundary} (where the search for instructions stops)")
        page.fact("enforced by", view.engine)
        page.fact("state kept in", view.state)
        page.heading("Instruction documents for the whole workspace")
        for document in view.documents:
            page.item("●", document)
        if not view.documents:
            page.prose("None.")
        page.heading("What the tools never touch")
        page.item("·", "anything outside the directory above, by any path or link")
        for text in view.protected:
            page.item("·", text)
        return page.lines

    return make


def instructions_page(view: InstructionsView) -> Maker:
    """Which documents govern a path, and why others do not."""

    def make(width: int, looks: Looks) -> list[Line]:
        page, resolution = _Page(width, looks), view.resolution
        page.heading("Instructions for " + plain(resolution.target))
        if not view.enabled:
            page.fact("", "Instructions are switched off by the settings.", warn=True)
        page.fact("boundary", resolution.boundary)
        page.fact("outcome", resolution.outcome, warn=resolution.outcome != "complete")
        share = f", {100 * resolution.tokens / view.window:.1f}% of the window" if view.window else ""
        page.fact(
            "size",
            f"{sentences.bytes_of(resolution.size)}, about {sentences.tokens(resolution.tokens)} tokens{share}",
        )
        page.fact("refresh", view.refresh)
        page.heading("In effect, broadest first; the closest wins")
        states = {document.path: document.state for document in view.documents}
        for document in resolution.documents:
            told = {"pending": "not yet read by the model", "arrived": "just read by the model"}.get(
                states.get(document.path, "pending"), "read by the model"
            )
            page.item(
                "●",
                document.path,
                f"for {document.scope or '.'} · {document.kind} · {sentences.bytes_of(document.bytes)} · "
                f"{sentences.tokens(document.tokens)} tokens · {document.sha256[:12]} · {told}",
            )
        if not resolution.documents:
            page.prose("No document governs this path.")
        if resolution.skipped:
            page.heading("Left out")
            for skipped in resolution.skipped:
                page.item("✗", skipped.path, skipped.reason, warn=True)
        if resolution.notes:
            page.heading("Odd, and loaded all the same")
            for note in resolution.notes:
                page.item("!", note.path, note.text, warn=True)
        return page.lines

    return make


def skills_page(view: SkillsView) -> Maker:
    """The skills that were found, which of them are loaded, and what is wrong with any."""
    catalog = view.catalog

    def make(width: int, looks: Looks) -> list[Line]:
        page = _Page(width, looks)
        page.heading("Skills")
        for skill in catalog.skills:
            mark = "●" if skill.name in view.loaded else "○"
            page.item(mark, skill.name, skill.description or "(no description)")
            page.fact("", f"{skill.source} · {skill.location}")
            if skill.name in view.waiting:
                page.fact("", "loaded by hand: goes along with your next question")
            elif skill.name in view.loaded:
                page.fact("", "loaded in this conversation")
            elif skill.by_hand:
                page.fact("", "only loaded by hand: the model is not told of it")
            for shadow in catalog.shadows:
                if (shadow.name, shadow.used) == (skill.name, skill.location):
                    page.fact("", f"shadows {shadow.hidden}", warn=True)
            if skill.rules is not None:
                page.fact("", "locks the turn to: " + (" ".join(skill.allowed_tools) or "no tool"))
            for found in skill.diagnostics:
                page.fact("", found.sentence, warn=found.level != "note")
        if not catalog.skills:
            page.prose("There are no skills.")
        page.lines.append([])
        page.prose("/skill NAME loads one for your next question.")
        if catalog.broken:
            page.heading("Cannot be loaded")
            for broken in catalog.broken:
                page.item("✗", broken.name, broken.location, warn=True)
                for found in broken.diagnostics:
                    page.fact("", found.sentence, warn=True)
        if catalog.notes:
            page.heading("Notes")
            for sentence in catalog.notes:
                page.item("!", sentence)
        return page.lines

    return make


def change_items(views: Sequence[ChangeView]) -> list[Item]:
    """Changes as rows, in the order given."""
    items: list[Item] = []
    for view in views:
        proposal = view.proposal
        badge = "stale" if view.stale else "overlaps" if view.overlaps else ""
        paths = ", ".join(count.path for count in view.counts)
        items.append(
            Item(
                proposal.id,
                f"{proposal.id}  {proposal.title}",
                f"{proposal.status} · +{view.added} −{view.removed} · {proposal.short_stamp}",
                badge,
                paths,
            )
        )
    return items


def model_items(choices: Sequence[ModelChoice], current: str) -> list[Item]:
    """Models as rows."""
    items: list[Item] = []
    for choice in choices:
        unknown = "" if choice.found == "built in" else "window unknown"
        size = f"{sentences.tokens(choice.window)} window" if choice.window else unknown
        local = choice.found in ("Ollama", "LM Studio", "llama.cpp", "vLLM", "built in")
        note = " · ".join(filter(None, (size, choice.price or ("" if local else "price unknown"))))
        badge = "in use" if choice.name == current else ""
        items.append(Item(choice.name, choice.name, note, badge, f"{choice.origin} · {choice.ability}"))
    return items
