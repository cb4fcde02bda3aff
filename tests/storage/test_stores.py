"""What is stored comes back as it was, also the bytes and characters that are hard to store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.conversation import Assistant, Message, System, ToolAnswer, ToolCall, User
from steward.errors import NoSuchThing, WrongStatus
from steward.proposals import Edit, FileChange, Governing, Proposal
from steward.storage import About, AuditLog, ChangeStore, Database, PromptStore, SessionMoved, SessionStore
from steward.storage.prompts import KEPT_DRAFTS


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    yield opened
    opened.close()


def proposal(change: str, *, result: bytes = b"b\r\n\0\xff") -> Proposal:
    return Proposal(
        id=change,
        title="Mend \ud800 it",
        created="2026-01-01T00:00:00.000Z",
        files=(
            FileChange(
                "src/ü.py", "modify", b"a\r\n", result, 0o100755 & 0o7777, 0o755, None, (Edit("a", "\ud800"),)
            ),
            FileChange("empty", "create", None, b"", None, 0o644),
            FileChange("gone", "delete", b"", None, 0o600, None),
            FileChange("New", "rename", b"x", b"y", 0o644, 0o644, "new"),
        ),
        workspace="w" * 16,
        instructions=(Governing("src/ü.py", "../AGENTS.md", "f" * 64),),
        session="s",
        model="script/x",
        notes=("made without instructions",),
    )


def test_a_proposal_survives_a_restart_unchanged(tmp_path: Path) -> None:
    first = Database(tmp_path)
    store = ChangeStore(first)
    made = proposal(store.next_id())
    store.put(made)
    first.close()
    second = Database(tmp_path)
    got = ChangeStore(second).get("change-001")
    assert got.files == made.files
    assert (got.stamp, got.instructions, got.notes, got.status) == (
        made.stamp,
        made.instructions,
        made.notes,
        "pending",
    )
    second.close()


def test_a_reserved_number_is_no_change_and_never_comes_twice(database: Database) -> None:
    store = ChangeStore(database)
    assert [store.next_id(), store.next_id()] == ["change-001", "change-002"]
    assert store.pending() == ()
    with pytest.raises(NoSuchThing):
        store.get("change-001")


def test_an_applied_change_cannot_be_amended_or_discarded(database: Database) -> None:
    store = ChangeStore(database)
    made = proposal(store.next_id())
    store.put(made)
    store.settle(made, "applied")
    with pytest.raises(WrongStatus):
        store.put(made)
    with pytest.raises(WrongStatus):
        store.discard(made.id)
    store.settle(made, "undone")
    assert store.get(made.id).status == "undone"


def test_the_audit_log_is_a_chain_that_shows_a_changed_line(database: Database) -> None:
    store = ChangeStore(database)
    made = proposal(store.next_id())
    store.put(made)
    store.shown(made)
    store.discard(made.id, "no")
    log = AuditLog(database)
    assert [entry.kind for entry in log.entries()] == ["proposed", "shown", "discarded"]
    assert log.broken() is None
    with database.write() as cursor:
        cursor.execute("UPDATE audit SET stamp = 'other' WHERE number = 2")
    assert log.broken() == 2


def test_removing_a_line_from_the_audit_log_is_seen(database: Database) -> None:
    store = ChangeStore(database)
    made = proposal(store.next_id())
    store.put(made)
    store.shown(made)
    store.settle(made, "applied")
    with database.write() as cursor:
        cursor.execute("DELETE FROM audit WHERE number = 2")
    assert AuditLog(database).broken() == 3


hostile = st.text(st.characters(codec=None), max_size=60)
messages = st.one_of(
    st.builds(System, hostile),
    st.builds(User, hostile, st.booleans()),
    st.builds(
        Assistant,
        hostile,
        st.lists(st.builds(ToolCall, hostile, hostile, hostile), max_size=3).map(tuple),
        hostile,
    ),
    st.builds(ToolAnswer, hostile, hostile, hostile, st.booleans()),
)


@given(st.lists(messages, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_message_comes_back_as_it_was(database: Database, batch: list[Message]) -> None:
    store = SessionStore(database)
    session = store.create("m")
    store.append(session, 0, batch[:3])
    store.append(session, 3, batch[3:])
    assert list(store.messages(session)) == batch


def test_messages_stored_once_are_never_rewritten(database: Database) -> None:
    store = SessionStore(database)
    session = store.create("m")
    store.append(session, 0, [User("first")])
    store.append(session, 0, [User("first"), Assistant("second")])
    with pytest.raises(SessionMoved):
        store.append(session, 1, [Assistant("other"), Assistant("third")])
    assert store.messages(session) == (User("first"), Assistant("second"))


def test_sessions_are_listed_with_the_latest_first_and_empty_ones_left_out(database: Database) -> None:
    store = SessionStore(database)
    store.create("empty")
    old, new = store.create("m"), store.create("m")
    store.append(new, 0, [User("x")])
    store.append(old, 0, [User("y")])
    store.append(new, 1, [], about=About("New one", "m", "a/b", {"k": [1]}))
    rows = store.all()
    assert {row.id for row in rows} == {old, new}
    assert store.get(new).state == {"k": [1]} and store.get(new).focus == "a/b"
    with pytest.raises(NoSuchThing):
        store.get("nope")


def test_prompts_keep_their_order_and_the_draft_is_kept(database: Database) -> None:
    store = PromptStore(database)
    for text in ("one", "two\nlines", "two\nlines", "three"):
        store.remember(text)
    store.keep_draft("half a thou")
    assert store.history(2) == ("two\nlines", "three")
    assert store.draft() == "half a thou"
    store.keep_draft("")
    assert store.draft() == ""


def test_two_stewards_keep_a_draft_each_and_the_next_takes_up_the_last(database: Database) -> None:
    one, two = PromptStore(database), PromptStore(database)
    one.keep_draft("of the one")
    two.keep_draft("of the other")
    two.keep_draft("")  # sent
    third = PromptStore(database)
    assert third.draft() == "of the one"
    third.keep_draft("of the one, and more")
    assert PromptStore(database).draft() == "of the one, and more"
    third.keep_draft("")
    assert PromptStore(database).draft() == ""


def test_only_so_many_drafts_are_kept(database: Database) -> None:
    for number in range(KEPT_DRAFTS + 3):
        PromptStore(database).keep_draft(f"draft {number}")
    left: list[str] = []
    while text := (store := PromptStore(database)).draft():
        left.append(text)
        store.keep_draft("")
    assert left == [f"draft {number}" for number in range(KEPT_DRAFTS + 2, 2, -1)]
