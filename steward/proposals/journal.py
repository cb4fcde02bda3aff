"""The journal: what a change is about to do, written so that a cut at any moment leaves one whole record or none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from steward.errors import StorageError
from steward.proposals.disk import DIRECTORY, LOOK, NEW, Disk
from steward.workspace import RepoPath

Kind = Literal["apply", "undo"]
Step = Literal["swap", "put", "take"]
Phase = Literal["intent", "switching", "aborting", "committed", "acknowledged"]

_ANY_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Also behind a link: where a person keeps the state directory is their business."""
_MAGIC = "steward-journal-1"
_RECORD, _CLEAN, _DRAFT = ".json", ".clean", ".tmp"


@dataclass(frozen=True, slots=True)
class Image:
    """What identifies a version of a file. ``mode`` is ``None`` where the umask will decide it."""

    sha256: str
    size: int
    mode: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One name to be switched, and the name beside it that holds the other version meanwhile.

    ``swap`` exchanges ``stage`` (new) with ``path`` (old); ``put`` moves ``stage`` to an absent ``path``;
    ``take`` moves ``path`` to an absent ``stage``.
    """

    step: Step
    path: str
    stage: str
    old: Image | None
    new: Image | None
    folded: bool = False
    """Whether a file that this change takes away answers to this name too (a case-only rename)."""

    @property
    def name(self) -> str:
        """The last name of ``path``."""
        return RepoPath.parse(self.path).name

    @property
    def parent(self) -> RepoPath:
        """The directory that holds ``path`` and ``stage``."""
        return RepoPath.parse(self.path).parent


@dataclass(frozen=True, slots=True)
class Record:
    """A change on its way to the disk.

    In phase ``intent`` no path has been switched and every stage is ours, whatever it holds. From ``switching``
    on each stage was complete, so that one which differs came out of a path. ``aborting`` overrules a commit that
    may or may not have reached the disk. ``committed`` waits to be recorded elsewhere; ``acknowledged`` was
    recorded while stages were still left over.
    """

    id: str
    kind: Kind
    stamp: str
    workspace: str
    nonce: str
    entries: tuple[Entry, ...]
    directories: tuple[str, ...] = ()
    """Directories that this change creates, each after the one that holds it."""
    emptied: tuple[str, ...] = ()
    """Directories that go with the last file in them, each before the one that holds it."""
    phase: Phase = "intent"
    clean: bool = False
    """Whether no stage is left; told by the file's name, not by its contents."""

    def at(self, phase: Phase) -> Record:
        """The same record in another phase."""
        return replace(self, phase=phase)

    def parents(self) -> frozenset[RepoPath]:
        """Every directory in which this change makes or removes a name."""
        holding = (RepoPath.parse(text).parent for text in (*self.directories, *self.emptied))
        return frozenset((*(entry.parent for entry in self.entries), *holding))


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that is written and does not count yet."""

    name: str
    target: str


class Journal:
    """The records of one workspace, in ``<state>/journal``; whoever writes holds the workspace's lock."""

    def __init__(self, disk: Disk, directory: int) -> None:
        self.disk = disk
        self.directory = directory

    def empty(self) -> bool:
        """Whether there is no record, not even one that was being written."""
        return not self.disk.listdir(self.directory)

    def records(self) -> tuple[Record, ...]:
        """Every record, oldest name first; raises ``StorageError`` when one cannot be understood."""
        found: list[Record] = []
        for name in sorted(self.disk.listdir(self.directory)):
            if name.endswith((_RECORD, _CLEAN)):
                record = self._read(name)
                if record is not None:
                    found.append(record)
        return tuple(found)

    def sweep(self) -> None:
        """Remove records that were never finished being written."""
        for name in self.disk.listdir(self.directory):
            if name.endswith(_DRAFT):
                self._unlink(name)

    def prepare(self, record: Record) -> Draft:
        """Write a record where it does not count yet; after an error nothing has changed.

        No two drafts share a name: a rename that a power cut saves must not find what an earlier draft left there.
        """
        body = json.dumps(_shape(record), ensure_ascii=True, separators=(",", ":")).encode("ascii")
        head = f"{_MAGIC} {len(body)} {hashlib.sha256(body).hexdigest()}\n".encode("ascii")
        draft = Draft(f"{_name(record)}.{self.disk.nonce()}{_DRAFT}", _name(record) + _RECORD)
        fd = self.disk.open(draft.name, NEW, 0o600, at=self.directory)
        with closing(self.disk, fd):
            write_all(self.disk, fd, head + body)
            self.disk.fsync(fd)
        return draft

    def publish(self, draft: Draft) -> None:
        """Make a prepared record count, durably; after an error nobody knows whether it does."""
        self.disk.rename(draft.name, draft.target, at=self.directory)
        self.disk.fsync(self.directory)

    def save(self, record: Record) -> None:
        """``prepare`` and ``publish``."""
        self.publish(self.prepare(record))

    def mark_clean(self, record: Record) -> None:
        """Note that no stage of a committed record is left. Losing the note costs another look, no more."""
        name = _name(record)
        self.disk.rename(name + _RECORD, name + _CLEAN, at=self.directory)

    def remove(self, record: Record) -> None:
        """Forget a record, durably."""
        for ending in (_RECORD, _CLEAN):
            self._unlink(_name(record) + ending)
        self.sweep()
        self.disk.fsync(self.directory)

    def _unlink(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self.disk.unlink(name, at=self.directory)

    def _read(self, name: str) -> Record | None:
        try:
            fd = self.disk.open(name, LOOK, at=self.directory)
        except FileNotFoundError:
            return None
        with closing(self.disk, fd):
            data = read_all(self.disk, fd)
        try:
            head, body = data.split(b"\n", 1)
            magic, length, digest = head.decode("ascii").split(" ")
            if magic != _MAGIC:
                raise ValueError("another version")
            if len(body) != int(length) or hashlib.sha256(body).hexdigest() != digest:
                raise ValueError("damaged")
            record = _parse(json.loads(body))
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"The journal {name} in the steward's state directory cannot be read, so a change that was cut off "
                "cannot be finished or taken back and no change can be applied. Nothing was touched: compare the "
                "files it was about with your version control, then move the journal away."
            ) from error
        return replace(record, clean=name.endswith(_CLEAN))


