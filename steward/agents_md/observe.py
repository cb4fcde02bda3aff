"""A span and a histogram for each resolution, when OpenTelemetry is in use; otherwise nothing at all."""

from __future__ import annotations

import os
import sys
from typing import Any

from steward.agents_md.document import Resolution

SPAN = "steward.agents_md.resolve"
HISTOGRAM = "steward.agents_md.context.size"
_SCOPE = "steward.agents_md"
_NAMED = any(os.environ.get(f"OTEL_PYTHON_{kind}_PROVIDER") for kind in ("TRACER", "METER"))
"""Whether the environment names a provider. It is asked once: a name that is not there costs microseconds."""

_histogram: Any = None


def in_use() -> bool:
    """Whether this program uses OpenTelemetry: it has imported the API, or the environment names a provider.

    A program that uses it has imported it to set it up; importing it for nobody would cost tens of milliseconds.
    """
    return "opentelemetry.trace" in sys.modules or _NAMED


def begin() -> Any:
    """A started span, or ``None`` when nobody would see it."""
    if not in_use():
        return None
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer(_SCOPE).start_span(SPAN)


def end(span: Any, resolution: Resolution | None) -> None:
    """Close the span and record the size in bytes; three attributes of few values each, and nothing else."""
    if span is None:
        return
    if resolution is None:
        span.end()
        return
    attributes = describe(resolution)
    span.set_attributes(attributes)
    span.end()
    _record(resolution.size, attributes)


def describe(resolution: Resolution) -> dict[str, str]:
    """The three attributes."""
    count = len(resolution.documents)
    if not resolution.enabled:
        state = "disabled"
    elif count:
        state = "present"
    else:
        state = "refused" if resolution.skipped else "absent"
    return {
        "document.state": state,
        "document.count": "zero" if not count else "one" if count == 1 else "multiple",
        "resolution.outcome": resolution.outcome,
    }


def _record(size: int, attributes: dict[str, str]) -> None:
    global _histogram
    if _histogram is None:
        try:
            from opentelemetry import metrics
        except ImportError:
            return
        _histogram = metrics.get_meter(_SCOPE).create_histogram(
            HISTOGRAM, unit="By", description="Bytes of the instruction documents that govern a target"
        )
    _histogram.record(size, attributes)
