"""Finishing or taking back, as a whole, what a process that died had begun."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from steward.errors import Busy, PathRefused, StorageError
from steward.proposals.disk import Disk, Ground
from steward.proposals.journal import Journal, opened
from steward.proposals.lock import locked
from steward.proposals.places import Places
from steward.proposals.record import Kind, Phase, Record
from steward.proposals.settle import Settler

_UNUSABLE = "The steward's journal cannot be used; nothing was touched."
_AFTER_COMMIT: tuple[Phase, ...] = ("committed", "acknowledged")
"""The phases in which a change is on the disk."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was found. Each committed or undone id is to be stored as such and then acknowledged."""

    committed: tuple[str, ...] = ()
    """Changes whose apply is on the disk and was not acknowledged yet."""
    undone: tuple[str, ...] = ()
    """Changes whose undo is on the disk and was not acknowledged yet."""
    rolled_back: tuple[str, ...] = ()
    """Changes that were cut off and of which nothing is left on the disk."""
    notes: tuple[str, ...] = ()
    """Sentences for the person."""
    stamps: Mapping[str, str] = field(default_factory=dict[str, str])
    """The stamp of each change that is committed or undone, as it was when that was done."""


def recover(workspace: Ground, state: Path, disk: Disk | None = None) -> Recovery:
    """Settle what is in the journal of ``state``, this workspace's own state directory; nothing when there is none.

    Raises ``Busy`` when another process goes on holding the workspace's lock, and ``StorageError`` when a record cannot
    be read (nothing is touched then) or the disk fails (to be tried again).
    """
    disk = disk or Disk()
    try:
        with opened(state, disk, create=False) as journal:
            if journal is None or journal.empty():
                return Recovery()
            with locked(state, disk):
                return settle_all(journal, workspace, disk)
    except OSError as error:
        raise StorageError(_UNUSABLE) from error


@contextmanager
def held(workspace: Ground, state: Path, disk: Disk | None = None) -> Generator[Recovery]:
    """Hold the workspace's lock, so that nobody else decides on a change; gives what it had to settle before.

    Raises ``Busy`` when another process goes on holding it, and ``StorageError`` as ``recover`` does.
    """
    disk = disk or Disk()
    with ExitStack() as stack:
        try:
            journal = stack.enter_context(opened(state, disk, create=True))
            assert journal is not None
            stack.enter_context(locked(state, disk))
            found = settle_all(journal, workspace, disk)
        except OSError as error:
            raise StorageError(_UNUSABLE) from error
        yield found


def settle_all(journal: Journal, workspace: Ground, disk: Disk) -> Recovery:
    """Settle every record, under the lock. All are read before the first is acted on."""
    records = journal.records()
    for record in records:
        if record.workspace != workspace.identity:
            raise StorageError(
                f"The journal of {record.id} belongs to another workspace; nothing was touched. Move it away from "
                "the steward's state directory."
            )
    try:
        journal.sweep()
    except OSError as error:
        raise StorageError(_UNUSABLE) from error
    notes: list[str] = []
    for record in records:
        notes += _settle(record, journal, workspace, disk)
    done = [record for record in records if record.phase == "committed"]
    return Recovery(
        committed=tuple(record.id for record in done if record.kind == "apply"),
        undone=tuple(record.id for record in done if record.kind == "undo"),
        rolled_back=tuple(record.id for record in records if record.phase not in _AFTER_COMMIT),
        notes=tuple(notes),
        stamps={record.id: record.stamp for record in done},
    )


def acknowledge(
    state: Path, id: str, disk: Disk | None = None, *, kind: Kind | None = None, alone: bool = False
) -> None:
    """Forget the committed apply or undo of a change, whose status is stored by now. Harmless when there is none.

    ``kind`` says which of the two was stored: another process may have undone meanwhile what was applied here.
    ``alone`` says that the caller holds the lock (see ``held``); else it is taken, and when another process goes on
    holding it the record stays for the next ``recover``. Raises ``StorageError`` when the disk fails; the next
    ``recover`` then reports the change once more.
    """
    disk = disk or Disk()
    try:
        with opened(state, disk, create=False) as journal, ExitStack() as stack:
            if journal is None:
                return
            if not alone:
                try:
                    stack.enter_context(locked(state, disk))
                except Busy:
                    return
            for record in journal.records():
                if record.id != id or record.phase != "committed" or kind not in (None, record.kind):
                    continue
                if record.clean:
                    journal.remove(record)
                else:
                    journal.advance(record, "acknowledged")
    except OSError as error:
        raise StorageError(
            f"The journal of {id} could not be closed; that follows when steward next starts."
        ) from error


def _settle(record: Record, journal: Journal, workspace: Ground, disk: Disk) -> tuple[str, ...]:
    """Finish one record or take it back; what a person must know of it."""
    try:
        with Places(disk, workspace) as places:
            settler = Settler(record, journal, places, disk)
            if record.phase in _AFTER_COMMIT:
                return _finish(record, settler, journal)
            return _take_back(record, settler, journal)
    except (OSError, PathRefused) as error:
        raise StorageError(
            f"{record.id} was cut off earlier and could not be settled now; no change can be applied until it is. "
            "Start steward again, or see steward doctor."
        ) from error


def _finish(record: Record, settler: Settler, journal: Journal) -> tuple[str, ...]:
    if not record.clean:
        # The record may stand in memory alone, from a process that died before its sync came back.
        journal.confirm()
        notes = settler.finish()
        if record.phase == "committed":
            journal.mark_clean(record)
    else:
        notes = ()
    if record.phase == "acknowledged":
        journal.remove(record)
    return notes


def _take_back(record: Record, settler: Settler, journal: Journal) -> tuple[str, ...]:
    if record.phase == "aborting":
        journal.confirm()
    notes = settler.take_back()
    return (
        f"{_word(record.kind)} {record.id} was cut off; all of its files are as they were before.",
        *notes,
    )


def _word(kind: Kind) -> str:
    return "Applying" if kind == "apply" else "Undoing"
