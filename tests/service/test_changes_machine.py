"""Whatever a model proposes, a person decides, others write and processes die of: the disk is what was agreed to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from steward.errors import (
    Conflict,
    EditRefused,
    NeedsPerson,
    PathRefused,
    StaleProposal,
    StampMismatch,
    StewardError,
    WrongStatus,
)
from steward.proposals import FileChange, Proposal
from steward.proposals.record import standing
from steward.storage import ChangeStore
from tests.proposals.watched import Cut, Unsynced, Watched
from tests.service.rooms import Patch, Rooms

PATHS = ("a.txt", "d/b.txt", "d/e/c.txt", "new.txt", "d/new.txt", "n/m/new.txt")
WORDS = ("one", "two", "three", "four", "five", "six")

paths = st.sampled_from(PATHS)
words = st.sampled_from(WORDS)
spots = st.integers(min_value=0, max_value=11)
"""Which of the words that stand somewhere exactly once, counted round."""

picks = st.integers(min_value=0, max_value=7)
"""Which of the changes there are, pending ones first and the newest of them before others, counted round."""
contents = st.lists(words, min_size=0, max_size=4).map(
    lambda lines: "".join(f"{w}\n" for w in lines).encode()
)
moments = st.integers(min_value=0, max_value=70)
"""Before which operation on the disk a process dies; when it has fewer it does not."""

Tree = dict[str, bytes]


class Seam(Watched):
    """The real disk, until the process dies before an operation."""

    def __init__(self) -> None:
        super().__init__(Unsynced())
        self._left: int | None = None

    def die_before(self, operations: int) -> None:
        """Let so many operations pass."""
        self._left = operations

    def around(self, number: int, name: str, do: Callable[[], Any]) -> Any:
        if self._left is not None:
            if self._left <= 0:
                raise Cut
            self._left -= 1
        return do()


class Store(ChangeStore):
    """A store before whose record the process dies, when it is to."""

    dying = False

    def settle(self, proposal: Proposal, to: Literal["applied", "undone"]) -> None:
        if self.dying:
            raise Cut
        super().settle(proposal, to)


@dataclass(frozen=True)
class Known:
    """A change as the machine knows it."""

    proposal: Proposal
    status: str = "pending"

    def after(self, tree: Tree) -> Tree | None:
        """The tree with the change, or ``None`` when it was made for another one."""
        return _switched(tree, self.proposal.files, forth=True)

    def before(self, tree: Tree) -> Tree | None:
        """The tree without it, where all of it is there still."""
        return _switched(tree, self.proposal.files, forth=False)


def _switched(tree: Tree, files: tuple[FileChange, ...], *, forth: bool) -> Tree | None:
    made = dict(tree)
    for file in files:
        source, base, target, result = file.source, file.base, file.path, file.result
        if not forth:
            source, base, target, result = target, result, source, base
        if tree.get(source) != base or (source != target and target in tree):
            return None
        made.pop(source, None)
        if result is not None:
            made[target] = result
    return made


class Decisions(RuleBasedStateMachine):
    """A model, a person, another program and a killer of processes, each doing something in turn."""

    def __init__(self) -> None:
        super().__init__()
        self._place = tempfile.TemporaryDirectory()
        self.root = Path(self._place.name, "repository")
        self.root.mkdir()
        self.tree: Tree = {}
        self.changes: dict[str, Known] = {}
        self.shown: dict[str, str] = {}
        self.disk = Seam()
        self.rooms = self.open()

    def open(self) -> Rooms:
        """A process starts."""
        self.disk = Seam()
        rooms = self.unrecovered()
        rooms.desk.recover()
        return rooms

    def unrecovered(self) -> Rooms:
        """A process that has not looked yet at what the last one left."""
        rooms = Rooms(self.root, disk=self.disk, store=Store)
        connection = rooms.database._connection  # pyright: ignore[reportPrivateUsage]
        # A killed process needs no sync to be seen by the next one, and nothing here cuts the power.
        connection.execute("PRAGMA synchronous = OFF")
        return rooms

    def teardown(self) -> None:
        self.rooms.close()
        self._place.cleanup()

    @initialize()
    def plant(self) -> None:
        for path in PATHS[:3]:
            self.write(path, "".join(f"{word}\n" for word in WORDS[:4]).encode())

    def write(self, path: str, data: bytes | None) -> None:
        file = self.root / path
        if data is None:
            file.unlink(missing_ok=True)
            self.tree.pop(path, None)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            self.tree[path] = data

    def pick(self, number: int) -> str:
        newest = list(reversed(self.changes.values()))
        ordered = sorted(newest, key=lambda known: known.status != "pending")
        return ordered[number % len(ordered)].proposal.id

    def some(self) -> bool:
        return bool(self.changes)

    def keep(self, proposal: Proposal) -> None:
        self.changes[proposal.id] = Known(proposal, proposal.status)

    # The model

    @precondition(lambda self: self.singles())
    @rule(spot=spots, new=words)
    def propose(self, spot: int, new: str) -> None:
        path, old = self.spot(spot)
        assert self.proposed(Patch(path, old, new), "new") == (old != new)

    @precondition(lambda self: self.singles())
    @rule(spot=spots, other=spots, new=words, kind=st.sampled_from(("modify", "create", "delete", "rename")))
    def propose_two(self, spot: int, other: int, new: str, kind: str) -> None:
        path, old = self.spot(spot)
        second, word = self.spot(other)
        free = next((p for p in PATHS if p not in self.tree), second)
        patches = {
            "modify": Patch(second, word, new),
            "create": Patch(free, "", f"{new}\n"),
            "delete": Patch(second, "", "", delete=True),
            "rename": Patch(second, "", "", rename_to=free),
        }
        try:
            self.keep(self.rooms.propose(Patch(path, old, new), patches[kind]))
        except StewardError:
            # The first of the two may have been accepted.
            for proposal in self.rooms.store.pending():
                if proposal.id not in self.changes:
                    self.keep(proposal)

    def singles(self) -> list[tuple[str, str]]:
        """Each word that stands exactly once in a file, with the file."""
        return [
            (path, word)
            for path, data in sorted(self.tree.items())
            for word in WORDS
            if data.count(word.encode()) == 1
        ]

    def spot(self, number: int) -> tuple[str, str]:
        singles = self.singles()
        return singles[number * 5 % len(singles)]

    @rule(path=paths, data=contents)
    def create(self, path: str, data: bytes) -> None:
        self.proposed(Patch(path, "", data.decode()), "new")

    @rule(path=paths)
    def delete(self, path: str) -> None:
        self.proposed(Patch(path, "", "", delete=True), "new")

    @rule(path=paths, onto=paths)
    def rename(self, path: str, onto: str) -> None:
        self.proposed(Patch(path, "", "", rename_to=onto), "new")

    @precondition(lambda self: bool(self.changes and self.singles()))
    @rule(number=picks, spot=spots, new=words)
    def amend(self, number: int, spot: int, new: str) -> None:
        change = self.pick(number)
        path, old = self.spot(spot)
        before = self.changes[change]
        if self.proposed(Patch(path, old, new), change):
            assert before.status == "pending"
            assert self.changes[change].proposal.stamp != before.proposal.stamp or (
                self.changes[change].status == "discarded"
            )

    def proposed(self, patch: Patch, change: str) -> bool:
        try:
            proposal = self.rooms.propose(patch, change=change)
        except (EditRefused, PathRefused, Conflict):
            return False
        self.keep(proposal)
        if proposal.status == "pending":
            for file in proposal.files:
                # What is proposed is proposed for what stands on the disk, or stood there before.
                assert change != "new" or self.tree.get(file.source) == file.base
        return True

    # Somebody else

    @rule(path=paths, data=st.none() | contents)
    def edit_outside(self, path: str, data: bytes | None) -> None:
        self.write(path, data)

    @rule(path=paths, line=words)
    def add_a_line_outside(self, path: str, line: str) -> None:
        if path in self.tree:
            self.write(path, f"{line} more\n".encode() + self.tree[path])

    # The person

    @precondition(some)
    @rule(number=picks)
    def show(self, number: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        review = self.rooms.desk.review(change)
        assert (review.proposal.stamp, review.proposal.status) == (known.proposal.stamp, known.status)
        if known.status == "pending":
            assert bool(review.stale) == (known.after(self.tree) is None)
        self.rooms.desk.shown(review.proposal)
        self.shown[change] = review.proposal.stamp

    @precondition(some)
    @rule(number=picks)
    def apply(self, number: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        wanted = known.after(self.tree)
        refusal = self.refused(known, known.proposal.stamp)
        if refusal is not None:
            with pytest.raises(refusal):
                self.rooms.desk.apply(change, known.proposal.stamp)
        else:
            assert wanted is not None
            done = self.rooms.desk.apply(change, known.proposal.stamp)
            assert set(done.paths) == {path for f in known.proposal.files for path in (f.path, f.source)}
            self.tree = wanted
            self.changes[change] = replace(known, status="applied")
            self.follow(known.proposal)

    @precondition(some)
    @rule(number=picks)
    def read_and_apply(self, number: int) -> None:
        self.show(number)
        self.apply(number)

    def refused(self, known: Known, stamp: str) -> type[StewardError] | None:
        """What must come of applying under a stamp, ``None`` when it must succeed."""
        if known.status != "pending":
            return WrongStatus
        if known.proposal.id not in self.shown:
            return NeedsPerson
        if stamp != known.proposal.stamp or self.shown[known.proposal.id] != stamp:
            return StampMismatch
        return StaleProposal if known.after(self.tree) is None else None

    def follow(self, applied: Proposal) -> None:
        """Pending changes that shared a file may have been re-anchored: under a new stamp, on what is there now."""
        touched = {path for file in applied.files for path in (file.path, file.source)}
        for change, known in self.changes.items():
            stored = self.rooms.store.get(change)
            if known.status == "pending" and stored.stamp != known.proposal.stamp:
                # What the applied change did in the same way is no longer part of it.
                assert touched & {path for file in known.proposal.files for path in (file.path, file.source)}
                self.keep(stored)
                self.shown.pop(change, None)
                assert self.changes[change].after(self.tree) is not None

    @precondition(some)
    @rule(number=picks, digit=st.integers(0, 63))
    def apply_with_a_wrong_stamp(self, number: int, digit: int) -> None:
        self.show(number)
        change = self.pick(number)
        stamp = self.changes[change].proposal.stamp
        wrong = stamp[:digit] + ("0" if stamp[digit] != "0" else "1") + stamp[digit + 1 :]
        with pytest.raises((NeedsPerson, StampMismatch, WrongStatus)):
            self.rooms.desk.apply(change, wrong)
        with pytest.raises((NeedsPerson, StampMismatch, WrongStatus)):
            self.rooms.desk.apply_stamped(change, wrong[: max(12, digit + 1)])

    @precondition(some)
    @rule(number=picks, other=picks)
    def apply_with_the_stamp_of_another(self, number: int, other: int) -> None:
        self.show(number)
        change, stamp = self.pick(number), self.changes[self.pick(other)].proposal.stamp
        if stamp != self.changes[change].proposal.stamp:
            with pytest.raises((NeedsPerson, StampMismatch, WrongStatus)):
                self.rooms.desk.apply(change, stamp)

    @precondition(lambda self: bool(self.changes and self.singles()))
    @rule(number=picks, spot=spots, new=words)
    def apply_what_was_amended_after_it_was_shown(self, number: int, spot: int, new: str) -> None:
        self.show(number)
        change = self.pick(number)
        shown = self.changes[change].proposal.stamp
        self.amend(number, spot, new)
        now = self.changes[change].proposal.stamp
        if now != shown:
            for stamp in (shown, now):
                with pytest.raises((StampMismatch, WrongStatus)):
                    self.rooms.desk.apply(change, stamp)

    @precondition(some)
    @rule(number=picks)
    def undo(self, number: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        wanted = known.before(self.tree)
        if known.status != "applied":
            with pytest.raises(WrongStatus):
                self.rooms.desk.undo(change)
        elif wanted is None:
            with pytest.raises(StaleProposal):
                self.rooms.desk.undo(change)
        else:
            self.rooms.desk.undo(change)
            self.tree = wanted
            self.changes[change] = replace(known, status="undone")

    @precondition(some)
    @rule(number=picks)
    def discard(self, number: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        if known.status != "pending":
            with pytest.raises(WrongStatus):
                self.rooms.desk.discard(change)
        else:
            self.rooms.desk.discard(change)
            self.changes[change] = replace(known, status="discarded")

    @precondition(some)
    @rule(number=picks)
    def rebase(self, number: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        fresh = known.after(self.tree) is not None
        try:
            moved = self.rooms.desk.rebase(change)
        except WrongStatus:
            assert known.status != "pending"
        except (Conflict, PathRefused):
            assert not fresh
        else:
            assert fresh == (moved.stamp == known.proposal.stamp)
            self.keep(moved)
            assert self.changes[change].after(self.tree) is not None
            if not fresh:
                self.shown.pop(change, None)

    # Processes end

    @rule()
    def restart(self) -> None:
        self.rooms.close()
        self.rooms = self.open()
        self.shown.clear()

    def killed(self) -> None:
        """The process is gone, with its descriptors and its memory."""
        self.disk.reap()
        self.rooms.close()
        self.rooms = self.open()
        self.shown.clear()

    @precondition(some)
    @rule(number=picks, moment=moments)
    def die_while_applying(self, number: int, moment: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        wanted = known.after(self.tree)
        self.disk.die_before(moment)
        try:
            self.rooms.desk.apply(change, known.proposal.stamp)
        except (Cut, StewardError):
            pass
        self.killed()
        self.settled(known, wanted, "applied")

    @precondition(some)
    @rule(number=picks, moment=moments)
    def read_and_die_while_applying(self, number: int, moment: int) -> None:
        self.show(number)
        self.die_while_applying(number, moment)

    @precondition(some)
    @rule(number=picks, moment=moments)
    def die_while_undoing(self, number: int, moment: int) -> None:
        change = self.pick(number)
        known = self.changes[change]
        wanted = known.before(self.tree)
        self.disk.die_before(moment)
        try:
            self.rooms.desk.undo(change)
        except (Cut, StewardError):
            pass
        self.killed()
        self.settled(known, wanted, "undone")

    @precondition(some)
    @rule(number=picks)
    def die_before_it_is_recorded(self, number: int) -> None:
        self.show(number)
        known = self.changes[self.pick(number)]
        wanted = known.after(self.tree)
        assert isinstance(self.rooms.store, Store)
        self.rooms.store.dying = True
        try:
            self.rooms.desk.apply(known.proposal.id, known.proposal.stamp)
        except (Cut, StewardError):
            pass
        self.killed()
        self.settled(known, wanted, "applied")

    @precondition(some)
    @rule(number=picks, moment=moments, again=moments)
    def die_while_recovering(self, number: int, moment: int, again: int) -> None:
        self.show(number)
        known = self.changes[self.pick(number)]
        wanted = known.after(self.tree)
        self.disk.die_before(moment)
        try:
            self.rooms.desk.apply(known.proposal.id, known.proposal.stamp)
        except (Cut, StewardError):
            pass
        self.disk.reap()
        self.rooms.close()
        self.disk = Seam()
        self.rooms = self.unrecovered()
        self.disk.die_before(again)
        try:
            self.rooms.desk.recover()
        except Cut:
            pass
        self.killed()
        self.settled(known, wanted, "applied")

    def settled(self, known: Known, wanted: Tree | None, status: str) -> None:
        """After a death all of it is there and recorded, or nothing of it."""
        change = known.proposal.id
        stored = self.rooms.store.get(change).status
        if stored != known.status:
            assert stored == status and wanted is not None
            self.tree = wanted
            self.changes[change] = replace(known, status=status)
            if status == "applied":
                self.follow(known.proposal)

    # What must hold after every step

    @invariant()
    def the_disk_is_what_was_agreed_to(self) -> None:
        found = {
            p.relative_to(self.root).as_posix(): p.read_bytes() for p in self.root.rglob("*") if p.is_file()
        }
        assert found == self.tree

    @invariant()
    def the_store_says_the_same(self) -> None:
        statuses = self.rooms.store.statuses()
        assert statuses == {change: known.status for change, known in self.changes.items()}
        for change, known in self.changes.items():
            stored = self.rooms.store.get(change)
            assert (stored.files, stored.stamp) == (known.proposal.files, known.proposal.stamp)

    @invariant()
    def nothing_was_applied_that_was_not_shown(self) -> None:
        history = self.rooms.desk.history()
        assert history.warnings == ()
        shown: set[tuple[str, str]] = set()
        for line in history.lines:
            if line.kind == "shown":
                shown.add((line.change, line.stamp))
            assert line.kind != "applied" or (line.change, line.stamp) in shown

    @invariant()
    def nothing_is_left_to_recover(self) -> None:
        journal = self.rooms.state / "journal"
        assert not journal.exists() or not list(standing(journal))


Decisions.TestCase.settings = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=80,
    stateful_step_count=50,
    phases=(Phase.generate,),  # To shrink a failure takes longer than the suite gives a test.
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.filter_too_much),
)
TestDecisions = Decisions.TestCase
