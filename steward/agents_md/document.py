"""What resolving gives back: the documents that govern a target, and what was left out and why."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["agents", "override", "fallback", "user", "configured", "read", "remote", "location"]
Outcome = Literal["complete", "depth-limit", "document-limit", "size-limit"]
Cause = Literal[
    "absent", "boundary", "changed", "empty", "encoding", "glob", "limit", "link", "name", "off", "outside",
    "remote", "replaced", "same-file", "size", "special", "unreadable", "untrusted",
]  # fmt: skip

BOM = b"\xef\xbb\xbf"


def tokens_in(characters: int) -> int:
    """An estimate of the tokens that so many characters take: characters / 3.5, rounded up."""
    return -(-characters * 2 // 7)


@dataclass(frozen=True, slots=True)
class Document:
    """One instruction document as it was read.

    ``path`` and ``scope`` (the directory it governs) are relative to the workspace, ``..`` leading above it; a
    document from elsewhere has its ``~`` or absolute path, or its URL, and the workspace as its scope.
    """

    path: str
    scope: str
    kind: Kind
    text: str = field(repr=False)
    """The content, without one leading byte order mark; otherwise every character as it stands in the file."""
    bytes: int
    """Size of the file, its byte order mark among it."""
    chars: int
    """Characters of ``text``."""
    sha256: str
    """Hex digest of the file's bytes."""
    device: int = 0
    inode: int = 0

    @property
    def tokens(self) -> int:
        """Estimated tokens of ``text``."""
        return tokens_in(self.chars)

    def to_json(self) -> dict[str, Any]:
        """What may be said of the document to anyone: never its content."""
        return {
            "path": self.path,
            "scope": self.scope,
            "kind": self.kind,
            "bytes": self.bytes,
            "chars": self.chars,
            "tokens": self.tokens,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could have been a document and is none, with the reason."""

    path: str
    reason: str
    cause: Cause = "unreadable"
    """The reason in one word, for programs."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd about a document that is loaded all the same."""

    path: str
    text: str
    told: str = ""
    """The same in a sentence for the model, where it matters to it."""


@dataclass(frozen=True, slots=True)
class LimitReached:
    """Resolution of ``target`` met a limit; ``accepted`` documents of ``size`` bytes stay. Never contents."""

    target: str
    outcome: Outcome
    accepted: int
    size: int
    limit: int
    """The number that was met: directories, documents or bytes, as ``outcome`` tells."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """Which documents govern ``target``, broadest first; all paths relative to the workspace."""

    target: str
    boundary: str
    documents: tuple[Document, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    outcome: Outcome = "complete"
    limit: int | None = None
    """The number that was met when ``outcome`` is not ``complete``."""
    limits: tuple[LimitReached, ...] = ()
    """Every limit that was met; ``outcome`` is the first of them."""
    notes: tuple[Note, ...] = ()
    enabled: bool = True

    @property
    def size(self) -> int:
        """Bytes of all documents."""
        return sum(document.bytes for document in self.documents)

    @property
    def tokens(self) -> int:
        """Estimated tokens of all documents."""
        return sum(document.tokens for document in self.documents)

    @property
    def paths(self) -> tuple[str, ...]:
        """The documents' paths, broadest first."""
        return tuple(document.path for document in self.documents)

    def render(self, tag: str | None = None) -> str:
        """The documents in their envelopes, broadest first, with the rule that the closest wins; "" for none.

        ``tag`` names the envelopes; left out, it is derived from the documents' digests, so that no document
        can hold it.
        """
        from steward.agents_md.envelope import render

        return render(self.documents, tag)

    def to_json(self) -> dict[str, Any]:
        """The whole resolution as plain values, without contents."""
        return {
            "target": self.target,
            "boundary": self.boundary,
            "outcome": self.outcome,
            "limit": self.limit,
            "documents": [document.to_json() for document in self.documents],
            "skipped": [
                {"path": item.path, "reason": item.reason, "cause": item.cause} for item in self.skipped
            ],
            "notes": [{"path": item.path, "text": item.text} for item in self.notes],
            "enabled": self.enabled,
        }


def digest(data: bytes) -> str:
    """Hex SHA-256 of a document's bytes."""
    return hashlib.sha256(data).hexdigest()
