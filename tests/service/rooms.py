"""The rooms of a house without a model: changes are proposed as a model would, and decided on as a person would."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from steward.config import Settings
from steward.proposals import Draft, Proposal
from steward.proposals.apply import Applied
from steward.proposals.disk import Disk
from steward.proposals.record import standing
from steward.service import House
from steward.service.changes import Changes
from steward.storage import ChangeStore
from steward.workspace import RepoPath


class Patch(NamedTuple):
    """One call of proposePatch."""

    path: str
    old: str
    new: str
    delete: bool = False
    rename_to: str | None = None


ONE = Patch("src/app.py", "41", "42")
"""A change of one file that ``plant`` has made, with what the file holds before and after it."""
BEFORE = b"def answer():\n    return 41\n"
AFTER = b"def answer():\n    return 42\n"

Status = Literal["applied", "undone"]


class Rooms(House):
    """A house whose changes are applied through another disk, or stored in another store."""

    def __init__(
        self,
        root: Path,
        *,
        settings: Settings | None = None,
        disk: Disk | None = None,
        store: type[ChangeStore] = ChangeStore,
    ) -> None:
        super().__init__(root, settings or Settings(), state=root.parent / "state")
        self.store = store(self.database)
        self.desk = Changes(
            self.workspace,
            self.store,
            self.state,
            self.governing,
            keep=self.settings.proposals,
            disk=disk,
        )

    def propose(self, *patches: Patch, change: str = "new") -> Proposal:
        """Patches of one turn, as one change: a new one, or an amended one."""
        draft = Draft(self.workspace, _Shelf(self), lambda _: (), title="A change")
        proposal: Proposal | None = None
        for patch in patches:
            target = RepoPath.parse(patch.rename_to) if patch.rename_to else None
            wanted = change if proposal is None else proposal.id
            proposal = draft.propose(
                RepoPath.parse(patch.path), patch.old, patch.new, wanted, patch.delete, target
            ).proposal
        assert proposal is not None
        return proposal

    def show(self, change: str | None = None) -> Proposal:
        """A person reads the diff."""
        proposal = self.desk.review(change).proposal
        self.desk.shown(proposal)
        return proposal


class _Shelf:
    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self.get = rooms.store.get
        self.pending = rooms.store.pending
        self.next_id = rooms.store.next_id

    def put(self, proposal: Proposal, read: Proposal | None = None, /) -> None:
        self._rooms.desk.put(proposal, read)


def applied_by(rooms: Rooms, change: str) -> Applied:
    """A person reads the diff and applies it."""
    return rooms.desk.apply(change, rooms.show(change).stamp)


def settled(root: Path) -> tuple[list[str], list[str]]:
    """What the next start finds: statuses, and what the log has of applied and undone."""
    rooms = Rooms(root)
    rooms.desk.recover()
    assert rooms.desk.recover() == ()
    history = rooms.desk.history()
    assert history.warnings == ()
    ends = [line.kind for line in history.lines if line.kind in ("applied", "undone", "discarded")]
    statuses = [str(status) for status in rooms.store.statuses().values()]
    assert list(standing(rooms.state / "journal")) == []
    rooms.close()
    return statuses, ends