@contextmanager
def opened(state: Path, disk: Disk, *, create: bool) -> Generator[Journal | None]:
    """The journal of a workspace's state directory; ``None`` when there is none and ``create`` is false."""
    directory = str(state / "journal")
    if create:
        _make(disk, state)
    try:
        fd = disk.open(directory, DIRECTORY)
    except FileNotFoundError:
        if create:
            raise
        yield None
        return
    try:
        yield Journal(disk, fd)
    finally:
        with suppress(OSError):
            disk.close(fd)


def _make(disk: Disk, state: Path) -> None:
    """The state directory and its journal, with their names on disk before anything relies on them."""
    missing: list[Path] = []
    for directory in (state, *state.parents):
        try:
            disk.close(disk.open(str(directory), _ANY_DIRECTORY))
            break
        except FileNotFoundError:
            missing.append(directory)
    for directory in (*reversed(missing), state / "journal"):
        with suppress(FileExistsError):
            disk.mkdir(str(directory), 0o700)
    _sync(disk, state)
    for directory in (state.parent, *(d.parent for d in missing if d != state)):
        # A directory above that may be entered but not read was made by somebody else, and long ago.
        with suppress(PermissionError):
            _sync(disk, directory)


def _sync(disk: Disk, directory: Path) -> None:
    fd = disk.open(str(directory), _ANY_DIRECTORY)
    with closing(disk, fd):
        disk.fsync(fd)


@contextmanager
def closing(disk: Disk, fd: int) -> Generator[int]:
    """Close ``fd`` in the end; an error of ``close`` counts, unless another came first."""
    try:
        yield fd
    except OSError:
        with suppress(OSError):
            disk.close(fd)
        raise
    except BaseException:
        disk.close(fd)
        raise
    disk.close(fd)


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write every byte."""
    rest = memoryview(data)
    while rest:
        rest = rest[disk.write(fd, rest) :]


def read_all(disk: Disk, fd: int) -> bytes:
    """Read to the end."""
    pieces: list[bytes] = []
    while piece := disk.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _name(record: Record) -> str:
    return f"{record.id}.{record.kind}"


def _shape(record: Record) -> dict[str, Any]:
    shape = asdict(record)
    del shape["clean"]
    return shape


def _parse(shape: Any) -> Record:
    fields = cast(dict[str, Any], shape)
    entries = tuple(
        Entry(e["step"], e["path"], e["stage"], _image(e["old"]), _image(e["new"]), e["folded"])
        for e in cast(list[dict[str, Any]], fields["entries"])
    )
    return Record(
        id=fields["id"],
        kind=fields["kind"],
        stamp=fields["stamp"],
        workspace=fields["workspace"],
        nonce=fields["nonce"],
        entries=entries,
        directories=tuple(fields["directories"]),
        emptied=tuple(fields["emptied"]),
        phase=fields["phase"],
    )


def _image(shape: Any) -> Image | None:
    return None if shape is None else Image(**shape)
