"""What a workspace held when a session began: its files as they are, with what was applied since taken back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from steward.errors import PathRefused
from steward.proposals import FileChange
from steward.service.house import House
from steward.service.tree import Piece
from steward.storage import SessionRow
from steward.workspace import RepoPath

Earlier = dict[str, Piece | None]
"""Files that are to be otherwise than they are now; ``None`` is an absent one."""


def beginning(house: House, session: SessionRow | None) -> Iterator[Piece]:
    """Everything in the workspace, read from the disk; without a session as it is now. Writes nothing.

    What ignore files leave out and what usually holds secrets is there by its name alone, for lists and counts. Of
    git's own files there is what ignoring rests on. Where bytes are no longer kept, or somebody has written to a file
    since, it stays as it is.
    """
    yield from _git(house.workspace.root, "")
    earlier = _earlier(house, session) if session is not None else {}
    given: dict[str, set[str]] = {"": set()}
    for path, kind in house.workspace.walk():
        given.setdefault(path.parent.text if path.parent.parts else "", set()).add(path.name)
        if kind == "directory":
            given.setdefault(path.text, set())
            yield Piece(path.text, "directory")
            yield from _git(house.workspace.root / path.text, f"{path.text}/")
        elif path.text in earlier:
            continue
        elif kind == "link":
            yield Piece(path.text, "link", os.fsencode((house.workspace.root / path.text).readlink()))
        elif kind == "file" and (piece := _file(house, path)) is not None:
            yield piece
    yield from (piece for piece in earlier.values() if piece is not None)
    for directory, names in given.items():
        yield from _by_name(house, directory, names)


def _file(house: House, path: RepoPath) -> Piece | None:
    """The file, without its bytes where it is too large to be read; ``None`` when it cannot be."""
    try:
        found = house.workspace.stat(path)
        if found is None:
            return None
        if found.size > house.workspace.policy.max_file_bytes:
            return Piece(path.text, "file", mode=found.mode, size=found.size)
        read = house.workspace.read(path)
    except PathRefused:
        return None
    return Piece(path.text, "file", read.data, read.stat.mode)


def _by_name(house: House, directory: str, given: set[str]) -> Iterator[Piece]:
    """What the walk left out of a directory."""
    place = RepoPath.parse(directory) if directory else RepoPath(())
    try:
        entries = house.workspace.entries(place)
    except PathRefused:
        return
    for entry in entries:
        if entry.name in given or entry.name.encode("utf-8", "replace") != os.fsencode(entry.name):
            continue
        kind = "directory" if entry.kind == "directory" else "file"
        yield Piece(place.child(entry.name).text, kind)


def _git(directory: Path, prefix: str) -> Iterator[Piece]:
    """Of a ``.git`` in this directory what tells that it is one, and what is ignored and tracked."""
    git = directory / ".git"
    common = git
    if git.is_file():
        named = git.read_bytes()
        if not named.startswith(b"gitdir:"):
            yield Piece(f"{prefix}.git", "file", named)
            return
        git = common = directory / os.fsdecode(named[7:].strip())
        if (git / "commondir").is_file():
            common = git / (git / "commondir").read_text("utf-8", "surrogateescape").strip()
    for place, name in ((git, "HEAD"), (git, "index"), (common, "info/exclude")):
        try:
            yield Piece(f"{prefix}.git/{name}", "file", (place / name).read_bytes())
        except OSError:
            continue


def _earlier(house: House, session: SessionRow) -> Earlier:
    """The files of changes that were applied since the session began and stand, as before them."""
    earlier: Earlier = {}
    applied = {one.change: one.at for one in house.changes.store.audit.entries() if one.kind == "applied"}

    def now(path: str) -> bytes | None:
        if path in earlier:
            piece = earlier[path]
            return None if piece is None else piece.data
        found = _file(house, RepoPath.parse(path))
        return None if found is None else found.data

    for proposal in sorted(house.changes.store.everything(), key=lambda p: p.id, reverse=True):
        since = applied.get(proposal.id, proposal.created) >= session.created
        stands = proposal.status == "applied" and proposal.kept and since
        if stands and all(now(file.path) == file.result for file in proposal.files):
            for file in proposal.files:
                _take_back(file, earlier)
    return earlier


def _take_back(file: FileChange, earlier: Earlier) -> None:
    earlier[file.path] = None
    if file.base is not None:
        earlier[file.source] = Piece(file.source, "file", file.base, file.base_mode or 0o644)
