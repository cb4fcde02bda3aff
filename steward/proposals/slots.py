"""A change as names: what each path holds before and what it will hold after, renames taken apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from steward.errors import ApplyFailed
from steward.proposals.proposal import FileChange
from steward.workspace import RepoPath


@dataclass(frozen=True, slots=True)
class Slot:
    """One path: bytes before and after, ``None`` for absent; modes are permission bits, ``None`` for any."""

    path: RepoPath
    before: bytes | None
    after: bytes | None
    before_mode: int | None = None
    after_mode: int | None = None
    origin: RepoPath | None = None
    """Where owner, mode and attributes come from when ``path`` itself holds nothing before."""


def slots(files: Iterable[FileChange]) -> tuple[Slot, ...]:
    """The slots of a change, sorted by path.

    A path that one file of the change leaves and another fills (a swap of two names, a new file in the place of a
    renamed one) is one slot. Raises ``ApplyFailed`` when two files of the change fill one path.
    """
    found: dict[RepoPath, Slot] = {}

    def add(slot: Slot) -> None:
        other = found.get(slot.path)
        if other is None:
            found[slot.path] = slot
        elif other.after is None and slot.before is None:
            found[slot.path] = _merged(other, slot)
        elif slot.after is None and other.before is None:
            found[slot.path] = _merged(slot, other)
        else:
            raise ApplyFailed(f"Two parts of the change write {slot.path.text}; nothing was written.")

    for file in files:
        path = RepoPath.parse(file.path)
        if file.old_path is None or file.old_path == file.path:
            add(Slot(path, file.base, file.result, file.base_mode, file.result_mode))
        else:
            source = RepoPath.parse(file.old_path)
            add(Slot(source, file.base, None, file.base_mode))
            add(Slot(path, None, file.result, None, file.result_mode, origin=source))
    return tuple(found[path] for path in sorted(found))


def _merged(left: Slot, filled: Slot) -> Slot:
    return replace(left, after=filled.after, after_mode=filled.after_mode)
