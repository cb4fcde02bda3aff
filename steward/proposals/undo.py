"""Taking an applied change back: the reversed change, written by the same protocol."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from steward.errors import WrongStatus
from steward.proposals.apply import Applied, Order, carry_out
from steward.proposals.disk import Disk, Ground
from steward.proposals.proposal import Action, FileChange, Proposal

_REVERSED: dict[Action, Action] = {
    "create": "delete",
    "delete": "create",
    "modify": "modify",
    "rename": "rename",
}


def reversed_files(proposal: Proposal) -> tuple[FileChange, ...]:
    """The files of the change that brings back what was there before ``proposal``."""
    return tuple(
        FileChange(
            path=file.source,
            action=_REVERSED[file.action],
            base=file.result,
            result=file.base,
            base_mode=file.result_mode,
            result_mode=file.base_mode,
            old_path=file.path if file.old_path is not None else None,
            remains=file.remains,
        )
        for file in proposal.files
    )


def undo(
    proposal: Proposal,
    workspace: Ground,
    state: Path,
    disk: Disk | None = None,
    still: Callable[[], None] = lambda: None,
) -> Applied:
    """Bring back what was there before an applied proposal, where all its files still hold its result.

    ``still``, errors and acknowledging are those of ``apply``.
    """
    if proposal.status != "applied":
        raise WrongStatus(proposal.id, proposal.status, "undone")
    order = Order(proposal.id, "undo", proposal.stamp, reversed_files(proposal))
    return carry_out(order, proposal.workspace, workspace, state, disk or Disk(), still)
