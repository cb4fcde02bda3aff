"""Whether every name of a change still holds what the change was made against, looked at through descriptors."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from steward.errors import PathRefused, StaleProposal
from steward.proposals.disk import LOOK, Disk, read_all
from steward.proposals.look import image_of
from steward.proposals.metadata import Metadata, read_metadata
from steward.proposals.places import GONE, Places
from steward.proposals.record import Image
from steward.proposals.slots import Slot
from steward.workspace import RepoPath


@dataclass(frozen=True, slots=True)
class Checked:
    """A slot that is as the change expects it; images are ``None`` for absent."""

    slot: Slot
    old: Image | None
    new: Image | None
    metadata: Metadata | None
    """What the new version keeps; ``None`` for a file that has no predecessor."""
    folded: bool = False
    """Whether another name of this change leads to the same file (a case-only rename where case is ignored)."""

    @property
    def settled(self) -> bool:
        """Whether there is nothing to do."""
        return self.old == self.new


@dataclass(frozen=True, slots=True)
class _Found:
    stat: os.stat_result
    metadata: Metadata


def check(change: str, wanted: Iterable[Slot], places: Places, disk: Disk) -> tuple[Checked, ...]:
    """Every slot as it was found. Raises ``StaleProposal`` naming all that differ, before anything is touched."""
    wanted = tuple(wanted)
    found: dict[RepoPath, _Found] = {}
    stale: dict[RepoPath, str] = {}
    for slot in wanted:
        if slot.before is None:
            continue
        try:
            found[slot.path] = _held(slot, slot.before, places, disk)
        except _Stale as fault:
            stale[slot.path] = str(fault)
    gone = {slot.path for slot in wanted if slot.after is None}
    leaving = {(f.stat.st_dev, f.stat.st_ino) for path, f in found.items() if path in gone}
    folded: set[RepoPath] = set()
    for slot in wanted:
        if slot.before is None and slot.path not in stale:
            try:
                if _absent(slot, leaving, places, disk):
                    folded.add(slot.path)
            except _Stale as fault:
                stale[slot.path] = str(fault)
    if stale:
        paths = sorted(stale)
        raise StaleProposal(change, tuple(p.text for p in paths), stale[paths[0]])
    return tuple(_checked(slot, found, slot.path in folded) for slot in wanted)


class _Stale(Exception):
    """Why a slot is not as the change expects it."""


def _held(slot: Slot, before: bytes, places: Places, disk: Disk) -> _Found:
    """The file at a slot's path, when it holds exactly the expected bytes and may be replaced."""
    path = slot.path.text
    try:
        at = places.at(slot.path.parent)
        found = disk.stat(slot.path.name, at=at)
    except FileNotFoundError:
        raise _Stale(f"{path} is gone") from None
    except PathRefused as error:
        raise _unless_refused(error) from None
    if stat.S_ISLNK(found.st_mode):
        raise _Stale(f"{path} is a symbolic link now")
    if not stat.S_ISREG(found.st_mode):
        raise _Stale(f"{path} is not a regular file any more")
    fd = disk.open(slot.path.name, LOOK, at=at)
    try:
        found = disk.fstat(fd)
        mode = stat.S_IMODE(found.st_mode)
        if not stat.S_ISREG(found.st_mode):
            raise _Stale(f"{path} is not a regular file any more")
        if found.st_nlink != 1:
            raise _Stale(f"{path} is a hard link: it has {found.st_nlink} names, and only one would change")
        if found.st_size != len(before) or read_all(disk, fd) != before:
            raise _Stale(f"{path} holds other bytes")
        if slot.before_mode is not None and mode != slot.before_mode:
            raise _Stale(f"{path} has mode {mode:04o} and had {slot.before_mode:04o}")
        if not mode & 0o222 or not disk.writable(slot.path.name, at=at):
            raise _Stale(f"{path} is read-only")
        return _Found(found, read_metadata(disk, at, slot.path.name, fd, found))
    finally:
        with suppress(OSError):
            disk.close(fd)


def _absent(slot: Slot, leaving: set[tuple[int, int]], places: Places, disk: Disk) -> bool:
    """Check that a slot's path is free; true when what stands there is a file that this change takes away."""
    try:
        if places.missing(slot.path.parent):
            return False
        found = disk.stat(slot.path.name, at=places.at(slot.path.parent))
    except FileNotFoundError:
        return False
    except PathRefused as error:
        raise _unless_refused(error) from None
    if (found.st_dev, found.st_ino) in leaving:
        return True
    raise _Stale(f"{slot.path.text} exists now")


def _checked(slot: Slot, found: dict[RepoPath, _Found], folded: bool) -> Checked:
    mine = found.get(slot.path)
    source = mine or (found.get(slot.origin) if slot.origin else None)
    old_mode = stat.S_IMODE(source.stat.st_mode) if source else None
    new_mode = old_mode if slot.after_mode is None else slot.after_mode
    return Checked(
        slot,
        None if slot.before is None else image_of(slot.before, old_mode),
        None if slot.after is None else image_of(slot.after, new_mode),
        source.metadata if source else None,
        folded,
    )


def _unless_refused(error: PathRefused) -> Exception:
    """A directory that is gone makes a change stale; any other refusal stays what it is."""
    return _Stale(str(error).rstrip(".")) if error.kind in GONE else error
