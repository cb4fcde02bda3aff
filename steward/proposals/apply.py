"""Writing a change to the workspace: all of its files or none, and never over bytes that nobody was shown."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from steward.errors import (
    ApplyFailed,
    Conflict,
    NoLongerKept,
    StaleProposal,
    StewardError,
    StorageError,
    WrongStatus,
)
from steward.proposals.check import Checked, check
from steward.proposals.disk import Disk, Ground
from steward.proposals.exchange import MISSING
from steward.proposals.journal import Journal, opened
from steward.proposals.lock import locked
from steward.proposals.look import look
from steward.proposals.moves import move_new
from steward.proposals.places import Places
from steward.proposals.proposal import FileChange, Proposal
from steward.proposals.record import Entry, Image, Kind, Record, Step
from steward.proposals.recover import settle_all
from steward.proposals.settle import Settler
from steward.proposals.slots import Slot, slots
from steward.proposals.stage import write_stage
from steward.workspace import ROOT, RepoPath

STAGE_PREFIX = ".steward-"
"""How the names begin that stand beside a file while it is replaced."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that is on the disk, durably."""

    id: str
    paths: tuple[str, ...]
    """Every path that was written, created or removed."""
    warnings: tuple[str, ...] = ()
    """Sentences for the person: clean-up that is not finished, a narrow window, bytes that were kept."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be written, and on whose behalf the sentences speak."""

    id: str
    kind: Kind
    stamp: str
    files: tuple[FileChange, ...]

    @property
    def done(self) -> str:
        """The word for what has then happened."""
        return "applied" if self.kind == "apply" else "undone"


def apply(
    proposal: Proposal,
    workspace: Ground,
    state: Path,
    disk: Disk | None = None,
    still: Callable[[], None] = lambda: None,
) -> Applied:
    """Apply a pending proposal. ``state`` is this workspace's own state directory. Blocks; needs no event loop.

    Before it, whatever a dead process left in this workspace is recovered. Then, with the lock held, ``still`` looks
    once more whether that is what is to be applied, and raises if not. The journal stays committed until
    ``recover.acknowledge``, to be called once the new status is stored.

    Raises ``StaleProposal``, ``Busy``, ``WrongStatus`` (applied already), ``PathRefused`` (a protected path),
    ``ApplyFailed`` (a disk operation failed): in all these cases the files are as they were. Raises
    ``StorageError`` when the journal cannot be used, or when the disk failed so that taking back must wait for
    the next ``recover``.
    """
    if proposal.status != "pending":
        raise WrongStatus(proposal.id, proposal.status, "applied")
    order = Order(proposal.id, "apply", proposal.stamp, proposal.files)
    return carry_out(order, proposal.workspace, workspace, state, disk or Disk(), still)


def carry_out(
    order: Order, identity: str, workspace: Ground, state: Path, disk: Disk, still: Callable[[], None]
) -> Applied:
    """The whole protocol for one order, apply and undo alike."""
    if identity != workspace.identity:
        raise Conflict(f"{order.id} was made for another workspace; nothing was written.")
    if any(file.remains is not None for file in order.files):
        raise NoLongerKept(order.id, order.done)
    wanted = slots(order.files)
    for slot in wanted:
        workspace.allowed(slot.path)
    with _worded(order), opened(state, disk, create=True) as journal:
        assert journal is not None
        with locked(state, disk):
            notes = _recovered(order, journal, workspace, disk)
            still()
            try:
                applied = Application(order, journal, workspace, disk, exchange=True).run(wanted)
            except _NoExchange:
                applied = Application(order, journal, workspace, disk, exchange=False).run(wanted)
            return replace(applied, warnings=(*notes, *applied.warnings)) if notes else applied


def _recovered(order: Order, journal: Journal, workspace: Ground, disk: Disk) -> tuple[str, ...]:
    recovery = settle_all(journal, workspace, disk)
    # A record of the same id and another stamp is of a change that the database lost; its id is in use again.
    if recovery.stamps.get(order.id) == order.stamp:
        status = "applied" if order.id in recovery.committed else "undone"
        raise WrongStatus(order.id, f"{status}, which is not recorded yet", order.done)
    return recovery.notes


@contextmanager
def _worded(order: Order) -> Generator[None]:
    """Word what the system says, from where nothing has been touched yet."""
    try:
        yield
    except OSError as error:
        raise ApplyFailed(f"{order.id} was not {order.done}: {cause(error)}. Nothing was changed.") from error


