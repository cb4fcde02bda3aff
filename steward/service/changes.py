"""Changes as a person deals with them: list, review, apply, discard, undo, re-anchor."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from steward.config.settings import Proposals
from steward.errors import (
    Busy,
    Conflict,
    EditRefused,
    NeedsPerson,
    NoLongerKept,
    NoSuchThing,
    NothingYet,
    PathRefused,
    StaleProposal,
    StampMismatch,
    StewardError,
    StorageError,
    WrongStatus,
)
from steward.proposals import Proposal, short
from steward.proposals.apply import Applied, apply
from steward.proposals.banner import banner
from steward.proposals.diff import counts, file_diff
from steward.proposals.disk import Disk
from steward.proposals.rebase import overlaps, rebase, touched
from steward.proposals.recover import Recovery, acknowledge, held, recover
from steward.proposals.stale import StaleFile, stale_files
from steward.proposals.undo import undo
from steward.service.history import history, news
from steward.service.views import ChangeView, FileCount, History, Review
from steward.storage import ChangeStore
from steward.visible import hidden
from steward.workspace import Workspace

SHORTEST_STAMP = 12
"""Hex digits that a stamp given in a shell must have at least."""
_KINDS: Mapping[str, Literal["apply", "undo"]] = {"applied": "apply", "undone": "undo"}


class Changes:
    """The changes of one workspace. Everything here blocks; run it in a thread.

    ``state`` is the workspace's state directory; ``governed`` gives path and digest of the instruction documents
    that govern a file now; ``keep`` says for how long finished changes keep their contents. What the person does is
    kept as ``news`` for the model.
    """

    def __init__(
        self,
        workspace: Workspace,
        store: ChangeStore,
        state: Path,
        governed: Callable[[str], Mapping[str, str]],
        *,
        keep: Proposals | None = None,
        disk: Disk | None = None,
    ) -> None:
        self._workspace = workspace
        self.store = store
        self._state = state
        self._governed = governed
        self._keep = keep or Proposals()
        self._disk = disk
        self._shown: dict[str, str] = {}
        self._news: deque[str] = deque()
        self._untold: deque[str] = deque()
        self._told_stale: set[str] = set()
        self._deciding = threading.RLock()
        """Held while a change is decided on, so that none is amended between a last look and the writing."""

    def news(self) -> tuple[str, ...]:
        """What the person did since this was last asked, as sentences for the model."""
        return tuple(self._news.popleft() for _ in range(len(self._news)))

    def untold(self) -> tuple[str, ...]:
        """What of a dead process was settled before a change was set aside or amended, each once; for the person."""
        return tuple(self._untold.popleft() for _ in range(len(self._untold)))

    def catch_up(self, told: int, session: str) -> int:
        """Add to the news what a conversation has not been told; gives the last line of the log, to be given again.

        That is what other processes have logged after line ``told``, and which of its changes are stale by now.
        """
        with self.store.at_one_moment():
            last = self.store.audit.last()
            if last > told:
                self._news.extend(news(self.store, told))
        for proposal in self.store.pending():
            stale = stale_files(proposal, self._workspace) if proposal.session == session else ()
            if stale and proposal.stamp not in self._told_stale:
                self._told_stale.add(proposal.stamp)
                self._news.append(
                    f"{proposal.id} is stale: {named(stale)}; the disk is no longer what it was made for."
                )
        return last

    def recover(self) -> tuple[str, ...]:
        """What is to be done when the steward starts; gives sentences for the person.

        What a dead process left is finished or taken back, and the contents of old changes are let go. Raises
        ``StorageError`` if the journal cannot be read.
        """
        with self._deciding:
            try:
                notes = self._stored(recover(self._workspace, self._state, self._disk))
            except Busy:
                notes = ()  # Whoever holds the lock is alive, and what the journal holds is theirs.
            return (*notes, *self._prune())

    def history(self, change: str | None = None) -> History:
        """What the log says of a change, or of all; and whether the log itself can be believed."""
        return history(self.store, None if change is None else self.find(change).id)

    def listed(self, everything: bool = False) -> tuple[ChangeView, ...]:
        """Pending changes, newest first; with ``everything`` the others after them, without their bytes."""
        found = self.store.listed() if everything else self.store.pending()
        pending = [p for p in found if p.status == "pending"]
        rest = [p for p in found if p.status != "pending"]
        among = touching(pending)
        return tuple(self._view(p, among) for p in (*reversed(pending), *reversed(rest)))

    def find(self, change: str | None) -> Proposal:
        """The change of that id, or the newest pending one; ``3`` and ``003`` mean ``change-003``."""
        if change is None:
            pending = self.store.pending()
            if not pending:
                raise NothingYet("pending change", "No change is pending.")
            return pending[-1]
        return self.store.get(
            f"change-{int(change):03d}"
            if change.isascii() and change.isdigit() and len(change) < 10
            else change
        )

    def review(self, change: str | None) -> Review:
        """All there is to see of a change. It does not count as shown yet: see ``shown``."""
        proposal = self.find(change)
        if not proposal.kept:
            raise NoLongerKept(proposal.id, "shown")
        view = self._view(proposal, touching(self.store.pending()))
        diffs = tuple(file_diff(file) for file in proposal.files)
        added = (
            line.text for diff in diffs for hunk in diff.hunks for line in hunk.lines if line.sign == "+"
        )
        return Review(
            proposal=proposal,
            diffs=diffs,
            counts=view.counts,
            stale=view.stale,
            overlaps=view.overlaps,
            banners=tuple(
                (path, text)
                for file in proposal.files
                for path in dict.fromkeys((file.path, file.source))
                if (text := banner(path)) is not None
            ),
            hidden=sum(map(hidden, added)),
            instructions_changed=self._moved_instructions(proposal),
        )

    def shown(self, proposal: Proposal) -> None:
        """A person sees the diff of exactly this proposal in this process."""
        if proposal.status == "pending" and self._shown.get(proposal.id) != proposal.stamp:
            self.store.shown(proposal)
        self._shown[proposal.id] = proposal.stamp

    def apply(self, change: str, stamp: str) -> Applied:
        """Write the change if it still is what was shown under the full ``stamp``, else raise and write nothing.

        Raises ``NeedsPerson`` when it was not shown in this process, ``StampMismatch``, ``StaleProposal``,
        ``WrongStatus``, ``Busy`` or ``ApplyFailed``.
        """
        proposal = self.find(change)
        self._check_status(proposal, "pending", "applied")
        if self._shown.get(proposal.id) is None:
            raise NeedsPerson(f"{proposal.id} must be shown before it can be applied.")
        if stamp != proposal.stamp or self._shown[proposal.id] != stamp:
            raise StampMismatch(proposal.id, short(stamp), proposal.short_stamp)
        return self._apply(proposal)

    def apply_stamped(self, change: str, stamp: str) -> Applied:
        """Write the change under a stamp that a person gives in a shell: at least 12 of its hex digits."""
        digits = stamp.replace("-", "").lower()
        if len(digits) < SHORTEST_STAMP or set(digits) - set("0123456789abcdef"):
            raise NeedsPerson(f"A stamp has at least {SHORTEST_STAMP} hex digits; `show-change` prints it.")
        proposal = self.find(change)
        self._check_status(proposal, "pending", "applied")
        if not proposal.stamp.startswith(digits):
            raise StampMismatch(proposal.id, stamp, proposal.short_stamp)
        return self._apply(proposal)

    def put(self, proposal: Proposal, read: Proposal | None = None) -> None:
        """Store what a model proposes, in place of ``read``, which it amends; waits while a person decides.

        Raises ``Busy`` when that takes long elsewhere, ``WrongStatus``, and ``EditRefused`` when somebody has changed
        meanwhile what was read.
        """
        with self._deciding:
            if not self.store.stored(proposal.id):
                self.store.put(proposal)
                return
            with self._alone():
                try:
                    self.store.put(proposal, read)
                except StampMismatch:
                    raise EditRefused(
                        "conflict",
                        f"{proposal.id} was changed by somebody else at this moment; propose the patch again, against "
                        "the text that it has now.",
                    ) from None

    def discard(self, change: str, reason: str = "") -> Proposal:
        """Set a pending change aside; the model is told, with the reason."""
        with self._alone():
            proposal = self.store.discard(self.find(change).id, reason)
            because = f", saying: {' '.join(reason.split())}" if reason.strip() else ""
            self._news.append(f"The person discarded {proposal.id}{because}.")
            return proposal

    def undo(self, change: str | None) -> Applied:
        """Bring back what an applied change replaced, where the files still hold its result."""
        with self._deciding:
            notes = self._stored(recover(self._workspace, self._state, self._disk))
            proposal = self.find(change or self._applied_last())
            self._check_status(proposal, "applied", "undone")

            def still() -> None:
                self._still(proposal, "applied", "undone")

            done = undo(proposal, self._workspace, self._state, self._disk, still)
            warnings = (*notes, *done.warnings, *self._record(proposal, "undone"))
            self._news.append(f"The person undid {proposal.id}: its files are as they were before it.")
            return Applied(done.id, done.paths, warnings)

    def rebase(self, change: str) -> Proposal:
        """Re-anchor a stale change on the disk as it is; it gets a new stamp and must be shown again."""
        with self._deciding:
            proposal = self.find(change)
            self._check_status(proposal, "pending", "re-anchored")
            if not stale_files(proposal, self._workspace):
                return proposal
            moved = rebase(proposal, self._workspace)
            with self._alone():
                self._still(proposal, "pending", "re-anchored")
                self.store.put(moved)
            self._shown.pop(moved.id, None)
            return moved

    def revise(
        self,
        change: str,
        stamp: str,
        make: Callable[[Proposal], Proposal],
        tell: Callable[[Proposal, Proposal], str],
    ) -> Proposal:
        """Store what ``make`` gives instead of a pending change that was shown under ``stamp``.

        Unless it is the same, it has a new stamp, must be shown again, and ``tell`` says it to the model.
        """
        with self._deciding:
            proposal = self.find(change)
            self._check_status(proposal, "pending", "changed")
            if stamp != proposal.stamp:
                raise StampMismatch(proposal.id, short(stamp), proposal.short_stamp)
            made = make(proposal)
            if made.stamp != stamp:
                with self._alone():
                    self._still(proposal, "pending", "changed")
                    self.store.put(made)
                self._shown.pop(made.id, None)
                self._news.append(tell(proposal, made))
            return made

    def _moved_instructions(self, proposal: Proposal) -> tuple[str, ...]:
        """Documents that govern its files otherwise now than when it was proposed."""
        moved: dict[str, None] = {}
        for file in proposal.files:
            then = {d.path: d.sha256 for d in proposal.instructions if d.file in (file.path, file.source)}
            now = {**self._governed(file.source), **self._governed(file.path)}
            moved.update((path, None) for path in {**then, **now} if then.get(path) != now.get(path))
        return tuple(moved)

    def _apply(self, read: Proposal) -> Applied:
        """Write exactly the proposal that was read, if it still is what is stored."""
        with self._deciding:
            notes = self._stored(recover(self._workspace, self._state, self._disk))

            def still() -> None:
                self._still(read, "pending", "applied")

            still()
            others = [p for p in self.store.pending() if p.id != read.id and overlaps(p, read)]
            fresh = [p for p in others if not stale_files(p, self._workspace)]
            try:
                done = apply(read, self._workspace, self._state, self._disk, still)
            except (StaleProposal, PathRefused) as refusal:
                status = self.store.get(read.id).status
                if status != "pending":  # Another steward was faster with the same change.
                    raise WrongStatus(read.id, status, "applied") from None
                self._told_stale.add(read.stamp)
                self._news.append(f"The person tried to apply {read.id}; it was refused. {refusal}")
                raise
            warnings = (*notes, *done.warnings, *self._record(read, "applied"))
            self._news.append(f"The person applied {read.id}.")
            return Applied(done.id, done.paths, (*warnings, *self._follow(fresh)))

    def _follow(self, others: Iterable[Proposal]) -> tuple[str, ...]:
        """Changes that shared a file with one just applied are re-anchored where that is exact."""
        notes: list[str] = []
        for other in others:
            try:
                moved = self.rebase(other.id)
            except (Conflict, PathRefused):
                notes.append(f"{other.id} touches the same file and is stale now.")
            except StewardError as error:
                notes.append(f"{other.id} touches the same file and was not re-anchored: {error}")
            else:
                if moved.stamp != other.stamp:
                    notes.append(f"{other.id} was re-anchored; it has a new stamp and must be read again.")
        return tuple(notes)

    def _record(self, proposal: Proposal, status: Literal["applied", "undone"]) -> tuple[str, ...]:
        """Store what is on the disk by now and let its journal go. It is done: a fault here is told, not raised."""
        try:
            self.store.settle(proposal, status)
            acknowledge(self._state, proposal.id, self._disk, kind=_KINDS[status])
        except StorageError as error:
            return (
                f"{proposal.id} is {status}; clean-up is unfinished and follows when steward next starts. {error}",
            )
        return ()

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Nobody decides meanwhile, here or in another process; what a dead one left undecided is decided."""
        with self._deciding, held(self._workspace, self._state, self._disk) as found:
            self._untold.extend(self._stored(found, alone=True))
            yield

    def _still(self, read: Proposal, status: str, verb: str) -> None:
        """Raise unless what is stored is what was read, and has that status."""
        stored = self.store.get(read.id)
        self._check_status(stored, status, verb)
        if stored.stamp != read.stamp:
            raise StampMismatch(read.id, read.short_stamp, stored.short_stamp)

    def _stored(self, found: Recovery, *, alone: bool = False) -> tuple[str, ...]:
        """Store what a journal says was committed, before the journal is let go; sentences for the person.

        ``alone`` says that the workspace's lock is held.
        """
        notes = list(found.notes)
        statuses: dict[str, Literal["applied", "undone"]] = {
            **dict.fromkeys(found.committed, "applied"),
            **dict.fromkeys(found.undone, "undone"),
        }
        for change, status in statuses.items():
            stored = self._known(change, found.stamps[change])
            if stored is None:
                notes.append(
                    f"A {change} was {status} on the disk that is not what the database knows by that id; its files "
                    "stay as they are."
                )
            else:
                self.store.settle(stored, status)
            acknowledge(self._state, change, self._disk, kind=_KINDS[status], alone=alone)
        return tuple(notes)

    def _known(self, change: str, stamp: str) -> Proposal | None:
        """The change that was applied, or undone, under a stamp; ``None`` when what is stored is another."""
        try:
            stored = self.store.get(change)
        except NoSuchThing:
            return None
        return stored if stored.stamp == stamp else None

    def _prune(self) -> tuple[str, ...]:
        try:
            gone = self.store.prune(self._keep.keep_days, self._keep.keep_bytes)
        except StorageError as error:
            return (f"Old changes could not be cleared: {error}",)
        if not gone:
            return ()
        named = ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
        return (
            f"The contents of {named} are no longer kept (older than {self._keep.keep_days} days, or more than "
            f"{self._keep.keep_bytes} bytes in all); they can be neither shown nor undone.",
        )

    def _applied_last(self) -> str:
        applied = [entry.change for entry in self.store.audit.entries() if entry.kind == "applied"]
        statuses = self.store.statuses()
        for change in reversed(applied):
            if statuses.get(change) == "applied":
                return change
        raise NothingYet("applied change", "No change is applied, so none can be undone.")

    @staticmethod
    def _check_status(proposal: Proposal, wanted: str, verb: str) -> None:
        if proposal.status != wanted:
            raise WrongStatus(proposal.id, proposal.status, verb)

    def _view(self, proposal: Proposal, among: Mapping[str, Sequence[str]]) -> ChangeView:
        stale: tuple[StaleFile, ...] = ()
        shared: tuple[str, ...] = ()
        if proposal.status == "pending":
            stale = stale_files(proposal, self._workspace)
            shared = tuple(others(proposal, among))
        return ChangeView(proposal, counted(proposal), stale, shared)


def touching(pending: Iterable[Proposal]) -> dict[str, list[str]]:
    """The ids of the changes that touch each path, in their order."""
    found: dict[str, list[str]] = {}
    for proposal in pending:
        for path in touched(proposal):
            found.setdefault(path, []).append(proposal.id)
    return found


def others(proposal: Proposal, among: Mapping[str, Sequence[str]]) -> list[str]:
    """The ids of other changes that touch a path of this one, in their order; see ``touching``."""
    found = {change for path in touched(proposal) for change in among.get(path, ())} - {proposal.id}
    return sorted(found, key=lambda change: (len(change), change))


def named(stale: Iterable[StaleFile]) -> str:
    """Stale files with what is wrong with each."""
    return ", ".join(f"{file.path} ({file.reason})" for file in stale)


def counted(proposal: Proposal) -> tuple[FileCount, ...]:
    """Added and removed lines of each file."""
    return tuple(
        FileCount(file.path, file.action, *((left.added, left.removed) if left else counts(file)))
        for file in proposal.files
        for left in (file.remains,)
    )
