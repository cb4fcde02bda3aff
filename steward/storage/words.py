"""Finds words in a text and shows the place."""

from __future__ import annotations

BEFORE = 30
SHOWN = 100
"""Characters of a text that are shown around the first word."""


def found_in(text: str, words: tuple[str, ...]) -> str | None:
    """The place of the first of ``words`` (already casefolded) on one line, ``None`` unless all are there."""
    folded = text.casefold()
    if not words or not all(word in folded for word in words):
        return None
    at = min(folded.find(words[0]), len(text))
    begin = max(0, at - BEFORE)
    piece = " ".join(text[begin : begin + SHOWN].split())
    return ("…" if begin else "") + piece + ("…" if begin + SHOWN < len(text) else "")
