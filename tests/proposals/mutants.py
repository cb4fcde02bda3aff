"""Broken variants of the protocol, each with the one thing wrong that its name says; the campaign must notice all."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from steward.proposals import apply, journal, record
from steward.proposals.apply import Application
from steward.proposals.disk import NEW, Disk, write_all
from steward.proposals.journal import Journal
from steward.proposals.places import Places
from steward.proposals.record import DRAFT, SPARE, Entry, Record, encode
from steward.proposals.settle import Settler
from tests.proposals.watched import Watched

Patch = Callable[[object, str, Any], None]
"""Replaces a method until the test ends: ``monkeypatch.setattr``."""


class NeverSyncing(Watched):
    """Does not sync what was opened under a name that ``matches``."""

    def __init__(self, inner: Disk, matches: Callable[[str], bool]) -> None:
        super().__init__(inner)
        self._matches = matches
        self._skipped: set[int] = set()

    def perform(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name in ("fsync", "datasync") and arguments[0] in self._skipped:
            return None
        result = super().perform(name, arguments, options)
        if name in ("open", "enter"):
            opened = arguments[0] if name == "open" else "/ws/" + arguments[1].text
            if self._matches(opened):
                self._skipped.add(result)
            else:
                self._skipped.discard(result)
        return result


class Replacing(Watched):
    """Renames over what is there instead of refusing to."""

    def perform(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return super().perform("rename" if name == "rename_new" else name, arguments, options)


DISKS: dict[str, Callable[[Disk], Disk]] = {
    "stages are not synced": lambda disk: NeverSyncing(disk, lambda name: name.startswith(".steward-")),
    "the journal's records are not synced": lambda disk: NeverSyncing(
        disk, lambda name: name.endswith(DRAFT)
    ),
    "a record that is written into a spare is not synced": lambda disk: NeverSyncing(
        disk, lambda name: name.endswith(SPARE)
    ),
    "the journal's directory is not synced": lambda disk: NeverSyncing(
        disk, lambda name: name.endswith("/journal")
    ),
    "the workspace's directories are not synced": lambda disk: NeverSyncing(
        disk, lambda name: name.startswith("/ws/")
    ),
    "the new state directory is not synced": lambda disk: NeverSyncing(disk, lambda name: name == "/state"),
}
"""A disk that leaves something out, by what it leaves out."""


def commits_before_the_switch(patch: Patch) -> None:
    switch = Application.switch

    def early(self: Application, record: Record, places: Places) -> None:
        self.journal.advance(record, "committed")
        switch(self, record, places)

    def committed(self: Application, record: Record, places: Places) -> Record:
        return record.at("committed")

    patch(Application, "switch", early)
    patch(Application, "commit", committed)


def does_not_look_at_what_came_out(patch: Patch) -> None:
    def blind(self: Application, entry: Entry, at: int) -> None:
        pass

    patch(Application, "verify", blind)


def drops_the_old_files_before_the_commit(patch: Patch) -> None:
    commit = Application.commit

    def late(self: Application, record: Record, places: Places) -> Record:
        Settler(record, self.journal, places, self.disk).finish()
        return commit(self, record, places)

    patch(Application, "commit", late)


def takes_back_in_one_phase(patch: Patch) -> None:
    back = Settler.switch_back

    def both(self: Settler, entry: Entry) -> None:
        back(self, entry)
        self.drop_undone(entry)

    patch(Settler, "switch_back", both)


def forgets_the_record_before_it_took_back(patch: Patch) -> None:
    def backwards(self: Settler) -> tuple[str, ...]:
        self.journal.remove(self.record)
        return take_back(self)

    take_back = Settler.take_back
    patch(Settler, "take_back", backwards)


def does_not_sync_what_it_took_back(patch: Patch) -> None:
    def unsynced(self: Settler) -> None:
        pass

    patch(Settler, "sync", unsynced)


def stages_before_its_intent(patch: Patch) -> None:
    save, begin = Journal.save, Application.begin_switching

    def nothing(self: Journal, record: Record) -> Record:
        return record

    def first(self: Application, record: Record) -> Record:
        return begin(self, save(self.journal, record))

    patch(Journal, "save", nothing)
    patch(Application, "begin_switching", first)


def switches_in_its_intent(patch: Patch) -> None:
    def stays(self: Application, record: Record) -> Record:
        return record

    patch(Application, "begin_switching", stays)


def names_a_stage_before_it_is_complete(patch: Patch) -> None:
    patch(Entry, "part", property(lambda self: self.stage))


def names_a_stage_before_it_is_durable(patch: Patch) -> None:
    def early(disk: Disk, at: int, entry: Entry, data: bytes, *rest: Any) -> None:
        fd = disk.open(entry.part, NEW, 0o600, at=at)
        write_all(disk, fd, data)
        disk.rename(entry.part, entry.stage, at=at)
        mode = rest[0].mode
        if mode is not None:
            disk.chmod(fd, mode)
        disk.fsync(fd)
        disk.close(fd)

    patch(apply, "write_stage", early)


def believes_what_stands_in_memory_alone(patch: Patch) -> None:
    def nothing(self: Journal) -> None:
        pass

    patch(Journal, "confirm", nothing)


def trusts_a_commit_that_failed_to_sync_to_be_lost(patch: Patch) -> None:
    def hopeful(self: Application, record: Record, places: Places) -> Record:
        try:
            return self.journal.advance(record, "committed")
        except OSError as error:
            self.give_up(record, places, error)
            raise

    patch(Application, "commit", hopeful)


def forgets_in_memory_alone(patch: Patch) -> None:
    remove, sync = Journal.remove, Journal.__dict__["_sync"]
    forgetting: list[Record] = []

    def unsynced(self: Journal, record: Record) -> None:
        forgetting.append(record)
        try:
            remove(self, record)
        finally:
            forgetting.clear()

    def synced(self: Journal) -> None:
        if not forgetting:
            sync(self)

    patch(Journal, "remove", unsynced)
    patch(Journal, "_sync", synced)


def writes_into_any_spare(patch: Patch) -> None:
    look = Journal.begun

    def free(self: Journal, name: str) -> Record | None:
        record = look(self, name)
        if record is None and name.endswith(SPARE) and name not in self.__dict__["_free"]:
            self.__dict__["_free"].append(name)
        return record

    patch(Journal, "begun", free)


def believes_what_a_spare_held(patch: Patch) -> None:
    def any_record(file: str, data: bytes) -> bool:
        return not data.startswith(b"steward-journal-3 ")

    patch(journal, "left_over", any_record)
    patch(record, "left_over", any_record)


def does_not_look_into_spares(patch: Patch) -> None:
    look = Journal.begun

    def blind(self: Journal, name: str) -> None:
        look(self, name)

    patch(Journal, "begun", blind)


def rewrites_a_record_where_it_stands(patch: Patch) -> None:
    rewrite = Journal.rewrite

    def over(self: Journal, record: Record) -> Record:
        if not record.file.endswith(SPARE):
            return rewrite(self, record)
        fd = self.disk.open(record.file, os.O_WRONLY, at=self.directory)
        write_all(self.disk, fd, encode(record))
        self.disk.datasync(fd)
        self.disk.close(fd)
        return record

    patch(Journal, "rewrite", over)


def leaves_a_record_that_failed(patch: Patch) -> None:
    save, unlink = Journal.save, Journal.__dict__["_unlink"]
    saving: list[Record] = []

    def kept(self: Journal, record: Record) -> Record:
        saving.append(record)
        try:
            return save(self, record)
        finally:
            saving.clear()

    def unlinked(self: Journal, name: str) -> None:
        if not saving:
            unlink(self, name)

    patch(Journal, "save", kept)
    patch(Journal, "_unlink", unlinked)


PROTOCOLS: dict[str, Callable[[Patch], None]] = {
    "commits before the switch": commits_before_the_switch,
    "drops the old files before the commit": drops_the_old_files_before_the_commit,
    "takes back in one phase": takes_back_in_one_phase,
    "forgets the record before it took back": forgets_the_record_before_it_took_back,
    "does not sync what it took back": does_not_sync_what_it_took_back,
    "stages before it writes its intent": stages_before_its_intent,
    "switches while the record says that nothing is switched": switches_in_its_intent,
    "names a stage before it is complete": names_a_stage_before_it_is_complete,
    "names a stage before it is durable": names_a_stage_before_it_is_durable,
    "recovery trusts a commit that it only saw in memory": believes_what_stands_in_memory_alone,
    "trusts a commit that failed to sync to be lost": trusts_a_commit_that_failed_to_sync_to_be_lost,
    "writes over a record that it has forgotten in memory alone": forgets_in_memory_alone,
    "writes over a file that is not known to be free": writes_into_any_spare,
    "takes what a spare held for a record that was begun": believes_what_a_spare_held,
    "does not look for records in spares": does_not_look_into_spares,
    "rewrites a record where it stands": rewrites_a_record_where_it_stands,
    "leaves a record that could not be written": leaves_a_record_that_failed,
}
"""A protocol with one step wrong, by what is wrong; the power-cut campaign must notice."""


def rolls_back_over_what_a_rival_wrote(patch: Patch) -> None:
    def careless(self: Settler, at: int, entry: Entry) -> None:
        self.disk.exchange(entry.stage, entry.name, at=at)
        self.disk.unlink(entry.stage, at=at)

    patch(Settler, "exchange_back", careless)


def drops_whatever_came_out(patch: Patch) -> None:
    def drop(self: Settler, at: int, entry: Entry, ours: bool) -> None:
        with suppress(FileNotFoundError):
            self.disk.unlink(entry.stage, at=at)

    patch(Settler, "drop", drop)


RIVALS: dict[str, Callable[[Patch], None]] = {
    "does not look at what came out": does_not_look_at_what_came_out,
    "rolls back over what a rival wrote": rolls_back_over_what_a_rival_wrote,
    "drops whatever came out": drops_whatever_came_out,
}
"""A protocol with one step wrong, by what is wrong; the rivals must notice."""
