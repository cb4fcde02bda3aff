"""The database is private, outlives the process, and words its faults without overwriting anything."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from steward.conversation import User
from steward.errors import StorageError
from steward.proposals import Proposal
from steward.storage import ChangeStore, Database, PromptStore, SessionStore
from steward.storage.trust import Place, TrustStore


def test_the_directory_and_the_file_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        database = Database(tmp_path / "state")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state" / "steward.db").stat().st_mode) == 0o600
    database.close()


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    Database(tmp_path).close()
    raw = sqlite3.connect(tmp_path / "steward.db")
    raw.execute("PRAGMA user_version = 999")
    raw.close()
    before = (tmp_path / "steward.db").read_bytes()
    with pytest.raises(StorageError, match="newer steward"):
        Database(tmp_path)
    assert (tmp_path / "steward.db").read_bytes() == before


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "steward.db")
    raw.execute("PRAGMA application_id = 77")
    raw.execute("CREATE TABLE theirs (x)")
    raw.close()
    before = (tmp_path / "steward.db").read_bytes()
    with pytest.raises(StorageError, match="another program"):
        Database(tmp_path)
    assert (tmp_path / "steward.db").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"not a database at all, but long enough to be looked at" * 40, b"SQLite format 3\0" + b"\xff" * 5000],
)
def test_a_damaged_database_is_said_and_kept(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "steward.db").write_bytes(content)
    with pytest.raises(StorageError, match="damaged"):
        Database(tmp_path)
    assert (tmp_path / "steward.db").read_bytes() == content


def test_a_locked_database_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", 0.05)
    database = Database(tmp_path)
    rival = sqlite3.connect(tmp_path / "steward.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="locked by another process"):
        with database.write():
            pass
    rival.execute("ROLLBACK")
    with database.write() as cursor:
        assert cursor.execute("SELECT 1").fetchone()[0] == 1
    rival.close()
    database.close()


def test_what_writes_several_times_waits_for_another_process_once_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.storage.database.TOLD_AFTER", 0.01)
    database = Database(tmp_path)
    told: list[int] = []
    database.waiting = lambda: told.append(timeout(database))
    rival = sqlite3.connect(tmp_path / "steward.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    waits: list[int] = []
    for seconds in (0.3, 20.0, 20.0):
        monkeypatch.setattr("steward.storage.database.BUSY_SECONDS", seconds)
        with pytest.raises(StorageError, match="locked by another process"):
            with database.write():
                pass
        waits.append(timeout(database))
    assert told == [10] and waits == [290, 100, 100]
    with database.read() as cursor:
        assert cursor.execute("SELECT 1").fetchone()[0] == 1
    rival.execute("ROLLBACK")
    with database.write() as cursor:
        assert cursor.execute("SELECT 1").fetchone()[0] == 1
    rival.close()
    database.close()


def timeout(database: Database) -> int:
    """Milliseconds that a write waited for at most when it was last tried."""
    return database._connection.execute("PRAGMA busy_timeout").fetchone()[0]  # pyright: ignore[reportPrivateUsage]


def test_a_state_directory_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(StorageError, match="STEWARD_STATE_DIR"):
        Database(tmp_path / "state")


def test_a_full_database_loses_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.write() as cursor:
        cursor.execute("INSERT INTO prompts (at, text) VALUES ('', 'kept')")
    with database.read() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(StorageError, match="full"):
        with database.write() as cursor:
            cursor.execute("INSERT INTO prompts (at, text) VALUES ('', ?)", ("x" * 1_000_000,))
    with database.read() as cursor:
        assert [r["text"] for r in cursor.execute("SELECT text FROM prompts")] == ["kept"]
    database.close()


def test_six_processes_open_a_new_database_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from steward.storage import ChangeStore, Database\n"
        "d = Database(Path(sys.argv[1])); s = ChangeStore(d)\n"
        "print(*[s.next_id() for _ in range(5)]); d.close()"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "state")], stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    ids = [name for process in running for name in process.communicate()[0].split()]
    assert sorted(ids) == [f"change-{n:03d}" for n in range(1, 31)]


def test_a_page_that_was_overwritten_is_found_by_the_check(tmp_path: Path) -> None:
    database = Database(tmp_path)
    assert database.check() == ""
    database.close()
    data = bytearray((tmp_path / "steward.db").read_bytes())
    data[8192:12288] = bytes(4096)
    (tmp_path / "steward.db").write_bytes(data)
    database = Database(tmp_path)
    assert "\n" not in database.check() != ""
    database.close()


@pytest.mark.parametrize("in_its_place", ["directory", "link"])
def test_what_stands_in_the_place_of_the_database_is_named(tmp_path: Path, in_its_place: str) -> None:
    if in_its_place == "directory":
        (tmp_path / "steward.db").mkdir()
    else:
        (tmp_path / "steward.db").symlink_to("elsewhere.db")
    with pytest.raises(StorageError, match=rf"steward\.db .*\(.*{in_its_place}\); move it away"):
        Database(tmp_path)
    assert not (tmp_path / "elsewhere.db").exists()


def test_a_text_that_is_no_longer_what_was_stored_is_a_damaged_database(tmp_path: Path) -> None:
    database = Database(tmp_path)
    session = SessionStore(database).create("a model")
    SessionStore(database).append(session, 0, [User("words")])
    with database.write() as cursor:
        cursor.execute("UPDATE messages SET body = '{'")
    with pytest.raises(StorageError, match="damaged; move"):
        SessionStore(database).messages(session)
    with database.write() as cursor:
        cursor.execute("UPDATE sessions SET state = ?", ("[" * 100_000,))
    with pytest.raises(StorageError, match="damaged; move"):
        SessionStore(database).all()
    database.close()


@pytest.mark.parametrize(
    "stored", ["[", "5", "{}", '{"kind": "nobody"}', '{"kind": "assistant", "calls": 5}']
)
def test_so_is_a_message_that_is_none(tmp_path: Path, stored: str) -> None:
    database = Database(tmp_path)
    sessions = SessionStore(database)
    session = sessions.create("a model")
    sessions.append(session, 0, [User("words")])
    with database.write() as cursor:
        cursor.execute("UPDATE messages SET body = ?", (stored,))
    with pytest.raises(StorageError, match="damaged; move"):
        sessions.messages(session)
    database.close()


@pytest.mark.parametrize("stored", ["{", "5"])
def test_so_is_what_was_made_of_a_change_or_decided_about_trust(tmp_path: Path, stored: str) -> None:
    database = Database(tmp_path)
    changes, trust, place = ChangeStore(database), TrustStore(database), Place("/here", 1, 2)
    change = changes.next_id()
    changes.put(Proposal(change, "A title", "2026-01-01T00:00:00.000Z", (), "w" * 16))
    changes.readings.keep(change, "a stamp", {})
    trust.decline(place, {})
    with database.write() as cursor:
        cursor.execute("UPDATE readings SET body = ?", (stored,))
        cursor.execute("UPDATE facts SET value = ? WHERE name = 'trust-declined'", (stored,))
        cursor.execute("UPDATE changes SET notes = ?", (stored,))
    looks = (
        lambda: changes.readings.find(change),
        lambda: trust.declined(place),
        lambda: changes.get(change),
    )
    for look in looks:
        with pytest.raises(StorageError, match="damaged; move"):
            look()
    database.close()


def test_a_table_that_is_gone_is_one_sentence_with_a_way_out(tmp_path: Path) -> None:
    database = Database(tmp_path)
    with database.write() as cursor:
        cursor.execute("DROP TABLE prompts")
    with pytest.raises(StorageError, match=r"failed \(no such table: prompts\); move steward\.db"):
        PromptStore(database).history(5)
    database.close()
