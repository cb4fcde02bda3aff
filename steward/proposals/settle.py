"""Settling a change that was begun: taking it back as a whole, or clearing up after it as a whole.

Both work from the record and from what stands on the disk, never from memory, so that an apply that failed and
the next process after a power cut do the same; both may be cut anywhere and begun again.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from contextlib import suppress

from steward.proposals.disk import Disk
from steward.proposals.journal import Journal
from steward.proposals.keep import keep
from steward.proposals.look import Seen, look
from steward.proposals.moves import move_new
from steward.proposals.places import Places
from steward.proposals.record import Entry, Record
from steward.workspace import RepoPath

_ORDER = {"put": 0, "take": 1, "swap": 2}
"""Puts leave before takes return: where case is ignored both may mean one name."""


class Settler:
    """Settles one record. Every method may raise ``OSError``, after which the whole may be tried again."""

    def __init__(self, record: Record, journal: Journal, places: Places, disk: Disk) -> None:
        self.record = record
        self.journal = journal
        self._places = places
        self.disk = disk
        self.notes: list[str] = []
        self.entries = sorted(record.entries, key=lambda entry: _ORDER[entry.step])
        """In the order of taking back."""

    def take_back(self) -> tuple[str, ...]:
        """Put everything back as it was and forget the record; what a person must know of it.

        In two phases: not before every old file is back in its place, durably, is anything removed.
        """
        if self.record.phase != "intent":
            for entry in self.entries:
                self.switch_back(entry)
            self.sync()
        for entry in self.entries:
            self.drop_undone(entry)
        self._remove(reversed(self.record.directories))
        self.sync()
        self.journal.remove(self.record)
        return tuple(self.notes)

    def finish(self) -> tuple[str, ...]:
        """Remove the old versions that a committed change left beside its files; what a person must know of it."""
        for entry in self.entries:
            self.drop_done(entry)
        self._remove(self.record.emptied)
        self.sync()
        return tuple(self.notes)

    def switch_back(self, entry: Entry) -> None:
        """Undo one step where it was done, giving back what came out whoever wrote it."""
        at = self._at(entry)
        if at is None:
            return
        try:
            self._switch_back(at, entry)
        except FileNotFoundError:
            # Somebody removed the file between the look and the move: its old version comes back all the same.
            self._switch_back(at, entry)

    def _switch_back(self, at: int, entry: Entry) -> None:
        name = entry.name
        stage = self._look(at, entry.stage, entry)
        path = self._look(at, name, entry)
        if entry.step == "put" and stage is not None and stage.same(path):
            # Half of a link and unlink. Only a rename can tell what it takes away from the path.
            self.disk.unlink(entry.stage, at=at)
            stage = None
        match entry.step:
            case "put" if stage is None:
                if path is not None and path.holds(entry.new) and self._really(at, entry):
                    self.disk.rename(name, entry.stage, at=at)
                    self._return_if_foreign(at, entry)
            case "put" if stage is not None and not stage.holds(entry.new) and path is None:
                self._move_back(at, entry)
            case "take" if stage is not None and path is None:
                self._move_back(at, entry)
            case "swap" if stage is not None and not stage.holds(entry.new):
                if path is None:
                    self._move_back(at, entry)
                elif path.holds(entry.new):
                    self.exchange_back(at, entry)
                elif path.holds(entry.old) and not stage.holds(entry.old):
                    # A cut fell between putting the old file back and returning what a rival had written.
                    self.disk.exchange(entry.stage, name, at=at)
            case _:
                pass

    def exchange_back(self, at: int, entry: Entry) -> None:
        """Exchange a switched path with its stage once more."""
        self.disk.exchange(entry.stage, entry.name, at=at)
        out = self._look(at, entry.stage, entry)
        if out is None or not out.holds(entry.new):
            # Somebody wrote between the look and the exchange: theirs is the newer, it goes back to its place.
            self.disk.exchange(entry.stage, entry.name, at=at)

    def _return_if_foreign(self, at: int, entry: Entry) -> None:
        out = self._look(at, entry.stage, entry)
        if out is not None and not out.holds(entry.new):
            self._move_back(at, entry)

    def _move_back(self, at: int, entry: Entry) -> None:
        # When somebody took the name meanwhile, theirs stays and the other version is kept beside it.
        with suppress(FileExistsError):
            move_new(self.disk, at, entry.stage, entry.name)

    def drop_undone(self, entry: Entry) -> None:
        """Remove a stage that is left when all is switched back: ours, or the same as what stands in its place."""
        at = self._at(entry)
        if at is None:
            return
        with suppress(FileNotFoundError):
            self.disk.unlink(entry.part, at=at)
        stage = self._look(at, entry.stage, entry)
        if stage is None:
            return
        ours = self.record.phase == "intent" or stage.holds(entry.new)
        if not ours:
            path = self._look(at, entry.name, entry)
            ours = stage.same(path) or (stage.holds(entry.old) and path is not None and path.holds(entry.old))
        self.drop(at, entry, ours)

    def drop_done(self, entry: Entry) -> None:
        """Remove a stage that is left after the commit: the old version, which the proposal keeps too."""
        at = self._at(entry)
        stage = None if at is None else self._look(at, entry.stage, entry)
        if at is not None and stage is not None:
            self.drop(at, entry, stage.holds(entry.old) or (entry.step == "put" and stage.holds(entry.new)))

    def drop(self, at: int, entry: Entry, ours: bool) -> None:
        """Remove a stage, or keep it where a person finds it."""
        if ours:
            with suppress(FileNotFoundError):
                self.disk.unlink(entry.stage, at=at)
        else:
            self.notes.append(
                keep(self.disk, at, entry, f"{self.record.nonce[:8]}-{self.entries.index(entry)}")
            )

    def _remove(self, directories: Iterable[str]) -> None:
        """Remove what is empty of these directories."""
        for text in directories:
            path = RepoPath.parse(text)
            parent = self._places.find(path.parent)
            if parent is None:
                continue
            self._places.forget(path)
            try:
                self.disk.rmdir(path.name, at=parent)
            except FileNotFoundError:
                pass
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise

    def sync(self) -> None:
        """Make every name that was changed durable."""
        self._places.sync(self.record.parents())

    def _at(self, entry: Entry) -> int | None:
        parent = entry.parent
        at = self._places.find(parent)
        if at is None and parent.text not in (*self.record.directories, *self.record.emptied):
            note = (
                f"The directory {parent.text} of {entry.path} is no longer where it was; it was left alone."
            )
            if note not in self.notes:
                self.notes.append(note)
        return at

    def _really(self, at: int, entry: Entry) -> bool:
        """Whether it is the entry's very name that leads there, not one that the file system takes for the same."""
        return not entry.folded or entry.name in self.disk.listdir(at)

    def _look(self, at: int, name: str, entry: Entry) -> Seen | None:
        return look(self.disk, at, name, entry.old, entry.new)
