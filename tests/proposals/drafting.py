"""A workspace, a shelf and a draft, with words that are short to read in a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.errors import EditRefused, PathRefused
from steward.proposals import Draft, Governing, Proposal
from steward.workspace import RepoPath, Workspace
from tests.proposals.memory_shelf import MemoryShelf


class Bench:
    """A workspace, a shelf and the draft of one turn."""

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.root = root
        self.workspace = workspace
        self.shelf = MemoryShelf()
        self.documents: tuple[tuple[str, str], ...] = ()
        self.turn()

    def turn(self, limit: int | None = None) -> None:
        self.draft = Draft(
            self.workspace,
            self.shelf,
            lambda path: [Governing(path, d, h) for d, h in self.documents],
            title="Make it so",
            session="s1",
            model="m1",
            max_file_bytes=limit,
        )

    def propose(
        self,
        path: str,
        old: str = "",
        new: str = "",
        change: str | None = None,
        delete: bool = False,
        to: str = "",
    ) -> Proposal:
        target = RepoPath.parse(to) if to else None
        return self.draft.propose(RepoPath.parse(path), old, new, change, delete, target).proposal

    def refused(
        self,
        path: str,
        old: str = "",
        new: str = "",
        change: str | None = None,
        delete: bool = False,
        to: str = "",
    ) -> tuple[str, str]:
        before = dict(self.shelf.kept)
        with pytest.raises((EditRefused, PathRefused)) as refusal:
            self.propose(path, old, new, change, delete, to)
        assert self.shelf.kept == before
        assert str(self.root) not in str(refusal.value)
        return refusal.value.kind, str(refusal.value)

    def write(self, path: str, data: bytes, mode: int = 0o644) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        return file
