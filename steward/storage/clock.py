"""The time as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def now() -> str:
    """ISO 8601 in UTC with milliseconds, so that text order is time order."""
    return _text(datetime.now(UTC))


def days_ago(days: int) -> str:
    """The time that many days back, in the same form."""
    return _text(datetime.now(UTC) - timedelta(days=days))


def _text(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
