"""What the screen says of sessions, of the window and of cost, as rows and pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.segment import Segment

from steward.tui import sentences
from steward.tui.lines import Line, plain, shorten, wrap
from steward.tui.panel.sections import meter
from steward.tui.screens.picker import Item

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steward.config import Settings
    from steward.conversation import Usage
    from steward.service.compaction import Asked
    from steward.service.views import ContextView, CostView, SessionView
    from steward.tui.looks import Looks
    from steward.tui.screens.lineview import Maker

BAR = 30
"""Cells of the bar beside a part of the window."""

LABEL = 34
"""Cells of the name of a part."""


def session_items(sessions: Sequence[SessionView], current: str, now: datetime | None = None) -> list[Item]:
    """Sessions as rows: title, size and age, and below it where the words of a search were found."""
    at = now or datetime.now(UTC)
    return [
        Item(
            session.id,
            session.title or "(no title)",
            f"{sentences.count(session.messages, 'message')} · {sentences.age(session.updated, at)}",
            "open" if session.id == current else "",
            _detail(session),
        )
        for session in sessions
    ]


def _detail(session: SessionView) -> str:
    facts = [session.id, session.model]
    if session.parent:
        facts.append(f"forked from {session.parent}")
    if session.found not in ("", session.title):
        facts.append(session.found)
    return " · ".join(facts)


def question_items(questions: Sequence[Asked]) -> list[Item]:
    """Earlier questions as rows, the latest first."""
    return [
        Item(str(asked.number), " ".join(asked.text.split()) or "(empty)", f"question {asked.number}")
        for asked in reversed(questions)
    ]


def profile_note(settings: Settings, name: str) -> str:
    """A word about a profile."""
    from steward.service.profiles import named

    profile = named(settings, name)
    facts = [profile.model or "the same model"]
    if profile.tools is not None:
        facts.append("no tools" if not profile.tools else f"{', '.join(profile.tools)} alone")
    if not profile.instructions:
        facts.append("without instructions")
    return " · ".join(facts)


def context_page(view: ContextView, cost: CostView, compact_at: float) -> Maker:
    """What fills the window, by part, in tokens and share of the window."""

    def make(width: int, looks: Looks) -> list[Line]:
        whole = view.window or max(view.total, 1)
        of = f" of {view.window:,}" if view.window else ""
        share = f" · {100 * view.total / whole:.1f}% of the window" if view.window else ""
        lines: list[Line] = [[], [Segment(f"  {view.total:,}{of} tokens{share}", looks.heading)], []]
        rows = [(part.label, part.tokens, part.kind) for part in view.parts]
        if view.window:
            rows.append(("free", max(view.window - view.total, 0), "free"))
        label = min(LABEL, max(width - 24, 8))
        room = max(min(BAR, width - label - 24), 0)
        for name, tokens, kind in rows:
            cells = min(round(room * tokens / whole) or (1 if tokens and room else 0), room)
            style = looks.faint if kind == "free" else meter(kind, looks)
            lines.append(
                [
                    Segment("  ▪ ", style),
                    Segment(shorten(plain(name), label).ljust(label), looks.base),
                    Segment(f"{tokens:>9,}", looks.base),
                    Segment(f"{100 * tokens / whole:>6.1f}%  ", looks.muted),
                    Segment("━" * cells, style),
                ]
            )
        lines.append([])
        for sentence in _context_notes(view, cost, compact_at):
            margin = [Segment("  ", looks.base)]
            lines.extend(wrap([Segment(plain(sentence), looks.muted)], width - 2, margin, margin))
        return lines

    return make


def _context_notes(view: ContextView, cost: CostView, compact_at: float) -> list[str]:
    notes = ["Tokens are estimated by characters: the provider has not counted them yet."]
    if view.counted is not None:
        since = view.total - view.counted
        more = f"; {since:,} that came since are estimated" if since > 0 else ""
        notes = [
            f"The provider counted {view.counted:,} tokens{more}. The parts are estimated in proportion."
        ]
    if cost.turn.cached:
        notes.append(
            f"Of what the last turn sent, {cost.turn.cached:,} tokens came from the provider's cache."
        )
    if view.window is None:
        notes.append(
            "Nobody knows this model's window, so room is made when the server says that it is full."
        )
    else:
        notes.append(
            f"Room is made by itself at {100 * compact_at:.0f}% ({int(compact_at * view.window):,} tokens); /compact "
            "makes it now."
        )
    return notes


def cost_page(view: CostView) -> Maker:
    """What the turn and the session have used, as far as the provider said."""

    def make(width: int, looks: Looks) -> list[Line]:
        lines: list[Line] = [[]]
        head = f"  {'':<22}{'last turn':>14}{'session':>14}"
        lines.append([Segment(head, looks.heading)])
        for name, turn, session in (*cost_rows(view), ("", "", ""), *limit_rows(view)):
            lines.append(
                [Segment(f"  {name:<22}", looks.muted), Segment(f"{turn:>14}{session:>14}", looks.base)]
            )
        lines.append([])
        text = (
            "As far as the provider said; what another profile was asked beside the conversation counts in."
        )
        margin = [Segment("  ", looks.base)]
        lines.extend(wrap([Segment(text, looks.muted)], width - 2, margin, margin))
        return lines

    return make


def cost_rows(view: CostView) -> list[tuple[str, str, str]]:
    """Rows of name, turn and session."""

    def row(name: str, word: str) -> tuple[str, str, str]:
        return name, _amount(view.turn, word), _amount(view.session, word)

    return [
        row("tokens to the model", "prompt"),
        row("of them from a cache", "cached"),
        row("tokens from the model", "completion"),
        row("cost", "cost"),
    ]


def limit_rows(view: CostView) -> list[tuple[str, str, str]]:
    """The same for what is allowed; ``limits`` in the settings."""
    bounds = view.bounds
    if bounds is None:
        return []
    budget = bounds.budget
    tokens = [f"{given:,}" if given else "no limit" for given in (budget.turn_tokens, budget.session_tokens)]
    costs = [f"${given:.4f}" if given else "no limit" for given in (budget.turn_cost, budget.session_cost)]
    return [
        ("rounds, at most", str(bounds.rounds), ""),
        ("tokens, at most", tokens[0], tokens[1]),
        ("cost, at most", costs[0], costs[1]),
    ]


def _amount(usage: Usage, word: str) -> str:
    value = getattr(usage, word)
    if value is None:
        return "not said"
    return f"${value:.4f}" if word == "cost" else f"{value:,}"
