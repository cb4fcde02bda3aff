"""The manual that ships in the package, page by page."""

from __future__ import annotations

import difflib
from importlib import resources

from steward.errors import NoSuchThing

FIRST = "index"


def topics() -> tuple[str, ...]:
    """Names of the pages, in order of the alphabet."""
    pages = resources.files("steward").joinpath("manual").iterdir()
    return tuple(sorted(page.name.removesuffix(".md") for page in pages if page.name.endswith(".md")))


def page(topic: str | None = None) -> str:
    """One page as Markdown, the first when none is named. ``NoSuchThing`` names the nearest topics."""
    wanted = (topic or FIRST).strip().casefold().replace(" ", "-")
    known = topics()
    if wanted not in known:
        near = difflib.get_close_matches(wanted, known, 3, 0.4)
        raise NoSuchThing("manual page", topic or FIRST, tuple(near or known[:3]))
    return resources.files("steward").joinpath("manual", f"{wanted}.md").read_text("utf-8")
