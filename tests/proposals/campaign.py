"""The campaign on the model disk: power cuts and kills everywhere, recovery cut again, and what must then hold."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from steward.errors import ApplyFailed, StaleProposal, StewardError, StorageError
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.journal import opened
from steward.proposals.keep import PREFIX
from steward.proposals.record import Kind
from steward.proposals.recover import Recovery, acknowledge, recover
from steward.proposals.undo import reversed_files, undo
from tests.proposals.model_disk import ModelDisk, Snapshot
from tests.proposals.scenes import GROUND, Scene, applied
from tests.proposals.watched import Cut, CutAt, FailAt, Making, VisitBefore, Watched

STATE = Path("/state")


class Violation(BaseException):
    """A state after a crash that must not be; what is watched must not catch it and fail in another way."""


def _recovered(disk: Disk) -> Recovery:
    try:
        return recover(GROUND, STATE, disk)
    except StewardError as error:
        raise Violation(f"recovery refused: {error}") from error


class Campaign:
    """Cuts one apply, or one undo, of a scene before every operation that finds something changed."""

    def __init__(
        self,
        scene: Scene,
        seed: int,
        *,
        samples: int = 2,
        depth: int = 2,
        again: float = 0.02,
        used: bool = False,
        mutate: Callable[[Disk], Disk] = lambda disk: disk,
        model: Callable[[Scene], ModelDisk] = Scene.in_model,
    ) -> None:
        self._scene = scene
        self._random = random.Random(seed)
        self._used = used
        """Whether the journal has held records before."""
        self._samples = samples
        self._depth = depth
        self._again = again
        """How likely recovery is cut before any of its own operations."""
        self._mutate = mutate
        self._model = model
        self._kind: Kind = "apply"
        """What is cut."""
        self.recoveries = 0

    def run_apply(self) -> None:
        """Cut an apply that succeeds, and the acknowledgement after it."""
        disk = self._machine()
        proposal = self._scene.proposal(GROUND.identity)
        before, after = self._scene.before, self._scene.after
        watched = self._visiting(disk, lambda: self._cut(disk, before, after, self._depth))
        apply(proposal, GROUND, STATE, self._mutate(watched))
        self._cut(disk, after, after, self._depth)
        watched = self._visiting(disk, lambda: self._cut(disk, after, after, 1, told=True))
        acknowledge(STATE, proposal.id, self._mutate(watched))
        self._cut(disk, after, after, 1, told=True)

    def run_failing(self, number: int) -> bool:
        """Cut an apply whose operation ``number`` fails, from there on; whether it came to that operation."""
        disk = self._machine()
        before, after = self._scene.before, self._scene.after

        def visit() -> None:
            # Up to there it is the apply that succeeds.
            if len(failing.names) > number:
                self._cut(disk, before, after, self._depth)

        failing = FailAt(self._visiting(disk, visit), number, errno.EIO)
        try:
            apply(self._scene.proposal(GROUND.identity), GROUND, STATE, self._mutate(failing))
        except StewardError:
            self._cut(disk, before, before, self._depth)
            return True
        self._cut(disk, after, after, self._depth)
        return len(failing.names) > number

    def run_meeting(self) -> None:
        """Cut an apply while which somebody else makes the first of its directories."""
        disk = self._machine()
        making = Making(disk)
        before, after = self._scene.before, self._scene.after

        def visit() -> None:
            self._cut(disk, {**before, **making.made}, {**after, **making.made}, self._depth)

        watched = self._visiting(disk, visit, making)
        apply(self._scene.proposal(GROUND.identity), GROUND, STATE, self._mutate(watched))
        assert making.made
        after = {**after, **making.made}
        self._cut(disk, after, after, self._depth)

    def run_undo(self) -> None:
        """Cut an undo of an apply that was acknowledged."""
        disk = self._model(self._scene)
        apply(self._scene.proposal(GROUND.identity), GROUND, STATE, disk)
        acknowledge(STATE, "change-001", disk)
        self._undo(disk)

    def run_after_forgetting(self, number: int) -> bool:
        """Cut an undo of an apply whose acknowledgement died at operation ``number``; whether it came to that."""
        disk = self._model(self._scene)
        apply(self._scene.proposal(GROUND.identity), GROUND, STATE, disk)
        died = False
        try:
            acknowledge(STATE, "change-001", CutAt(disk, number))
        except Cut:
            died = True
            disk = disk.kill()
        acknowledge(STATE, "change-001", disk)
        self._undo(disk)
        return died

    def _undo(self, disk: ModelDisk) -> None:
        self._kind = "undo"
        before, after = self._scene.after, self._scene.before
        watched = self._visiting(disk, lambda: self._cut(disk, before, after, self._depth))
        undo(applied(self._scene.proposal(GROUND.identity)), GROUND, STATE, self._mutate(watched))
        self._cut(disk, after, after, self._depth)
        self._kind = "apply"

    def live(self, changes: int) -> None:
        """Change there and back on one machine, which fails or dies now and then and lives on with what is left."""
        disk = self._model(self._scene)
        there = self._scene.proposal(GROUND.identity)
        ways = (there.files, reversed_files(there))
        states = (_files(self._scene.before), _files(self._scene.after))
        now = 0
        owed: set[str] = set()
        unsure: set[str] = set()
        died: set[str] = set()
        for number in range(changes):
            order = replace(there, id=f"change-{number:03}", files=ways[now])
            fate = "died"
            troubled = self._mutate(self._troubled(disk))
            try:
                apply(order, GROUND, STATE, troubled)
                fate = "applied"
                owed.add(order.id)
                # What was forgotten in memory alone is forgotten for good by the syncs of the next change.
                unsure.clear()
                died.clear()
                for change in sorted(owed):
                    if self._random.random() < 0.8:
                        unsure.add(change)
                        acknowledge(STATE, change, troubled)
                        unsure.discard(change)
                        owed.discard(change)
            except ApplyFailed:
                fate = "refused"
            except StorageError:
                pass
            except StewardError as error:
                raise Violation(f"{number}: {error}") from error
            except Cut:
                disk = self._crashed(disk)
            disk, recovery = self._survived(disk)
            told = set(recovery.committed)
            if fate == "died":
                unsure.add(order.id)
                died.add(order.id)
            if not owed - unsure <= told <= owed | unsure:
                raise Violation(f"{number}: {told} instead of {owed}, {unsure}")
            if not died >= set(recovery.rolled_back):
                raise Violation(f"{number}: {recovery.rolled_back} after it {fate}")
            if fate == "applied" or order.id in told:
                now = 1 - now
            found = _files(disk.snapshot())
            if found != states[now]:
                raise Violation(f"{number}: {difference(found, states[now])}")
            owed = told

    def _machine(self) -> ModelDisk:
        """Where an apply begins; where the journal is used, another one was taken back by an undo."""
        disk = self._model(self._scene)
        if self._used:
            proposal = self._scene.proposal(GROUND.identity, "change-000")
            apply(proposal, GROUND, STATE, disk)
            acknowledge(STATE, proposal.id, disk)
            undo(applied(proposal), GROUND, STATE, disk)
            acknowledge(STATE, proposal.id, disk)
        return disk

    def _troubled(self, disk: Disk) -> Disk:
        number = self._random.randrange(120)
        match self._random.randrange(4):
            case 0:
                return disk
            case 1:
                return FailAt(disk, number, errno.EIO)
            case _:
                return CutAt(disk, number)

    def _crashed(self, disk: ModelDisk) -> ModelDisk:
        """The machine after a kill or a power cut."""
        if self._random.random() < 0.4:
            return disk.kill()
        return disk.cut(self._random.choice(list(disk.choices(4, self._random))))

    def _survived(self, disk: ModelDisk) -> tuple[ModelDisk, Recovery]:
        """The machine once it came through a recovery, and what that said."""
        while True:
            self.recoveries += 1
            number = self._random.randrange(90)
            try:
                return disk, recover(GROUND, STATE, self._mutate(CutAt(disk, number)))
            except Cut:
                disk = self._crashed(disk)
            except StewardError as error:
                raise Violation(f"recovery refused: {error}") from error

    def _visiting(self, disk: ModelDisk, visit: Callable[[], None], inner: Disk | None = None) -> Disk:
        seen = -1

        def look(_: int) -> None:
            nonlocal seen
            if disk.version != seen:
                seen = disk.version
                visit()

        return VisitBefore(inner or disk, look)

    def _cut(
        self, disk: ModelDisk, before: Snapshot, after: Snapshot, depth: int, *, told: bool = False
    ) -> None:
        """Kill here, and cut the power here in every way; recover from each. ``told``: it was acknowledged."""
        self._recover(disk.kill(), before, after, depth, told)
        for choice in disk.choices(self._samples, self._random):
            self._recover(disk.cut(choice), before, after, depth, told)

    def _recover(self, disk: ModelDisk, before: Snapshot, after: Snapshot, depth: int, told: bool) -> None:
        """Recover a crashed machine, now and then crash that too, and check what came out and that it lasts."""
        self.recoveries += 1

        def visit() -> None:
            if depth and self._random.random() < self._again:
                choices = list(disk.choices(self._samples, self._random))
                choice = self._random.choice(choices)
                for crashed in (disk.kill(), disk.cut(choice)):
                    self._recover(crashed, before, after, depth - 1, told)

        recovery = _recovered(self._mutate(self._visiting(disk, visit)))
        outcome = self._check(disk, recovery, before, after, told)
        choice = self._random.choice(list(disk.choices(0, self._random)))
        later = disk.cut(choice)
        again = _recovered(later)
        self._check(later, again, outcome, outcome, told)
        if not told and self._reported(again) != self._reported(recovery):
            raise Violation(f"told {self._reported(recovery)}, and {self._reported(again)} after another cut")

    def _reported(self, recovery: Recovery) -> tuple[str, ...]:
        return recovery.committed if self._kind == "apply" else recovery.undone

    def _check(
        self, disk: ModelDisk, recovery: Recovery, before: Snapshot, after: Snapshot, told: bool
    ) -> Snapshot:
        found = disk.snapshot()
        if found not in (before, after):
            raise Violation(
                f"neither before nor after: {difference(found, before)} / {difference(found, after)}"
            )
        with opened(STATE, disk, create=False) as books:
            journal = [] if books is None else [r for r in books.records() if r.kind == self._kind]
        reported = self._reported(recovery)
        if before != after and not told:
            if found == after and not reported:
                raise Violation("applied, and nobody will be told")
            if found == before and (reported or journal):
                raise Violation("not applied, but reported so")
        if recovery.notes and (told or not recovery.rolled_back):
            raise Violation(f"notes without a reason: {recovery.notes}")
        return found


Act = Callable[[ModelDisk, str, bytes], None]

RIVALRIES: dict[str, Act] = {
    "writes": lambda disk, path, data: disk.put(path, data),
    "replaces": lambda disk, path, data: disk.replace(path, data),
    "removes": lambda disk, path, data: disk.remove(path),
}
"""What another program does to a path, by name."""


class Deed(NamedTuple):
    """What a rival does before one operation, counted on from apply through recovery."""

    number: int
    path: str
    act: str

    @property
    def data(self) -> bytes:
        """The bytes that are written, if any are."""
        return f"what a rival wrote to {self.path} before {self.number}\n".encode()


class Rivalry:
    """Lets rivals act on paths before any operations, with and without a kill later."""

    def __init__(
        self,
        scene: Scene,
        seed: int,
        *,
        kills: int = 1,
        mutate: Callable[[Disk], Disk] = lambda disk: disk,
        model: Callable[[Scene], ModelDisk] = Scene.in_model,
    ) -> None:
        self._scene = scene
        self._random = random.Random(seed)
        self._kills = kills
        self._mutate = mutate
        self._model = model
        self.runs = 0

    def run(self, *, step: int = 1) -> None:
        """Every act on every path before every ``step``-th operation; raises ``Violation``."""
        paths = sorted({p for c in self._scene.changes for p in (c.path, c.source)} | {"new/other.txt"})
        total = self._count()
        for number in range(0, total, step):
            for path in paths:
                for act in RIVALRIES:
                    self._perform([Deed(number, path, act)], None)
                    for _ in range(self._kills):
                        kill = self._random.randrange(number, total + 40)
                        self._perform([Deed(number, path, act)], kill)

    def fuzz(self, count: int) -> None:
        """Random acts, more than one on a path too: during apply, taking back, and recovery after a kill."""
        paths = sorted({p for c in self._scene.changes for p in (c.path, c.source)})
        total = self._count()
        for _ in range(count):
            first = self._random.randrange(total)
            deeds = [
                Deed(first + self._random.randrange(60), path, self._random.choice(tuple(RIVALRIES)))
                for path in self._random.choices(paths, k=self._random.randint(1, 4))
            ]
            self._perform(deeds, self._random.choice((None, first + self._random.randrange(60))))

    def _count(self) -> int:
        watched = Watched(self._model(self._scene))
        apply(self._scene.proposal(GROUND.identity), GROUND, STATE, watched)
        return len(watched.names)

    def _perform(self, deeds: list[Deed], kill: int | None) -> None:
        """One apply, killed before operation ``kill``, and the recovery after it."""
        self.runs += 1
        disk = self._model(self._scene)
        written: dict[bytes, str] = {}
        count = -1

        def visit(_: int) -> None:
            nonlocal count
            count += 1
            for deed in deeds:
                if count == deed.number and _reachable(disk, deed.path):
                    # What is overwritten by a rival itself is not ours to keep.
                    written.pop(disk.snapshot().get(deed.path, ("", 0, b""))[2], None)
                    RIVALRIES[deed.act](disk, deed.path, deed.data)
                    if deed.act != "removes":
                        written[deed.data] = deed.path

        what = f"{[tuple(deed) for deed in deeds]}, kill at {kill}"
        dying = CutAt(VisitBefore(disk, visit), 10**9 if kill is None else kill)
        try:
            apply(self._scene.proposal(GROUND.identity), GROUND, STATE, self._mutate(dying))
        except (StaleProposal, ApplyFailed):
            pass
        except StewardError as error:
            raise Violation(f"{what}: {error}") from error
        except Cut:
            disk = disk.kill()
        try:
            recover(GROUND, STATE, self._mutate(VisitBefore(disk, visit)))
        except StewardError as error:
            raise Violation(f"{what}: {error}") from error
        self._check(disk.snapshot(), [deed.path for deed in deeds], written, what, killed=kill is not None)

    def _check(
        self, found: Snapshot, touched: list[str], written: dict[bytes, str], what: str, *, killed: bool
    ) -> None:
        files = {p: f for p, f in found.items() if f[0] == "file"}
        kept = [files.pop(p) for p in list(files) if p.rpartition("/")[2].startswith(PREFIX)]
        before, after, rest = (
            {p: f for p, f in tree.items() if f[0] == "file" and p not in touched}
            for tree in (self._scene.before, self._scene.after, files)
        )
        if rest not in (before, after):
            raise Violation(f"{what}: {difference(rest, before)} / {difference(rest, after)}")
        for data, path in written.items():
            there = files[path][2] if path in files else None
            # Two versions by rivals, or a cut while theirs was on its way back: then beside its place will do.
            beside = killed or touched.count(path) > 1
            if there != data and not (beside and any(other == data for _, _, other in kept)):
                raise Violation(f"{what}: {data!r} is not in its place; there is {there!r:.60}")


def _reachable(disk: ModelDisk, path: str) -> bool:
    """Whether a rival's write by this path finds its directory."""
    parent = path.rpartition("/")[0]
    return not parent or parent in disk.snapshot()


def _files(tree: Snapshot) -> Snapshot:
    return {path: entry for path, entry in tree.items() if entry[0] == "file"}


def difference(found: Snapshot, wanted: Snapshot) -> dict[str, str]:
    """What differs between two trees, briefly."""
    return {
        path: f"{found.get(path)!r:.60} instead of {wanted.get(path)!r:.60}"
        for path in sorted(found.keys() | wanted.keys())
        if found.get(path) != wanted.get(path)
    }
