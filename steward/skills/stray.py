"""Files that lie where only folders of skills are looked for, and were meant to be skills."""

from __future__ import annotations

from steward.skills.contain import Container, Place
from steward.skills.frontmatter import parse


def is_stray(container: Container, place: Place, limit: int) -> bool:
    """Whether the file is Markdown with a description in its front matter; more than ``limit`` bytes are none."""
    name = place.parts[-1].lower() if place.parts else ""
    if not name.endswith(".md") or name.startswith("."):
        return False
    try:
        text = container.read(place, limit)[0].decode("utf-8")
    except (OSError, ValueError):
        return False
    front = parse(text)
    return not front.fatal and "description" in front.fields
