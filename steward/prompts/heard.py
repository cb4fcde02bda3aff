"""Reads back from a conversation's messages which instruction documents they really hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from steward.agents_md import Document
from steward.agents_md.envelope import value


@dataclass(slots=True)
class Heard:
    """What the messages say of documents, the latest word of each path."""

    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    left_out: set[str] = field(default_factory=set[str])
    in_effect: str | None = None
    """The names in the last line of documents in effect; ``None`` when there was no such line."""


def heard(tag: str, texts: Iterable[str]) -> Heard:
    """Everything in the envelopes ``tag``; a document's kind is not in its envelope and comes back as ``agents``."""
    name = re.escape(tag)
    envelope = re.compile(rf'<{name} ([a-z-]+)="([^"]*)"([^>]*)>(.*?)</{name}>\n', re.DOTALL)
    found = Heard()
    for text in texts:
        for match in envelope.finditer(text) if tag in text else ():
            path = value(match[2])
            match match[1]:
                case "path":
                    found.documents[path] = _document(path, match[3], match[4])
                case "withdrawn":
                    found.documents.pop(path, None)
                case "left-out":
                    found.documents.pop(path, None)
                    found.left_out.add(path)
                case "in-effect-for":
                    found.in_effect = match[4]
                case _:
                    pass
    return found


def _document(path: str, attributes: str, content: str) -> Document:
    given = dict(re.findall(r' ([a-z0-9]+)="([^"]*)"', attributes))
    content = content[1:]  # the newline after the opening tag
    size = len(content.encode("utf-8", "surrogatepass"))
    scope = value(given.get("scope", "."))
    return Document(path, scope, "agents", "", size, len(content), given.get("sha256", ""))