class _NoExchange(Exception):
    """The file system cannot exchange two names; everything is as it was."""


class Application:
    """One run of the protocol, under the lock, with nothing left over from earlier runs.

    Its steps are methods of their own, so that a test can leave one out and see the others notice.
    """

    def __init__(
        self, order: Order, journal: Journal, workspace: Ground, disk: Disk, *, exchange: bool
    ) -> None:
        self._order = order
        self.journal = journal
        self._workspace = workspace
        self.disk = disk
        self._exchange = exchange
        self._warnings: list[str] = [] if exchange else [_NO_EXCHANGE]

    def run(self, wanted: tuple[Slot, ...]) -> Applied:
        """Check, journal, stage, switch, commit, clear up."""
        with Places(self.disk, self._workspace) as places:
            checked = [c for c in check(self._order.id, wanted, places, self.disk) if not c.settled]
            paths = tuple(c.slot.path.text for c in checked)
            if not checked:
                return Applied(self._order.id, paths)
            record = self._plan(checked, places)
            try:
                record = self.journal.save(record)
                record = self._make_directories(record, places)
                self.stage(record, checked, places)
                self._check_places(places)
                record = self.begin_switching(record)
                self.switch(record, places)
                places.sync(record.parents())
                self._check_places(places)
            except (Exception, KeyboardInterrupt) as error:
                self.give_up(record, places, error)
                raise
            self._clear_up(self.commit(record, places), places)
            return Applied(self._order.id, paths, tuple(self._warnings))

    def _plan(self, checked: list[Checked], places: Places) -> Record:
        nonce = self.disk.nonce()
        entries: list[Entry] = []

        def add(step: Step, one: Checked, old: Image | None, new: Image | None) -> None:
            stage = f"{STAGE_PREFIX}{self._order.id}-{nonce}-{len(entries)}"
            entries.append(Entry(step, one.slot.path.text, stage, old, new, one.folded))

        swaps = [c for c in checked if c.old and c.new]
        puts = [c for c in checked if not c.old]
        late = [c for c in puts if c.folded]
        if self._exchange:
            for one in swaps:
                add("swap", one, one.old, one.new)
        else:
            late += swaps
        for one in puts:
            if not one.folded:
                add("put", one, None, one.new)
        for one in checked:
            if not one.new or (one in late and one.old):
                add("take", one, one.old, None)
        for one in late:
            add("put", one, None, one.new)
        missing = {d for c in puts for d in places.missing(c.slot.path.parent)}
        return Record(
            id=self._order.id,
            kind=self._order.kind,
            stamp=self._order.stamp,
            workspace=self._workspace.identity,
            nonce=nonce,
            entries=tuple(entries),
            directories=tuple(d.text for d in sorted(missing)),
            emptied=self._emptied(entries),
        )

    def _emptied(self, entries: list[Entry]) -> tuple[str, ...]:
        """Where an undo removes files: as git does, it leaves no empty directory behind."""
        if self._order.kind == "apply":
            return ()
        found: set[RepoPath] = set()
        for entry in entries:
            directory = entry.parent
            while entry.step == "take" and directory != ROOT:
                found.add(directory)
                directory = directory.parent
        return tuple(d.text for d in sorted(found, reverse=True))

    def _make_directories(self, record: Record, places: Places) -> Record:
        made = tuple(text for text in record.directories if places.make(RepoPath.parse(text)))
        if made != record.directories:
            # Somebody else made one meanwhile, which is not ours to remove.
            record = self.journal.rewrite(replace(record, directories=made))
        return record

    def begin_switching(self, record: Record) -> Record:
        """Say durably that paths are being switched, where the record does not say so from the beginning."""
        return record if record.phase == "switching" else self.journal.advance(record, "switching")

    def stage(self, record: Record, checked: list[Checked], places: Places) -> None:
        """Write every new version beside its path."""
        by_path = {c.slot.path.text: c for c in checked}
        for entry in record.entries:
            after = by_path[entry.path].slot.after
            if entry.new is not None and after is not None:
                at = places.at(entry.parent)
                metadata = by_path[entry.path].metadata
                write_stage(self.disk, at, entry, after, entry.new, metadata)

    def switch(self, record: Record, places: Places) -> None:
        """Put every new version in its place; raises ``StaleProposal`` when another program wrote meanwhile."""
        taken: set[RepoPath] = set()
        for entry in record.entries:
            if entry.step == "put" and taken:
                # The names that these take were left a moment ago, which a power cut must not reorder.
                places.sync(taken)
                taken.clear()
            self._switch_one(entry, places.at(entry.parent))
            if entry.step == "take":
                taken.add(entry.parent)

    def _switch_one(self, entry: Entry, at: int) -> None:
        try:
            match entry.step:
                case "swap":
                    self.disk.exchange(entry.stage, entry.name, at=at)
                case "take":
                    self.disk.rename(entry.name, entry.stage, at=at)
                case "put":
                    if not move_new(self.disk, at, entry.stage, entry.name):
                        self._warnings.append(_NARROW.format(path=entry.path))
        except FileNotFoundError:
            raise StaleProposal(self._order.id, (entry.path,), f"{entry.path} is gone") from None
        except FileExistsError:
            raise StaleProposal(self._order.id, (entry.path,), f"{entry.path} exists now") from None
        except OSError as error:
            if entry.step == "swap" and error.errno in MISSING:
                raise _NoExchange from error
            raise
        self.verify(entry, at)

    def verify(self, entry: Entry, at: int) -> None:
        """Look at what came out of a path: whatever it is, it is still there and can go back."""
        if entry.old is None:
            return
        out = look(self.disk, at, entry.stage, entry.old)
        if out is None or not out.holds(entry.old) or out.stat.st_nlink != 1:
            reason = f"another program wrote {entry.path} at the same moment"
            raise StaleProposal(self._order.id, (entry.path,), reason)

    def _check_places(self, places: Places) -> None:
        moved = places.moved()
        if moved:
            raise StaleProposal(
                self._order.id, tuple(p.text for p in moved), "a directory was moved at the same moment"
            )

    def commit(self, record: Record, places: Places) -> Record:
        """Make the commit count; from its return on the change is applied."""
        try:
            return self.journal.advance(record, "committed")
        except (Exception, KeyboardInterrupt) as error:
            # Whether the commit is on the disk is unknown now; only a later record can overrule it.
            try:
                record = self.journal.overrule(record)
            except OSError:
                raise StorageError(
                    f"The disk failed at the moment when {self._order.id} was recorded as {self._order.done}. All of "
                    "its files are kept or all are taken back when steward next starts."
                ) from error
            self.give_up(record, places, error)
            raise

    def give_up(self, record: Record, places: Places, error: BaseException) -> None:
        """Take everything back, then raise ``error`` in words that tell what a person must know."""
        try:
            notes = Settler(record, self.journal, places, self.disk).take_back()
        except (OSError, StewardError) as fault:
            why = cause(error) if isinstance(error, OSError) else str(error).rstrip(".")
            raise StorageError(
                f"{self._order.id} was not {self._order.done}: {why}. Taking it back failed too; the old files come "
                "back when steward next starts."
            ) from fault
        match error:
            case OSError():
                said = f"{self._order.id} was not {self._order.done}: {cause(error)}. Nothing was changed."
                raise ApplyFailed(" ".join((said, *notes))) from error
            case StaleProposal() if notes:
                raise StaleProposal(
                    error.change, error.paths, " ".join((error.reason + ".", *notes))
                ) from error
            case StewardError() if notes:
                raise ApplyFailed(" ".join((str(error), *notes))) from error
            case _:
                pass

    def _clear_up(self, record: Record, places: Places) -> None:
        try:
            self._warnings += Settler(record, self.journal, places, self.disk).finish()
            self.journal.mark_clean(record)
        except (OSError, StewardError):
            self._warnings.append(
                f"{self._order.id} is {self._order.done}; clean-up is unfinished and follows when steward next starts."
            )


_NO_EXCHANGE = (
    "This file system cannot exchange two files in one step: each replaced file was missing for a moment."
)
_NARROW = (
    "This file system can only look before it renames: what another program may have written to {path} in that "
    "moment is lost."
)


def cause(error: OSError) -> str:
    """Why the system refused, in a few words and without a path."""
    match error.errno:
        case errno.ENOSPC:
            return "the disk is full"
        case errno.EDQUOT:
            return "the disk quota is used up"
        case errno.EROFS:
            return "the file system is read-only"
        case errno.EMFILE | errno.ENFILE:
            return "too many files are open"
        case None:
            return "the disk failed"
        case number:
            return f"the system says {os.strerror(number)!r}"
