"""The journal: what a change is about to do, written so that a cut at any moment leaves one whole record or none."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from steward.errors import StorageError
from steward.proposals.disk import DIRECTORY, LOOK, NEW, Disk, closing, read_all, write_all
from steward.proposals.record import (
    CLEAN,
    DRAFT,
    FREE,
    PAGE,
    SPARE,
    Phase,
    Record,
    begun,
    decode,
    encode,
    left_over,
)

_ANY_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
"""Also behind a link: where a person keeps the state directory is their business."""
_OVER = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_UNFIT = frozenset({errno.ENOENT, errno.ELOOP, errno.ENXIO})
"""What opening answers to a file that went away, a link and a socket."""
_LARGEST_SPARE = 16 * PAGE
_MADE = 0o700
_BEING_MADE = 0o500
"""The mode of the journal's directory until its name is known to be on the disk."""


class Journal:
    """The records of one workspace, in ``<state>/journal``; whoever writes holds the workspace's lock.

    A file whose record is forgotten stays as the spare, and the next record is written into it: that takes no new
    name, so that one sync of its bytes makes it count. The spare is called by what it held, so that whatever else is
    whole in it was begun later. And it is free only when its name is durable, so that no earlier name, under which the
    file counted for more, comes back over the bytes of a later record.
    """

    def __init__(self, disk: Disk, directory: int) -> None:
        self.disk = disk
        self.directory = directory
        self._free: list[str] = []
        self._litter: list[str] = []

    def empty(self) -> bool:
        """Whether there is no record, not even one that was being written."""
        names = self.disk.listdir(self.directory)
        return all(name.endswith(SPARE) and self.begun(name) is None for name in names)

    def records(self) -> tuple[Record, ...]:
        """Every record, oldest change first; raises ``StorageError`` when one cannot be understood."""
        found: list[Record] = []
        self._free, self._litter = [], []
        for name in sorted(self.disk.listdir(self.directory)):
            unread = name.endswith((DRAFT, SPARE))
            record = self.begun(name) if unread else self._read(name)
            if record is not None:
                found.append(record)
            elif unread and name not in self._free:
                self._litter.append(name)
        return tuple(sorted(found, key=lambda record: (record.id, record.file)))

    def sweep(self) -> None:
        """Remove what held none of the records, but for one file that the next one is written into."""
        for name in (*self._litter, *self._free[1:]):
            self._unlink(name)
        del self._free[1:]

    def save(self, record: Record) -> Record:
        """Write a new record so that it counts, durably; after an error nothing counts that did not before."""
        if not self._free:
            return self.rewrite(record.at(record.first))
        spare = self._free.pop()
        try:
            fd = self.disk.open(spare, _OVER, at=self.directory)
            with closing(self.disk, fd):
                write_all(self.disk, fd, encode(record))
                self.disk.datasync(fd)
        except BaseException:
            # What it holds now, nobody knows; at the latest by taking back, its name is gone durably.
            with suppress(OSError):
                self._unlink(spare)
            raise
        return replace(record, phase=record.first, file=spare)

    def rewrite(self, record: Record) -> Record:
        """Put a record in the place of what stands under its name, as a whole, durably.

        No two drafts share a name: a rename that a power cut saves must not find what an earlier draft left there.
        """
        draft = f"{record.stem}.{self.disk.nonce()}{DRAFT}"
        fd = self.disk.open(draft, NEW, 0o600, at=self.directory)
        with closing(self.disk, fd):
            write_all(self.disk, fd, encode(record))
            self.disk.fsync(fd)
        self.disk.rename(draft, record.file, at=self.directory)
        self._sync()
        return record

    def advance(self, record: Record, phase: Phase) -> Record:
        """The record in its next phase, durably; after an error nobody knows in which of the two it is."""
        later = record.at(phase)
        self.disk.rename(record.file, later.file, at=self.directory)
        self._sync()
        return later

    def overrule(self, record: Record) -> Record:
        """Make a record that is ``switching``, or ``committed`` for all anybody knows, ``aborting``, durably."""
        later = record.at("aborting")
        for file in (record.at("committed").file, record.file):
            with suppress(FileNotFoundError):
                self.disk.rename(file, later.file, at=self.directory)
        self._sync()
        return later

    def confirm(self) -> None:
        """Make durable what a dead process may have left in memory alone."""
        self._sync()

    def mark_clean(self, record: Record) -> None:
        """Note that no stage of a committed record is left. Losing the note costs another look, no more."""
        self.disk.rename(record.file, record.stem + CLEAN, at=self.directory)

    def remove(self, record: Record) -> None:
        """Forget a record, durably. Its file becomes the spare where there is none."""
        names = self.disk.listdir(self.directory)
        spare = record.nonce + SPARE
        wanted = not any(name.endswith(SPARE) and name != record.file for name in names)
        for name in names:
            if name == record.file and wanted:
                try:
                    self.disk.rename(name, spare, at=self.directory)
                except OSError:
                    # A full disk may have no room for another name.
                    self._unlink(name)
            elif name == record.file or name.startswith(record.stem + "."):
                self._unlink(name)
        self._sync()
        with suppress(OSError):
            self._set_free(spare)

    def begun(self, name: str) -> Record | None:
        """The record that was written into a spare, if one was; else this may be the spare for the next."""
        if not name.endswith(SPARE):
            return None
        try:
            fd = self.disk.open(name, LOOK, at=self.directory)
        except OSError as error:
            if error.errno in _UNFIT:
                return None
            raise
        with closing(self.disk, fd):
            data = self.disk.read(fd, PAGE)
            if data.startswith(FREE):
                found = self.disk.fstat(fd)
                # Of modest size, and no backup holds another name of it.
                if found.st_nlink == 1 and found.st_size <= _LARGEST_SPARE:
                    self._free.append(name)
                return None
            return None if left_over(name, data) else begun(name, data + read_all(self.disk, fd))

    def _set_free(self, spare: str) -> None:
        """Say in a spare whose name is durable that it may be written into. Losing that costs the spare, no more."""
        fd = self.disk.open(spare, _OVER, at=self.directory)
        with closing(self.disk, fd):
            write_all(self.disk, fd, FREE)
        self._free.append(spare)

    def _sync(self) -> None:
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
            return decode(name, data)
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"The journal {name} in the steward's state directory cannot be read, so a change that was cut off "
                "cannot be finished or taken back and no change can be applied. Nothing was touched: compare the "
                "files it was about with your version control, then move the journal away."
            ) from error


@contextmanager
def opened(state: Path, disk: Disk, *, create: bool) -> Generator[Journal | None]:
    """The journal of a workspace's state directory; ``None`` when there is none and ``create`` is false."""
    directory = os.path.join(state, "journal")
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
            _make_names_durable(disk, state)
            disk.chmod(fd, _MADE)
        yield Journal(disk, fd)
    finally:
        with suppress(OSError):
            disk.close(fd)


def _make(disk: Disk, state: Path) -> None:
    """The state directory and its journal, which nothing is written to before its name is durable."""
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


def _make_names_durable(disk: Disk, state: Path) -> None:
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
