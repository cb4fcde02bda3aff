"""The journal: what a change is about to do, written so that a cut at any moment leaves one whole record or none."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from steward.errors import StorageError
from steward.proposals.disk import DIRECTORY, LOOK, NEW, Disk
from steward.workspace import RepoPath

Kind = Literal["apply", "undo"]
Step = Literal["swap", "put", "take"]
Phase = Literal["intent", "switching", "aborting", "committed", "acknowledged"]

_ANY_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Also behind a link: where a person keeps the state directory is their business."""
_MAGIC = "steward-journal-2"
_CLEAN, _DRAFT = ".clean", ".tmp"
_PHASES: tuple[Phase, ...] = get_args(Phase)
_MADE = 0o700
_BEING_MADE = 0o500
"""The mode of the journal's directory until its name is known to be on the disk."""


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
    """Told by the file's name, so that going on to the next phase is one rename."""
    clean: bool = False
    """Whether no stage of a committed record is left; told by the file's name too."""

    def at(self, phase: Phase) -> Record:
        """The same record in another phase."""
        return replace(self, phase=phase)

    def parents(self) -> frozenset[RepoPath]:
        """Every directory in which this change makes or removes a name."""
        holding = (RepoPath.parse(text).parent for text in (*self.directories, *self.emptied))
        return frozenset((*(entry.parent for entry in self.entries), *holding))


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
            if not name.endswith(_DRAFT):
                record = self._read(name)
                if record is not None:
                    found.append(record)
        return tuple(found)

    def sweep(self) -> None:
        """Remove records that were never finished being written."""
        for name in self.disk.listdir(self.directory):
            if name.endswith(_DRAFT):
                self._unlink(name)

    def save(self, record: Record) -> None:
        """Write a record so that it counts, durably; after an error nothing counts that did not before.

        No two drafts share a name: a rename that a power cut saves must not find what an earlier draft left there.
        """
        body = json.dumps(_shape(record), ensure_ascii=True, separators=(",", ":")).encode("ascii")
        head = f"{_MAGIC} {len(body)} {hashlib.sha256(body).hexdigest()}\n".encode("ascii")
        draft = f"{_stem(record)}.{self.disk.nonce()}{_DRAFT}"
        fd = self.disk.open(draft, NEW, 0o600, at=self.directory)
        with closing(self.disk, fd):
            write_all(self.disk, fd, head + body)
            self.disk.fsync(fd)
        self.disk.rename(draft, _name(record), at=self.directory)
        self.confirm()

    def advance(self, record: Record, phase: Phase) -> Record:
        """The record in its next phase, durably; after an error nobody knows in which of the two it is."""
        later = record.at(phase)
        self.disk.rename(_name(record), _name(later), at=self.directory)
        self.confirm()
        return later

    def overrule(self, record: Record) -> Record:
        """Make a record that is ``switching``, or ``committed`` for all anybody knows, ``aborting``, durably."""
        later = record.at("aborting")
        for phase in ("committed", "switching"):
            with suppress(FileNotFoundError):
                self.disk.rename(_name(record.at(phase)), _name(later), at=self.directory)
        self.confirm()
        return later

    def confirm(self) -> None:
        """Make durable what the journal's names say, which may stand in memory alone."""
        self.disk.fsync(self.directory)

    def mark_clean(self, record: Record) -> None:
        """Note that no stage of a committed record is left. Losing the note costs another look, no more."""
        self.disk.rename(_name(record), _stem(record) + _CLEAN, at=self.directory)

    def remove(self, record: Record) -> None:
        """Forget a record, durably."""
        for name in self.disk.listdir(self.directory):
            if name.startswith(_stem(record) + ".") or name.endswith(_DRAFT):
                self._unlink(name)
        self.confirm()

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
            record = _parse(json.loads(body), _phase(name))
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
    try:
        fd = disk.open(directory, DIRECTORY)
    except FileNotFoundError:
        if not create:
            yield None
            return
        _make(disk, state)
        fd = disk.open(directory, DIRECTORY)
    try:
        if not disk.fstat(fd).st_mode & stat.S_IWUSR:
            _settle(disk, state)
            disk.chmod(fd, _MADE)
        yield Journal(disk, fd)
    finally:
        with suppress(OSError):
            disk.close(fd)


def _make(disk: Disk, state: Path) -> None:
    """The state directory and its journal, which nothing is written to before ``_settle``."""
    missing: list[Path] = []
    for directory in (state, *state.parents):
        try:
            disk.close(disk.open(str(directory), _ANY_DIRECTORY))
            break
        except FileNotFoundError:
            missing.append(directory)
    for directory in reversed(missing):
        with suppress(FileExistsError):
            disk.mkdir(str(directory), 0o700)
    with suppress(FileExistsError):
        disk.mkdir(str(state / "journal"), _BEING_MADE)


def _settle(disk: Disk, state: Path) -> None:
    """Have the names of the journal and of all above it on disk before anything relies on them."""
    _sync(disk, state)
    for directory in state.parents:
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


def _stem(record: Record) -> str:
    return f"{record.id}.{record.kind}"


def _name(record: Record) -> str:
    return _stem(record) + (_CLEAN if record.clean else f".{record.phase}")


def _phase(name: str) -> Phase:
    """The phase that a record's name tells. Raises ``ValueError`` when it tells none."""
    if name.endswith(_CLEAN):
        return "committed"
    return _PHASES[_PHASES.index(cast(Phase, name.rpartition(".")[2]))]


def _shape(record: Record) -> dict[str, Any]:
    def image(of: Image | None) -> dict[str, Any] | None:
        return None if of is None else {"sha256": of.sha256, "size": of.size, "mode": of.mode}

    entries = [
        {
            "step": e.step,
            "path": e.path,
            "stage": e.stage,
            "old": image(e.old),
            "new": image(e.new),
            "folded": e.folded,
        }
        for e in record.entries
    ]
    return {
        "id": record.id,
        "kind": record.kind,
        "stamp": record.stamp,
        "workspace": record.workspace,
        "nonce": record.nonce,
        "entries": entries,
        "directories": record.directories,
        "emptied": record.emptied,
    }


def _parse(shape: Any, phase: Phase) -> Record:
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
        phase=phase,
    )


def _image(shape: Any) -> Image | None:
    return None if shape is None else Image(**shape)
