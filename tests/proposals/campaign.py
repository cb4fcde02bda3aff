"""The campaign on the model disk: power cuts and kills everywhere, recovery cut again, and what must then hold."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from steward.errors import ApplyFailed, StaleProposal, StewardError
from steward.proposals.apply import apply
from steward.proposals.disk import Disk
from steward.proposals.keep import PREFIX
from steward.proposals.recover import Recovery, acknowledge, recover
from steward.proposals.undo import undo
from tests.proposals.model_disk import ModelDisk, Snapshot
from tests.proposals.scenes import GROUND, Scene, applied
from tests.proposals.watched import Cut, CutAt, FailAt, VisitBefore, Watched

STATE = Path("/state")


class Violation(AssertionError):
    """A state after a crash that must not be."""


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
        mutate: Callable[[Disk], Disk] = lambda disk: disk,
        model: Callable[[Scene], ModelDisk] = Scene.in_model,
    ) -> None:
        self._scene = scene
        self._random = random.Random(seed)
        self._samples = samples
        self._depth = depth
        self._again = again
        """How likely recovery is cut before any of its own operations."""
        self._mutate = mutate
        self._model = model
        self.recoveries = 0

    def run_apply(self) -> None:
        """Cut an apply that succeeds, and the acknowledgement after it."""
        disk = self._model(self._scene)
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
        disk = self._model(self._scene)
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

    def run_undo(self) -> None:
        """Cut an undo of an apply that was acknowledged."""
        disk = self._model(self._scene)
        proposal = applied(self._scene.proposal(GROUND.identity))
        apply(self._scene.proposal(GROUND.identity), GROUND, STATE, disk)
        acknowledge(STATE, proposal.id, disk)
        disk.settle()
        before, after = self._scene.after, self._scene.before
        watched = self._visiting(disk, lambda: self._cut(disk, before, after, self._depth))
        undo(proposal, GROUND, STATE, self._mutate(watched))
        self._cut(disk, after, after, self._depth)

    def _visiting(self, disk: ModelDisk, visit: Callable[[], None]) -> Disk:
        seen = -1

        def look(_: int) -> None:
            nonlocal seen
            if disk.version != seen:
                seen = disk.version
                visit()

        return VisitBefore(disk, look)

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

        try:
            recovery = recover(GROUND, STATE, self._mutate(self._visiting(disk, visit)))
        except StewardError as error:
            raise Violation(f"recovery refused: {error}") from error
        outcome = self._check(disk, recovery, before, after, told)
        choice = self._random.choice(list(disk.choices(0, self._random)))
        later = disk.cut(choice)
        self._check(later, recover(GROUND, STATE, later), outcome, outcome, told)

    def _check(
        self, disk: ModelDisk, recovery: Recovery, before: Snapshot, after: Snapshot, told: bool
    ) -> Snapshot:
        found = disk.snapshot()
        if found not in (before, after):
            raise Violation(
                f"neither before nor after: {difference(found, before)} / {difference(found, after)}"
            )
        journal = [name for name in disk.snapshot("/state") if name.startswith("journal/")]
        reported = recovery.committed or recovery.undone
        if before != after and not told:
            if found == after and not reported:
                raise Violation("applied, and nobody will be told")
            if found == before and (reported or journal):
                raise Violation("not applied, but reported so")
        if recovery.notes and not recovery.rolled_back:
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


def difference(found: Snapshot, wanted: Snapshot) -> dict[str, str]:
    """What differs between two trees, briefly."""
    return {
        path: f"{found.get(path)!r:.60} instead of {wanted.get(path)!r:.60}"
        for path in sorted(found.keys() | wanted.keys())
        if found.get(path) != wanted.get(path)
    }
