"""Facts of the core worded for a person, the same wherever they are shown."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from steward.tui.lines import plain

if TYPE_CHECKING:
    from steward.events import LimitNotice, Retrying, TurnEnded
    from steward.proposals import Proposal


STARTING = "reading instructions and skills"


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def tokens(number: int) -> str:
    """Tokens in few characters: ``812``, ``3.4k``, ``128k``, ``1.05M``."""
    if number < 1000:
        return str(number)
    if number >= 1_000_000:
        return f"{number / 1_000_000:.2f}".rstrip("0").rstrip(".") + "M"
    return f"{number / 1000:.1f}k" if number < 10_000 and number % 1000 else f"{number / 1000:.0f}k"


def age(at: str, now: datetime) -> str:
    """How long ago a stored time (ISO 8601 in UTC) was, in few characters."""
    seconds = max((now - datetime.fromisoformat(at)).total_seconds(), 0)
    if seconds < 60:
        return "just now"
    for most, size, noun in ((3600, 60, "minute"), (86_400, 3600, "hour"), (30 * 86_400, 86_400, "day")):
        if seconds < most:
            return f"{count(int(seconds // size), noun)} ago"
    return at[:10]


def bytes_of(number: int) -> str:
    """A size in few characters."""
    return f"{number:,} B" if number < 1024 else f"{number / 1024:.1f} KiB"


def proposed(proposal: Proposal, amended: bool, added: int | None = None, removed: int | None = None) -> str:
    """That a change waits for review."""
    what = "was amended and waits" if amended else "waits"
    files = count(len(proposal.files), "file")
    lines = "" if added is None or removed is None else f" · +{added} −{removed}"
    title = f" · {plain(proposal.title)}" if proposal.title else ""
    return f"{plain(proposal.id)} {what} for your review{title} · {files}{lines} · F4 to review"


def limit(notice: LimitNotice) -> str:
    """That not all instruction documents were taken."""
    what = {
        "depth-limit": "directories",
        "document-limit": "documents",
        "size-limit": "bytes",
    }.get(notice.outcome, "")
    return (
        f"Instructions for {plain(notice.target)} stopped at a limit ({plain(notice.outcome)}): "
        f"{count(notice.accepted, 'document')} in effect, {notice.size:,} of {notice.limit:,} {what}".rstrip()
        + "."
    )


def retrying(event: Retrying) -> str:
    """That the model is asked again."""
    return f"Asking the model again in {event.seconds:.0f} s (attempt {event.attempt}): {plain(event.reason)}"


def ended(event: TurnEnded) -> tuple[str, str]:
    """How a turn ended, and which kind of line says so."""
    spent = [f"{event.seconds:.1f} s", count(event.rounds, "round")]
    if event.usage.prompt is not None:
        cached = f" ({tokens(event.usage.cached)} cached)" if event.usage.cached else ""
        spent.append(f"{tokens(event.usage.prompt)} in{cached}")
    if event.usage.completion is not None:
        spent.append(f"{tokens(event.usage.completion)} out")
    if event.usage.cost:
        spent.append(f"${event.usage.cost:.4f}")
    facts = " · ".join(spent)
    match event.reason:
        case "answered":
            return facts, "end"
        case "interrupted":
            return f"Interrupted · {facts}", "warning"
        case "failed":
            return f"{plain(event.error) or 'The turn failed.'}\n{facts}", "error"
        case "round-limit":
            return f"Stopped after {count(event.rounds, 'round')}, the limit of one turn · {facts}", "warning"
        case "budget":
            why = plain(event.error).rstrip(".") or "Stopped: the budget of the turn is spent"
            return f"{why} · {facts}", "warning"
        case "loop":
            why = plain(event.error).rstrip(".") or "Stopped: the model repeated itself"
            return f"{why} · {facts}", "warning"


def applied(change: str, paths: tuple[str, ...], warnings: tuple[str, ...], verb: str = "applied") -> str:
    """What was written."""
    named = ", ".join(map(plain, paths[:4])) + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")
    told = "".join(f"\n{plain(warning)}" for warning in warnings)
    return f"{plain(change)} {verb}: {named}{told}"
