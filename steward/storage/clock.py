"""The time as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """ISO 8601 in UTC with milliseconds, so that text order is time order."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
