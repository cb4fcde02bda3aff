"""Which documents stay when not all of them may: whole ones, closest or broadest first."""

from __future__ import annotations

from collections.abc import Sequence

from steward.agents_md.document import Document, Outcome, Skipped
from steward.agents_md.settings import Settings

_NAMED = frozenset(("configured", "read"))
_PLACED = frozenset(("agents", "override", "fallback"))


def distinct(documents: Sequence[Document]) -> tuple[list[Document], list[Skipped]]:
    """The documents, each file once; one that was named and also governs by its place stands at that place."""
    kept: dict[tuple[int, int] | int, Document] = {}
    skipped: list[Skipped] = []
    for place, document in enumerate(documents):
        key = (document.device, document.inode)
        if key == (0, 0) or key not in kept:
            kept[place if key == (0, 0) else key] = document
            continue
        stays, goes = kept[key], document
        if stays.kind in _NAMED and document.kind in _PLACED:
            stays, goes = document, kept.pop(key)
            kept[key] = document
        if stays.path != goes.path:
            skipped.append(Skipped(goes.path, f"it is the same file as {stays.path}", "same-file"))
    return list(kept.values()), skipped


def limited(
    documents: Sequence[Document], settings: Settings
) -> tuple[list[Document], list[Skipped], list[tuple[Outcome, int]]]:
    """The documents within the limits, in their order; those left out; and which limits were met."""
    total = sum(document.bytes for document in documents)
    if len(documents) <= settings.max_documents and total <= settings.max_total_bytes:
        return list(documents), [], []
    order = list(enumerate(documents))
    if settings.keep == "closest":
        order.reverse()
    kept: set[int] = set()
    size = 0
    reasons: dict[int, tuple[Outcome, int, str]] = {}
    for place, document in order:
        if len(kept) >= settings.max_documents:
            most = settings.max_documents
            reasons[place] = (
                "document-limit",
                most,
                f"the limit of {most:,} document{'s' * (most > 1)} is reached",
            )
        elif size + document.bytes > settings.max_total_bytes:
            most = settings.max_total_bytes
            reasons[place] = (
                "size-limit",
                most,
                f"it does not fit into the limit of {most:,} bytes for all documents",
            )
        else:
            kept.add(place)
            size += document.bytes
    met: dict[Outcome, int] = {outcome: limit for outcome, limit, _ in reasons.values()}
    return (
        [document for place, document in enumerate(documents) if place in kept],
        [Skipped(documents[place].path, reasons[place][2], "limit") for place in sorted(reasons)],
        list(met.items()),
    )
