"""Broken variants of the protocol, each with the one thing wrong that its name says; the campaign must notice all."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from steward.proposals.apply import Application
from steward.proposals.disk import Disk
from steward.proposals.journal import Entry, Journal, Phase, Record
from steward.proposals.places import Places
from steward.proposals.settle import Settler
from tests.proposals.watched import Watched

Patch = Callable[[type, str, Any], None]
"""Replaces a method until the test ends: ``monkeypatch.setattr``."""


class NeverSyncing(Watched):
    """Does not sync what was opened under a name that ``matches``."""

    def __init__(self, inner: Disk, matches: Callable[[str], bool]) -> None:
        super().__init__(inner)
        self._matches = matches
        self._skipped: set[int] = set()

    def perform(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name == "fsync" and arguments[0] in self._skipped:
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
        disk, lambda name: name.endswith(".tmp")
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
    save = Journal.save

    def nothing(self: Journal, record: Record) -> None:
        pass

    def first(self: Application, record: Record) -> Record:
        save(self.journal, record.at("switching"))
        return record.at("switching")

    patch(Journal, "save", nothing)
    patch(Application, "_begin_switching", first)


def switches_in_its_intent(patch: Patch) -> None:
    advance = Journal.advance

    def stays(self: Application, record: Record) -> Record:
        return record

    def late(self: Journal, record: Record, phase: Phase) -> Record:
        return advance(self, record.at("intent") if phase == "committed" else record, phase)

    patch(Application, "_begin_switching", stays)
    patch(Journal, "advance", late)


def believes_what_stands_in_memory_alone(patch: Patch) -> None:
    advance = Journal.advance

    def nothing(self: Journal) -> None:
        pass

    def synced(self: Journal, record: Record, phase: Phase) -> Record:
        later = advance(self, record, phase)
        self.disk.fsync(self.directory)
        return later

    def saved(self: Journal, record: Record) -> None:
        save(self, record)
        self.disk.fsync(self.directory)

    save = Journal.save
    patch(Journal, "confirm", nothing)
    patch(Journal, "advance", synced)
    patch(Journal, "save", saved)


def trusts_a_commit_that_failed_to_sync_to_be_lost(patch: Patch) -> None:
    def hopeful(self: Application, record: Record, places: Places) -> Record:
        try:
            return self.journal.advance(record, "committed")
        except OSError as error:
            self.give_up(record, places, error)
            raise

    patch(Application, "commit", hopeful)


PROTOCOLS: dict[str, Callable[[Patch], None]] = {
    "commits before the switch": commits_before_the_switch,
    "drops the old files before the commit": drops_the_old_files_before_the_commit,
    "takes back in one phase": takes_back_in_one_phase,
    "forgets the record before it took back": forgets_the_record_before_it_took_back,
    "does not sync what it took back": does_not_sync_what_it_took_back,
    "stages before it writes its intent": stages_before_its_intent,
    "switches while the record says that nothing is switched": switches_in_its_intent,
    "recovery trusts a commit that it only saw in memory": believes_what_stands_in_memory_alone,
    "trusts a commit that failed to sync to be lost": trusts_a_commit_that_failed_to_sync_to_be_lost,
}
"""A protocol with one step wrong, by what is wrong; the power-cut campaign must notice."""


def rolls_back_over_what_a_rival_wrote(patch: Patch) -> None:
    def careless(self: Settler, at: int, name: str, entry: Entry) -> None:
        self.disk.exchange(entry.stage, name, at=at)
        self.disk.unlink(entry.stage, at=at)

    patch(Settler, "exchange_back", careless)


def drops_whatever_came_out(patch: Patch) -> None:
    def drop(self: Settler, entry: Entry, at: int, ours: bool) -> None:
        with suppress(FileNotFoundError):
            self.disk.unlink(entry.stage, at=at)

    patch(Settler, "drop", drop)


RIVALS: dict[str, Callable[[Patch], None]] = {
    "does not look at what came out": does_not_look_at_what_came_out,
    "rolls back over what a rival wrote": rolls_back_over_what_a_rival_wrote,
    "drops whatever came out": drops_whatever_came_out,
}
"""A protocol with one step wrong, by what is wrong; the rivals must notice."""
