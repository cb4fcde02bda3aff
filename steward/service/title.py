"""What a session or a change is called: some words, on one line and not too long."""

from __future__ import annotations

LONGEST = 80
"""Characters of a title."""


def title_of(words: str) -> str:
    """A question, or whatever else names it, as a title; empty for blank text."""
    title = " ".join(words.split())
    return title if len(title) <= LONGEST else title[: LONGEST - 1] + "…"
