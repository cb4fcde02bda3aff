"""Documents from the network, as somebody else fetched them: this package never opens a socket."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from steward.agents_md.document import Note, Skipped
from steward.agents_md.reading import Loaded, Oversized, parse


@dataclass(frozen=True, slots=True)
class RemoteDocument:
    """What fetching a URL came to: its content, or the last good copy of it, or nothing."""

    data: bytes | None = None
    """The content; ``None`` when there is not even an earlier copy."""
    error: str = ""
    """Why fetching failed, in a few words; with ``data`` it says that ``data`` is an earlier copy."""
    age: float = 0.0
    """Seconds since ``data`` was fetched."""


Remote = Mapping[str, RemoteDocument] | Callable[[str], RemoteDocument | None]


def shown(url: str) -> str:
    """A URL as it may be shown and logged: no user, no password, no query; the query leaves a short digest."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return url.partition("://")[0] + "://…"
    query = f"?…{hashlib.sha256(parts.query.encode()).hexdigest()[:6]}" if parts.query else ""
    return f"{parts.scheme}://{host}{port}{parts.path}{query}"


def load_remote(url: str, remote: Remote | None, *, scope: str, most: int) -> tuple[Loaded, Note | None]:
    """The document at ``url`` and, when an earlier copy stands in for it, a note that says so."""
    path = shown(url)
    found = remote(url) if callable(remote) else remote.get(url) if remote is not None else None
    if found is None:
        return Skipped(path, "it has not been fetched", "remote"), None
    if found.data is None:
        return Skipped(path, f"it could not be fetched: {found.error or 'unknown error'}", "remote"), None
    if len(found.data) > most:
        reason = f"{len(found.data):,} bytes are over the limit of {most:,} for one document"
        return Oversized(Skipped(path, reason, "size")), None
    note = None
    if found.error:
        note = Note(path, f"it could not be fetched ({found.error}); a copy {age(found.age)} old is used")
    return parse(found.data, path=path, scope=scope, kind="remote"), note


def age(seconds: float) -> str:
    """A span of time in its largest whole unit."""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}" + ("s" if count > 1 else "")
    count = max(int(seconds), 0)
    return f"{count} second" + ("" if count == 1 else "s")
