"""Skills that the person loaded by hand: how the model is told of them, and how a recording is read back."""

from __future__ import annotations

import re

from steward.skills.held import fence

_PIECE = re.compile(
    r"^The person loaded the skill '([^\n]+)' for what they ask here; follow it\.\n"
    r"\[begin (skill-[0-9a-f]{12})\]\n.*?^\[end \2\]$\n?",
    re.DOTALL | re.MULTILINE,
)


def told(name: str, digest: str, text: str) -> str:
    """What goes along with the question. The digest of the file marks the end, so that the file cannot hold it."""
    tag = fence(digest)
    head = f"The person loaded the skill '{name}' for what they ask here; follow it."
    return f"{head}\n[begin {tag}]\n{text.strip()}\n[end {tag}]"


def split(text: str) -> tuple[str, tuple[str, ...]]:
    """What else was told with a question, and the names of the skills that were loaded for it."""
    names = tuple(match[1] for match in _PIECE.finditer(text))
    return _PIECE.sub("", text).strip("\n"), names
