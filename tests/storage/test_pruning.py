"""The bytes of finished changes are kept for days and up to a size; what is let go leaves digests, counts and log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.proposals import Edit, FileChange, Proposal, Status
from steward.storage import AuditLog, ChangeStore, Database
from steward.storage.clock import days_ago

DAYS = 14
PLENTY = 1_000_000


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> ChangeStore:
    return ChangeStore(database)


def finished(
    store: ChangeStore,
    database: Database,
    to: Status,
    *,
    days: int,
    size: int = 100,
    result: bytes | None = None,
) -> Proposal:
    """A change that came to its end so many days ago; its two versions have ``size`` bytes together."""
    base = b"b\n" * (size // 4)
    proposal = Proposal(
        id=store.next_id(),
        title="A change",
        created=days_ago(days),
        files=(
            FileChange(
                "a.txt", "modify", base, result or b"r\n" * (size // 4), 0o644, 0o644, None, (Edit("b", "r"),)
            ),
        ),
        workspace="w" * 16,
    )
    store.put(proposal)
    if to == "discarded":
        store.discard(proposal.id)
    elif to != "pending":
        store.settle(proposal, to)
    with database.write() as cursor:
        cursor.execute("UPDATE changes SET updated = ? WHERE id = ?", (days_ago(days), proposal.id))
    return proposal


@pytest.mark.parametrize("status", ["applied", "discarded", "undone"])
def test_what_was_finished_before_those_days_is_let_go(
    store: ChangeStore, database: Database, status: Status
) -> None:
    old = finished(store, database, status, days=DAYS + 1)
    young = finished(store, database, status, days=DAYS - 1)
    assert store.prune(DAYS, PLENTY) == (old.id,)
    assert not store.get(old.id).kept
    assert store.get(young.id).files == young.files
    assert store.prune(DAYS, PLENTY) == ()


def test_a_pending_change_is_kept_however_old_and_large_it_is(store: ChangeStore, database: Database) -> None:
    pending = finished(store, database, "pending", days=1_000, size=100_000)
    assert store.prune(0, 0) == ()
    assert store.get(pending.id).files == pending.files


def test_above_the_size_the_oldest_go_first(store: ChangeStore, database: Database) -> None:
    made = [finished(store, database, "applied", days=days, size=1_000) for days in (3, 5, 1, 4, 2)]
    assert store.prune(DAYS, 5_000) == ()
    assert store.prune(DAYS, 3_999) == (made[1].id, made[3].id)
    assert store.prune(DAYS, 2_000) == (made[0].id,)
    assert [proposal.id for proposal in store.everything() if proposal.kept] == [made[2].id, made[4].id]
    assert set(store.prune(DAYS, 0)) == {made[2].id, made[4].id}


def test_digests_counts_stamp_and_log_stay(store: ChangeStore, database: Database) -> None:
    before = finished(store, database, "applied", days=20, result=b"b\nnew\nnew\n")
    log = AuditLog(database).entries()
    store.prune(DAYS, PLENTY)
    after = store.get(before.id)
    assert (after.stamp, after.status, after.title) == (before.stamp, "applied", before.title)
    (file,) = after.files
    assert (file.base, file.result, file.edits) == (None, None, ())
    assert (file.base_sha256, file.result_sha256) == (
        before.files[0].base_sha256,
        before.files[0].result_sha256,
    )
    assert file.remains is not None and (file.remains.added, file.remains.removed) == (2, 24)
    assert AuditLog(database).entries() == log and AuditLog(database).broken() is None


def test_a_created_and_a_deleted_file_keep_what_they_were(store: ChangeStore, database: Database) -> None:
    proposal = Proposal(
        id=store.next_id(),
        title="",
        created=days_ago(0),
        files=(
            FileChange("new", "create", None, b"", None, 0o644),
            FileChange("old", "delete", b"x\n", None, 0o600, None),
        ),
        workspace="w" * 16,
    )
    store.put(proposal)
    store.settle(proposal, "applied")
    store.prune(0, 0)
    after = store.get(proposal.id)
    assert after.stamp == proposal.stamp and not after.kept
    assert [(f.base_sha256 is None, f.result_sha256 is None) for f in after.files] == [
        (True, False),
        (False, True),
    ]


def test_the_bytes_are_gone_from_the_rows_and_little_room_is_left_unused(
    store: ChangeStore, database: Database
) -> None:
    finished(store, database, "applied", days=20, size=2_000_000)
    grown = sqlite3.connect(database.file).execute("PRAGMA page_count").fetchone()[0]
    store.prune(DAYS, PLENTY)
    raw = sqlite3.connect(database.file)
    assert raw.execute(
        "SELECT count(*) FROM change_files WHERE base IS NOT NULL OR edits != '[]'"
    ).fetchone() == (0,)
    assert raw.execute("PRAGMA page_count").fetchone()[0] < grown / 4
    raw.close()


def test_two_processes_may_let_go_of_the_same_change(tmp_path: Path) -> None:
    one, two = Database(tmp_path), Database(tmp_path)
    first, second = ChangeStore(one), ChangeStore(two)
    old = finished(first, one, "applied", days=20)
    racing = second.get

    def between(change: str) -> Proposal:
        got = racing(change)
        first.prune(DAYS, PLENTY)
        return got

    second.get = between  # type: ignore[method-assign]
    assert second.prune(DAYS, PLENTY) == (), "the first one has told of it"
    assert first.get(old.id).stamp == old.stamp
    one.close()
    two.close()


def test_a_change_pruned_meanwhile_keeps_its_digests(tmp_path: Path) -> None:
    """The second of two processes reads the change when its bytes are gone already."""
    one, two = Database(tmp_path), Database(tmp_path)
    first, second = ChangeStore(one), ChangeStore(two)
    old = finished(first, one, "applied", days=20)
    racing = second.get

    def late(change: str) -> Proposal:
        first.prune(DAYS, PLENTY)
        return racing(change)

    second.get = late  # type: ignore[method-assign]
    second.prune(DAYS, PLENTY)
    remains = first.get(old.id).files[0].remains
    assert remains is not None and (remains.added, remains.removed) == (25, 25)
    assert first.get(old.id).stamp == old.stamp
    one.close()
    two.close()


def test_what_was_let_go_makes_the_file_smaller(tmp_path: Path) -> None:
    database = Database(tmp_path)
    store = ChangeStore(database)
    for _ in range(4):
        finished(store, database, "applied", days=DAYS + 1, size=2_000_000)
    finished(store, database, "applied", days=0)
    database.close()
    before = database.file.stat().st_size
    again = Database(tmp_path)
    assert len(ChangeStore(again).prune(DAYS, 100_000_000)) == 4
    again.close()
    assert before > 6_000_000 > 500_000 > again.file.stat().st_size


def test_a_file_from_before_that_was_asked_for_becomes_smaller_too(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "steward.db") as plain:
        plain.execute("PRAGMA auto_vacuum = NONE")
        plain.execute("CREATE TABLE other (x)")
    plain.close()
    database = Database(tmp_path)
    store = ChangeStore(database)
    finished(store, database, "applied", days=DAYS + 1, size=4_000_000)
    store.prune(DAYS, PLENTY)
    database.close()
    assert database.file.stat().st_size < 500_000


def test_a_list_of_all_changes_reads_no_bytes_of_finished_ones(
    store: ChangeStore, database: Database
) -> None:
    done = finished(store, database, "applied", days=1)
    pending = finished(store, database, "pending", days=1)
    gone = finished(store, database, "discarded", days=DAYS + 1)
    store.prune(DAYS, PLENTY)
    first = store.listed()
    assert [p.id for p in first] == [done.id, pending.id, gone.id]
    assert [p.stamp for p in first] == [done.stamp, pending.stamp, gone.stamp]
    assert first[1].files == pending.files
    (file,) = first[0].files
    assert file.base is None and file.remains is not None
    assert (file.base_sha256, file.result_sha256) == (
        done.files[0].base_sha256,
        done.files[0].result_sha256,
    )
    with database.write() as cursor:
        cursor.execute(
            "UPDATE change_files SET base = x'00', edits = 'not json' WHERE change = ?", (done.id,)
        )
    assert store.listed() == first


def test_what_a_list_shows_is_that_of_the_bytes_on_the_disk(store: ChangeStore, database: Database) -> None:
    done = finished(store, database, "applied", days=1)
    store.listed()
    other = Proposal(
        id=done.id,
        title="A change",
        created=done.created,
        files=(FileChange("b.txt", "create", None, b"other\n", None, 0o644),),
        workspace="w" * 16,
    )
    store.settle(other, "applied")
    (shown,) = store.listed()
    assert shown.stamp == other.stamp and [file.path for file in shown.files] == ["b.txt"]
