"""The sections of the side panel as lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.segment import Segment
from rich.style import Style

from steward.tui import sentences
from steward.tui.lines import Line, pad, plain, shorten, shorten_path, width_of, wrap
from steward.tui.looks import Looks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steward.events import DocumentState
    from steward.service.views import ChangeView, ContextView

Row = tuple[Line, str]
"""A line, and the change that a click on it reviews."""

Filter = Literal["pending", "stale", "applied", "all"]

FILTERS: tuple[Filter, ...] = ("pending", "stale", "applied", "all")
"""In the order in which the key shows them."""

FILES_SHOWN = 4


@dataclass(frozen=True, slots=True)
class PanelState:
    """What the panel shows."""

    changes: Sequence[ChangeView] = ()
    filter: Filter = "pending"
    focus: str = "."
    documents: Sequence[DocumentState] = ()
    skipped: Sequence[tuple[str, str]] = ()
    arrived: frozenset[str] = frozenset()
    context: ContextView | None = None
    instructions_off: bool = False
    looked: bool = False
    """Whether the changes have been asked for yet."""


def rows(state: PanelState, width: int, looks: Looks) -> list[Row]:
    """All lines of the panel."""
    found: list[Row] = []
    found.extend(_changes(state, width, looks))
    found.append(([], ""))
    found.extend((line, "") for line in _instructions(state, width, looks))
    if state.context is not None:
        found.append(([], ""))
        found.extend((line, "") for line in _context(state.context, width, looks))
    return found


def _title(text: str, note: str, width: int, looks: Looks) -> Line:
    line = [Segment(" " + text, looks.heading)]
    gap = width - width_of(line) - len(note) - 1
    return [*line, Segment(" " * max(gap, 1), looks.base), Segment(note, looks.faint)]


def _sides(left: Line, right: Line, width: int, looks: Looks) -> Line:
    gap = width - width_of(left) - width_of(right) - 1
    return [*left, Segment(" " * max(gap, 1), looks.base), *right]


def _changes(state: PanelState, width: int, looks: Looks) -> list[Row]:
    pending = [view for view in state.changes if view.proposal.status == "pending"]
    note = f"{len(pending)} pending" if pending else ""
    kind = state.filter
    shown = [view for view in state.changes if _fits(view, kind)]
    if kind != "pending":
        note = f"{len(shown)} {kind}" if kind != "all" else f"{len(shown)} in all"
    found: list[Row] = [(_title("Changes", note, width, looks), "")]
    if not shown:
        none = " no change yet" if kind == "all" else f" none {kind}"
        found.append(([Segment(none if state.looked else " …", looks.faint)], ""))
    for view in shown:
        proposal = view.proposal
        badges: Line = []
        if proposal.status != "pending":
            badges.append(Segment(f" {proposal.status} ", looks.chip))
        if view.stale:
            badges.append(Segment(" stale ", looks.chip_warning))
        if view.overlaps:
            badges.append(Segment(" overlaps ", looks.chip_error if not view.stale else looks.chip_warning))
        head: Line = [Segment(" ◆ ", looks.accent), Segment(plain(proposal.id), looks.strong)]
        stamp = Segment(plain(proposal.short_stamp), looks.faint)
        found.append((_sides(head, [stamp] if width >= 30 else [], width, looks), proposal.id))
        if proposal.title:
            found.append(
                ([Segment("   " + shorten(plain(proposal.title), width - 4), looks.muted)], proposal.id)
            )
        if badges:
            spaced: Line = [Segment("   ", looks.base)]
            for badge in badges:
                spaced.extend([badge, Segment(" ", looks.base)])
            found.append((spaced, proposal.id))
        for count in view.counts[:FILES_SHOWN]:
            right = _plus_minus(count.added, count.removed, looks)
            room = width - width_of(right) - 7
            sign = {"create": "+", "delete": "−", "rename": "→"}.get(count.action, " ")
            left = [
                Segment(f"   {sign} ", looks.faint),
                Segment(shorten_path(plain(count.path), room), looks.base),
            ]
            found.append((_sides(left, right, width, looks), proposal.id))
        if len(view.counts) > FILES_SHOWN:
            rest = view.counts[FILES_SHOWN:]
            right = _plus_minus(sum(c.added for c in rest), sum(c.removed for c in rest), looks)
            left = [Segment(f"     {len(rest)} more", looks.faint)]
            found.append((_sides(left, right, width, looks), proposal.id))
    return found


def _fits(view: ChangeView, kind: Filter) -> bool:
    match kind:
        case "stale":
            return bool(view.stale)
        case "all":
            return True
        case _:
            return view.proposal.status == kind


def _plus_minus(added: int, removed: int, looks: Looks) -> Line:
    return [Segment(f"+{added}", looks.ok), Segment(" ", looks.base), Segment(f"−{removed}", looks.error)]


def _instructions(state: PanelState, width: int, looks: Looks) -> list[Line]:
    lines = [_title("Instructions", shorten_path(plain(state.focus), max(width - 16, 4)), width, looks)]
    if state.instructions_off:
        return [*lines, [Segment(" switched off", looks.warning)]]
    if not state.documents and not state.skipped:
        lines.append([Segment(" none in effect", looks.faint)])
    for document in state.documents:
        fresh = document.path in state.arrived or document.state in ("arrived", "replaced")
        quiet = document.state in ("delivered", "withdrawn", "pending")
        mark, style = ("●", looks.accent) if fresh else ("○", looks.faint) if quiet else ("●", looks.primary)
        right: Line = [Segment(f"{sentences.tokens(document.tokens)} tok", looks.faint)]
        if document.state == "withdrawn":
            right = [Segment("withdrawn", looks.faint)]
        elif document.state == "pending":
            right = [Segment("not yet read", looks.faint)]
        elif fresh:
            right = [Segment("new ", looks.accent), *right]
        room = width - width_of(right) - 5
        left = [
            Segment(f" {mark} ", style),
            Segment(shorten_path(plain(document.path), room), looks.muted if quiet else looks.base),
        ]
        lines.append(_sides(left, right, width, looks))
        if document.scope not in (".", ""):
            lines.append([Segment("   for " + shorten_path(plain(document.scope), width - 8), looks.faint)])
    for path, reason in state.skipped:
        lines.append(
            [Segment(" ✗ ", looks.warning), Segment(shorten_path(plain(path), width - 4), looks.muted)]
        )
        lines.extend(
            wrap(
                [Segment(plain(reason), looks.faint)],
                width - 1,
                [Segment("   ", looks.base)],
                [Segment("   ", looks.base)],
            )
        )
    return lines


def _context(view: ContextView, width: int, looks: Looks) -> list[Line]:
    share = f"{100 * view.total // view.window}% of {sentences.tokens(view.window)}" if view.window else ""
    lines = [_title("Context", share or f"{sentences.tokens(view.total)} tokens", width, looks)]
    parts = [part for part in view.parts if part.tokens > 0]
    whole = max(view.window or view.total, view.total, 1)
    room = width - 2
    bar: Line = [Segment(" ", looks.base)]
    used = 0
    for part in parts:
        cells = max(round(room * part.tokens / whole), 1 if part.tokens * 40 > whole else 0)
        cells = min(cells, room - used)
        used += cells
        bar.append(Segment("━" * cells, meter(part.kind, looks)))
    bar.append(Segment("─" * (room - used), looks.faint))
    lines.append(bar)
    for part in parts:
        right = [Segment(sentences.tokens(part.tokens), looks.faint)]
        left = [
            Segment(" ▪ ", meter(part.kind, looks)),
            Segment(shorten(plain(part.label), width - width_of(right) - 5), looks.muted),
        ]
        lines.append(_sides(left, right, width, looks))
    return [pad(line, width, looks.base) for line in lines]


def meter(kind: str, looks: Looks) -> Style:
    """The style of a part of the window."""
    match kind:
        case "base":
            return looks.primary
        case "instructions":
            return looks.accent
        case "skills":
            return looks.ok
        case "results":
            return looks.warning
        case "conversation":
            return looks.muted
        case _:
            return looks.faint
