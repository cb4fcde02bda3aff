"""What a resolver is told to look for, and how much of it to accept; nonsense is refused at construction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DOCUMENT = "AGENTS.md"
OVERRIDE = "AGENTS.override.md"

Boundary = Literal["nearest", "outermost"]
Keep = Literal["closest", "broadest"]

_LARGEST = {
    "max_depth": 4096,
    "max_documents": 4096,
    "max_document_bytes": 64 * 1024 * 1024,
    "max_total_bytes": 256 * 1024 * 1024,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How instruction documents are found. A value that makes no sense raises ``ValueError`` in one sentence."""

    enabled: bool = True
    """Off: nothing is read, and every resolution says so."""
    fallback_names: tuple[str, ...] = ("CLAUDE.md",)
    """Names taken, in this order, in a directory with neither ``AGENTS.override.md`` nor ``AGENTS.md``."""
    boundary: Boundary = "nearest"
    """Discovery stops at the nearest repository that holds the target, or at the outermost that encloses it."""
    keep: Keep = "closest"
    """Which documents stay when the number or the total size runs out."""
    max_depth: int = 32
    """Directories looked at, counted from the target's own upwards."""
    max_documents: int = 16
    """Documents accepted for one target, those of the user and of the configuration among them."""
    max_document_bytes: int = 65_536
    """Bytes of one document; a larger one is left out whole."""
    max_total_bytes: int = 262_144
    """Bytes of all documents of one target."""
    user_documents: tuple[Path, ...] = ()
    """The user's own documents, absolute; they are broadest of all, and one that is absent is no fault."""
    files: tuple[str, ...] = ()
    """Configured documents: paths and globs beneath the workspace, absolute or ``~`` paths, ``http(s)`` URLs."""
    read_files: tuple[Path, ...] = ()
    """Documents named for this run (``--read``); a directory means the files in it. Absent ones are reported."""
    location: Path | None = None
    """This document (or the one in this directory) replaces discovery, and must exist."""
    fallback_location: Path | None = None
    """This document serves when no other applies."""

    def __post_init__(self) -> None:
        if type(self.enabled) is not bool:
            raise ValueError("enabled must be true or false.")
        for name, largest in _LARGEST.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= largest:
                raise ValueError(f"{name} must be a whole number from 1 to {largest}.")
        if self.boundary not in ("nearest", "outermost"):
            raise ValueError('boundary must be "nearest" or "outermost".')
        if self.keep not in ("closest", "broadest"):
            raise ValueError('keep must be "closest" or "broadest".')
        for name in ("fallback_names", "files"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for name in ("user_documents", "read_files"):
            object.__setattr__(self, name, _paths(name, getattr(self, name)))
        for name in ("location", "fallback_location"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, *_paths(name, (value,)))
        _check_fallback_names(self.fallback_names)
        for entry in self.files:
            _check_file(entry)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of documents in a directory, the one that wins first."""
        return (OVERRIDE, DOCUMENT, *self.fallback_names)


def is_url(entry: str) -> bool:
    """Whether a configured entry names something on the network rather than a file."""
    return "://" in entry


def user_locations(config_directory: Path, home: Path, *, claude: bool = False) -> tuple[Path, ...]:
    """Where a user's own documents are by convention, broadest first; ``claude`` adds ``~/.claude/CLAUDE.md``."""
    shared = home / ".config" / "agents" / DOCUMENT
    found = [home / ".claude" / "CLAUDE.md"] if claude else []
    found += [shared, config_directory / DOCUMENT]
    return tuple(dict.fromkeys(found))


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list of texts.")
    items: tuple[object, ...] = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not all(isinstance(item, str) for item in items):
        raise ValueError(f"{name} must be a list of texts.")
    return tuple(str(item) for item in items)


def _paths(name: str, value: object) -> tuple[Path, ...]:
    if isinstance(value, str | Path) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a list of paths.")
    items: tuple[object, ...] = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    found: list[Path] = []
    for item in items:
        if not isinstance(item, str | Path) or not str(item) or "\0" in str(item):
            raise ValueError(f"{name} holds something that is no path.")
        found.append(Path(item))
    return tuple(found)


def _check_fallback_names(names: tuple[str, ...]) -> None:
    seen = {DOCUMENT, OVERRIDE}
    for name in names:
        if not name or name in (".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"fallback_names holds {name!r}, which is not a file name.")
        if name in seen:
            raise ValueError(f"fallback_names holds {name!r}, which is looked for already.")
        seen.add(name)


def _check_file(entry: str) -> None:
    if not entry.strip() or "\0" in entry:
        raise ValueError("files holds an entry that is neither a path, a glob nor a URL.")
    if is_url(entry):
        scheme, _, rest = entry.partition("://")
        if scheme not in ("http", "https") or not rest.strip("/"):
            raise ValueError("files holds a URL that is not http or https.")
