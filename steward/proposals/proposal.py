"""A pending change set as a value: which files, from which bytes, to which bytes, under which stamp."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Action = Literal["create", "modify", "delete", "rename"]
Status = Literal["pending", "applied", "discarded", "undone"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One accepted replacement, kept so that a stale change can be re-anchored; texts as the model gave them."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Remains:
    """What is still known of a file of a finished change whose bytes are no longer kept."""

    base_sha256: str | None
    result_sha256: str | None
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a change.

    ``base`` is what the change was made against and ``result`` what it will leave; ``None`` is an absent file,
    which differs from an empty one. Modes are permission bits (``stat.S_IMODE``). For a rename ``old_path`` is
    the source, ``base`` its bytes, and ``path`` the destination, which must be absent.
    """

    path: str
    action: Action
    base: bytes | None
    result: bytes | None
    base_mode: int | None = None
    result_mode: int | None = None
    old_path: str | None = None
    edits: tuple[Edit, ...] = ()
    remains: Remains | None = None
    """Set when the bytes are no longer kept; ``base`` and ``result`` are ``None`` then and mean nothing."""

    @property
    def base_sha256(self) -> str | None:
        """Hex digest of the base, ``None`` when absent."""
        if self.remains is not None:
            return self.remains.base_sha256
        return None if self.base is None else hashlib.sha256(self.base).hexdigest()

    @property
    def result_sha256(self) -> str | None:
        """Hex digest of the result, ``None`` when absent."""
        if self.remains is not None:
            return self.remains.result_sha256
        return None if self.result is None else hashlib.sha256(self.result).hexdigest()

    @property
    def source(self) -> str:
        """The path whose bytes are ``base``."""
        return self.old_path or self.path

    @property
    def binary(self) -> bool:
        """Whether either side holds a NUL, so that it cannot be shown as lines."""
        return b"\0" in (self.base or b"") or b"\0" in (self.result or b"")

    @property
    def noop(self) -> bool:
        """Whether it leaves path, bytes and mode as they are in the base."""
        return (
            self.source == self.path
            and self.base == self.result
            and (self.base is None or self.base_mode == self.result_mode)
        )


@dataclass(frozen=True, slots=True)
class Governing:
    """An instruction document that governed ``file`` when it was proposed; both paths as people see them."""

    file: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change, ``change-NNN``; people see it under its short stamp."""

    id: str
    title: str
    created: str
    """When it was first stored, ISO 8601 in UTC."""
    files: tuple[FileChange, ...]
    workspace: str
    """Identity of the workspace, part of the stamp."""
    status: Status = "pending"
    instructions: tuple[Governing, ...] = ()
    session: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    """What a reviewer should know: proposed without instructions, made under a skill, …"""
    reason: str = ""
    """Why it was discarded, in the person's words."""
    stamp: str = field(default="", compare=False)
    """64 hex digits; computed from the rest when left out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stamp", stamp_of(self.workspace, self.files))

    @property
    def kept(self) -> bool:
        """Whether the bytes are there, to be shown and to be undone."""
        return all(file.remains is None for file in self.files)

    @property
    def short_stamp(self) -> str:
        """The first 12 hex digits in groups of four, ``3f9a-1c2d-77b0``."""
        return short(self.stamp)

    def file(self, path: str) -> FileChange | None:
        """The change of ``path`` (or from ``path``, for a rename), if there is one."""
        return next((f for f in self.files if path in (f.path, f.old_path)), None)


def short(stamp: str) -> str:
    """The first 12 hex digits of a stamp in groups of four."""
    return "-".join((stamp[0:4], stamp[4:8], stamp[8:12]))


def stamp_of(workspace: str, files: Iterable[FileChange]) -> str:
    """SHA-256 over workspace identity and, per file by path, kind, path, mode and digests, each length-prefixed."""
    digest = hashlib.sha256()

    def feed(value: str) -> None:
        data = value.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)

    feed("steward-stamp-1")
    feed(workspace)
    for file in sorted(files, key=lambda f: f.path):
        feed(file.action)
        feed(file.path)
        feed(file.old_path or "")
        feed("-" if file.base_mode is None else f"{file.base_mode:o}")
        feed("-" if file.result_mode is None else f"{file.result_mode:o}")
        feed(file.base_sha256 or "absent")
        feed(file.result_sha256 or "absent")
    return digest.hexdigest()
