"""Two processes in one database: whatever one does between two statements of the other, both find it whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from steward.errors import StampMismatch, StorageError
from steward.proposals import FileChange, Governing, Proposal
from steward.storage import ChangeStore, Database
from steward.storage.clock import days_ago
from steward.storage.trust import Place, TrustStore
from tests.storage.between import Between, in_turns

PLENTY = 1_000_000


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process in between cannot wait for the one that it has stopped."""
    monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", 0.0)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Database, Database]]:
    """One database, opened by two."""
    first, second = Database(tmp_path), Database(tmp_path)
    yield first, second
    first.close()
    second.close()


def put(store: ChangeStore, *, version: str = "r", change: str = "") -> Proposal:
    """A change whose title, file and governing document all tell its version."""
    result = f"a\n{version}\n".encode()
    proposal = Proposal(
        id=change or store.next_id(),
        title=version,
        created=days_ago(20),
        files=(FileChange(f"{version}.txt", "modify", b"a\nb\n", result, 0o644, 0o644),),
        workspace="w" * 16,
        instructions=(Governing(f"{version}.txt", f"{version}/AGENTS.md", "f" * 64),),
    )
    store.put(proposal)
    return proposal


def empty(database: Database) -> None:
    """No change is left."""
    tables = ("change_sums", "change_remains", "change_instructions", "change_files", "changes")
    with database.write() as cursor:
        for table in tables:
            cursor.execute(f"DELETE FROM {table}")


# The first start


def test_two_can_be_the_first_to_start_in_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in count():
        directory = tmp_path / str(number)

        def start(directory: Path = directory) -> None:
            with suppress(StorageError):  # The first one may be writing just then.
                Database(directory).close()

        between = Between(number, start)
        between.watch_next(monkeypatch)
        database = Database(directory)
        secret = database.secret()
        if not between.reached:
            break
        other = Database(directory)
        assert other.secret() == secret
        other.close()
        database.close()


def test_another_first_start_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", 60.0)
    rival = sqlite3.connect(tmp_path / "steward.db", isolation_level=None)
    rival.execute("PRAGMA user_version = 0")
    rival.execute("BEGIN IMMEDIATE")

    def end(_: float) -> None:
        rival.execute("ROLLBACK")

    monkeypatch.setattr("time.sleep", end)
    Database(tmp_path).close()
    rival.close()


# Trust


def test_trust_is_taken_back_as_a_whole(pair: tuple[Database, Database]) -> None:
    store, other = map(TrustStore, pair)
    place = Place("/repository", 1, 2)
    seen: list[tuple[bool, bool]] = []

    def turn() -> tuple[Callable[[], None], Callable[[], object]]:
        store.trust(place, [])
        with pair[0].write() as cursor:
            cursor.execute("DELETE FROM facts")

        def look() -> None:
            seen.append((other.place() is not None, other.declined(place) is not None))

        return lambda: store.forget(place), look

    for _ in in_turns(pair[0], turn):
        pass
    assert set(seen) == {(True, False), (False, True)}


# Changes


def test_a_change_that_is_amended_while_it_is_read_is_of_one_version(pair: tuple[Database, Database]) -> None:
    store, other = map(ChangeStore, pair)

    def turn() -> tuple[Callable[[], Proposal], Callable[[], object]]:
        change = put(store).id
        return lambda: store.get(change), lambda: put(other, version="s", change=change)

    for read in in_turns(pair[0], turn):
        assert read.files[0].path == f"{read.title}.txt" == read.instructions[0].file


@pytest.mark.parametrize("deed", ["finish", "prune"])
def test_a_list_holds_every_file_once_whatever_becomes_of_the_changes_meanwhile(
    pair: tuple[Database, Database], deed: str
) -> None:
    store, other = map(ChangeStore, pair)

    def turn() -> tuple[Callable[[], tuple[Proposal, ...]], Callable[[], object]]:
        empty(pair[0])
        proposal = put(store)
        if deed == "prune":
            store.settle(proposal, "applied")

        def meanwhile() -> None:
            with suppress(StorageError):  # The first one may be writing just then.
                other.prune(0, 0) if deed == "prune" else other.settle(proposal, "applied")

        return store.listed, meanwhile

    for listed in in_turns(pair[0], turn):
        for proposal in (*listed, *store.listed()):
            (file,) = proposal.files
            assert file.remains is None or (file.remains.added, file.remains.removed) == (1, 1)


def test_what_is_undone_while_old_changes_are_let_go_is_kept(pair: tuple[Database, Database]) -> None:
    store, other = map(ChangeStore, pair)
    turns: list[tuple[Proposal, list[bool]]] = []

    def turn() -> tuple[Callable[[], tuple[str, ...]], Callable[[], object]]:
        proposal = put(store)
        store.settle(proposal, "applied")
        with pair[0].write() as cursor:
            cursor.execute("UPDATE changes SET updated = ? WHERE id = ?", (days_ago(20), proposal.id))
        undone: list[bool] = []
        turns.append((proposal, undone))

        def undo() -> None:
            kept = other.get(proposal.id).kept
            with suppress(StorageError):  # The first one may be writing just then.
                other.settle(proposal, "undone")
                undone.append(kept)

        return lambda: store.prune(14, PLENTY), undo

    for gone in in_turns(pair[0], turn):
        proposal, undone = turns[-1]
        kept = store.get(proposal.id).kept
        assert kept == (undone == [True])
        assert gone == (() if kept else (proposal.id,))
    assert {tuple(undone) for _, undone in turns} == {(), (True,), (False,)}


def test_an_amendment_does_not_replace_what_it_was_not_made_of(pair: tuple[Database, Database]) -> None:
    store, other = map(ChangeStore, pair)
    read = put(store)
    stored = put(other, version="s", change=read.id)
    with pytest.raises(StampMismatch):
        store.put(replace(read, title="t"), read)
    assert store.get(read.id).files == stored.files
