"""The log tells what happened to each change, under which stamp, and notices when somebody altered it or the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.errors import NoSuchThing
from steward.service.views import History
from tests.service.rooms import Patch, Rooms
from tests.support import plant

ONE = Patch("src/app.py", "41", "42")


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    opened = Rooms(plant(tmp_path / "repository"))
    yield opened
    opened.close()


@pytest.fixture
def lived(rooms: Rooms) -> Rooms:
    """One change amended, shown, applied and undone; one discarded; one withdrawn by the model; one pending."""
    first = rooms.propose(ONE)
    rooms.propose(Patch("src/app.py", "answer", "reply"), change=first.id)
    shown = rooms.show(first.id)
    rooms.desk.apply(first.id, shown.stamp)
    rooms.desk.undo(first.id)
    second = rooms.propose(Patch("web/page.js", "x = 1", "x = 2"))
    rooms.show(second.id)
    rooms.desk.discard(second.id, "not now")
    rooms.propose(Patch("web/page.js", "x = 1", "x = 3"), Patch("web/page.js", "x = 3", "x = 1"))
    rooms.propose(Patch("README.md", "small", "large"))
    return rooms


def told(history: History) -> list[tuple[str, str]]:
    return [(line.change[-1], line.kind) for line in history.lines]


def tamper(rooms: Rooms, statement: str) -> History:
    raw = sqlite3.connect(rooms.database.file)
    with raw:
        assert raw.execute(statement).rowcount > 0
    raw.close()
    return rooms.desk.history()


def test_everything_that_happened_is_told_in_order(lived: Rooms) -> None:
    history = lived.desk.history()
    assert told(history) == [
        ("1", "proposed"),
        ("1", "proposed"),
        ("1", "shown"),
        ("1", "applied"),
        ("1", "undone"),
        ("2", "proposed"),
        ("2", "shown"),
        ("2", "discarded"),
        ("3", "proposed"),
        ("3", "withdrawn"),
        ("4", "proposed"),
    ]
    assert [line.number for line in history.lines] == list(range(1, 12))
    assert history.warnings == ()


def test_one_change_can_be_asked_for(lived: Rooms) -> None:
    history = lived.desk.history("1")
    assert {line.change for line in history.lines} == {"change-001"} and len(history.lines) == 5
    with pytest.raises(NoSuchThing):
        lived.desk.history("change-099")


def test_it_holds_digests_and_never_contents(lived: Rooms) -> None:
    line = lived.desk.history("1").lines[3]
    proposal = lived.store.get("change-001")
    assert line.stamp == proposal.stamp
    (file,) = line.files
    assert (file.path, file.action) == ("src/app.py", "modify")
    assert (file.base_sha256, file.result_sha256) == (
        proposal.files[0].base_sha256,
        proposal.files[0].result_sha256,
    )
    raw = sqlite3.connect(lived.database.file)
    rows = raw.execute("SELECT at, kind, change, stamp, detail FROM audit").fetchall()
    assert not any("return" in str(value) or "not now" in str(value) for row in rows for value in row)
    raw.close()


def test_what_is_only_looked_at_after_its_end_is_not_logged_as_shown(lived: Rooms) -> None:
    before = len(lived.desk.history().lines)
    later = Rooms(lived.workspace.root)
    later.show("change-001")
    assert len(later.desk.history().lines) == before
    later.show("change-004")
    assert len(later.desk.history().lines) == before + 1
    later.close()


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("UPDATE audit SET kind = 'discarded' WHERE number = 4", 4),
        ("UPDATE audit SET stamp = '0' WHERE number = 3", 3),
        ("UPDATE audit SET at = '2020-01-01T00:00:00.000Z' WHERE number = 1", 1),
        ("DELETE FROM audit WHERE number = 2", 3),
        ("DELETE FROM audit WHERE number = 1", 2),
        ("UPDATE audit SET digest = 'f' WHERE number = 5", 5),
        ("UPDATE audit SET detail = '[' WHERE number = 4", 4),
        ("UPDATE audit SET detail = '[5]' WHERE number = 4", 4),
    ],
)
def test_an_altered_line_breaks_the_chain(lived: Rooms, statement: str, line: int) -> None:
    history = tamper(lived, statement)
    assert history.broken == line
    assert f"broken at line {line}" in history.warnings[0]


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("DELETE FROM audit WHERE number >= 10", ("change-003", "change-004")),
        ("DELETE FROM audit WHERE number = 11", ("change-004",)),
        ("UPDATE changes SET status = 'applied' WHERE id = 'change-001'", ("change-001",)),
        (
            "UPDATE change_files SET result = CAST('other' AS BLOB) WHERE change = 'change-004'",
            ("change-004",),
        ),
        ("UPDATE change_files SET path = 'elsewhere' WHERE change = 'change-002'", ("change-002",)),
    ],
)
def test_a_log_cut_at_its_end_or_an_altered_store_is_noticed(
    lived: Rooms, statement: str, changes: tuple[str, ...]
) -> None:
    history = tamper(lived, statement)
    assert (history.broken, history.contradicted) == (None, changes)
    assert all(change in history.warnings[0] for change in changes)
