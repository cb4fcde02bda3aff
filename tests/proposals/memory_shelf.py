"""A shelf that keeps proposals in memory."""

from __future__ import annotations

from steward.errors import NoSuchThing
from steward.proposals import Proposal


class MemoryShelf:
    """Like the database, without a disk."""

    def __init__(self) -> None:
        self.kept: dict[str, Proposal] = {}
        self._next = 1

    def get(self, change: str, /) -> Proposal:
        if change not in self.kept:
            raise NoSuchThing("change", change, tuple(self.kept))
        return self.kept[change]

    def pending(self) -> tuple[Proposal, ...]:
        return tuple(p for p in self.kept.values() if p.status == "pending")

    def next_id(self) -> str:
        number, self._next = self._next, self._next + 1
        return f"change-{number:03d}"

    def put(self, proposal: Proposal, read: Proposal | None = None, /) -> None:
        self.kept[proposal.id] = proposal
