"""The envelope a document travels in: it names path, scope and digest, and the content inside is untouched."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from steward.agents_md.document import Document

RULE = (
    "They stand broadest first. Where two disagree, the one whose scope is closest to the file at hand wins; "
    "the user's own words win over all of them."
)

_ESCAPES = {'"': "&quot;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}
_UNESCAPES = (('"', "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("&", "&amp;"))
_ESCAPED = re.compile("&#x([0-9A-F]{1,6});")


def attribute(text: str) -> str:
    """``text`` as the value of an attribute: quotes, angle brackets and everything unprintable escaped."""
    if text.isascii() and text.isprintable() and not any(char in text for char in _ESCAPES):
        return text
    return "".join(
        _ESCAPES.get(char) or (char if char.isprintable() else f"&#x{ord(char):X};") for char in text
    )


def value(text: str) -> str:
    """What ``attribute`` was given."""
    found = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    for char, escape in _UNESCAPES:
        found = found.replace(escape, char)
    return found


def envelope(document: Document, tag: str, *, replaces: str = "") -> str:
    """One document between ``<tag …>`` and ``</tag>``; ``replaces`` is the digest of an earlier copy it replaces.

    The content begins after the first newline and is byte for byte that of the file; a newline is added before
    the closing tag only where the content does not end with one.
    """
    also = f' replaces="{replaces}"' if replaces else ""
    end = "" if document.text.endswith("\n") else "\n"
    return (
        f'<{tag} path="{attribute(document.path)}" scope="{attribute(document.scope)}" '
        f'sha256="{document.sha256}"{also}>\n{document.text}{end}</{tag}>\n'
    )


def tag_for(documents: Iterable[Document]) -> str:
    """A tag derived from what the documents hold, so that none of them can hold it."""
    seed = "\n".join(f"{document.path}\0{document.sha256}" for document in documents)
    return "instructions-" + hashlib.sha256(seed.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def render(documents: Sequence[Document], tag: str | None = None) -> str:
    """All documents, broadest first, under the rule that ranks them; empty text when there are none."""
    if not documents:
        return ""
    tag = tag or tag_for(documents)
    head = f"Documents between <{tag} …> and </{tag}> hold instructions for the files beneath their scope. {RULE}\n"
    return head + "".join(envelope(document, tag) for document in documents)
