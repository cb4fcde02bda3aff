"""A stored conversation is told to a person once and whole, whatever was folded, compacted or noted in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from steward.conversation import Assistant, Message, ToolAnswer, User
from steward.service import Steward
from tests.support import ScriptedGateway, asked, asked_beside, call, patch, plant, steward_in

READ = {"calls": [call("readFile", path="src/app.py")]}
PROPOSED = {"calls": [patch("src/app.py", "41", "42")]}


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Steward, ScriptedGateway]]:
    steward, gateway = steward_in(plant(tmp_path / "repository"), [])
    await steward.start()
    yield steward, gateway
    await steward.close()


def said(messages: tuple[Message, ...]) -> list[str]:
    """Questions, answers, and a word for each note and result."""
    rows: list[str] = []
    for message in messages:
        match message:
            case User(_, True):
                rows.append("note")
            case User(text) | Assistant(text) if text:
                rows.append(text)
            case ToolAnswer():
                rows.append("result")
            case _:
                pass
    return rows


async def test_what_was_compacted_twice_and_revised_is_told_once(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    gateway.replies = [READ, *({"text": text} for text in ("A.", "S1", "B.", "S2", "C."))]
    await asked(steward, "one")
    await steward.compact()
    await steward.revise_summary("S1, revised")
    await asked(steward, "two")
    await steward.compact()
    await asked(steward, "three")
    assert said(await steward.stored()) == (
        ["one", "result", "A.", "note", "note", "two", "B.", "note", "three", "C."]
    )
    assert "S1, revised" in str(await steward.stored()) and "S2" in str(await steward.stored())


async def test_notes_at_the_head_of_a_question_stand_apart_and_without_their_tags(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    gateway.replies = [READ, PROPOSED, {"text": "Done."}, {"text": "Good."}]
    await asked(steward, "change it")
    await steward.discard_change("change-001", "too early")
    await asked(steward, "and now")
    told = steward.told()
    assert told == await steward.stored()
    note, question = [m for m in told if isinstance(m, User)][-2:]
    assert (note.note, note.text) == (True, "The person discarded change-001, saying: too early.")
    assert question == User("and now")
    assert "steward-note" not in "".join(m.text for m in told if isinstance(m, User))


async def test_a_session_is_told_by_its_id_while_another_one_is_held(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    gateway.replies = [{"text": "A."}, {"text": "B."}]
    await asked(steward, "one")
    first = steward.session_id
    await steward.new_session()
    await asked(steward, "two")
    assert said(await steward.stored(first[:12])) == ["one", "A."]
    assert said(steward.told()) == ["two", "B."]


# What is told of


async def test_a_fork_is_told_what_was_done_after_its_question_and_nothing_twice(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    replies: list[Any] = [READ, PROPOSED, {"text": "A."}, {"text": "B."}, {"text": "C."}, {"text": "D."}]
    gateway.replies = [*replies, {"text": "E."}]
    await asked(steward, "change it")
    await asked(steward, "before")
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    await asked(steward, "after")
    session = steward.session_id
    await steward.fork(2)
    await asked(steward, "before, otherwise")
    assert str(gateway.sent()).count("The person applied change-001.") == 1
    await steward.fork(3, session)
    await asked(steward, "after, otherwise")
    assert str(gateway.sent()).count("The person applied change-001.") == 1
    await steward.resume(session)
    await asked(steward, "and here")
    assert str(gateway.sent()).count("The person applied change-001.") == 1


async def test_what_another_agent_answered_is_not_told_to_another_conversation(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    gateway.replies = [{"text": "A."}, {"text": "Aside."}, {"text": "B."}]
    await asked(steward, "one")
    await asked_beside(steward, "reviewer", "is it right")
    await steward.new_session()
    await asked(steward, "two")
    assert "another agent" not in str(gateway.sent())


async def test_who_answered_before_is_said_when_another_model_goes_on(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    gateway.replies = [{"text": "A."}]
    await asked(steward, "one")
    session = steward.session_id
    await steward.new_session()
    await steward.choose_model("script/other")
    steward.unheard()
    await steward.resume(session)
    (notice,) = (getattr(event, "text", "") for event in steward.unheard())
    assert notice == "script/here answered in this session; script/other does from now on."
    assert steward.unheard() == ()


async def test_a_summary_that_nobody_reads_is_not_taken_when_it_is_hardly_shorter(tmp_path: Path) -> None:
    long = " ".join(f"point {n * n} of {n}" for n in range(1200))
    steward, gateway = steward_in(plant(tmp_path / "other"), [{"text": long}, {"text": long}, {"text": "B."}])

    async def size(model: str) -> int | None:
        return 11_000

    gateway.window = size  # pyright: ignore[reportAttributeAccessIssue] -- a model with a window of this size
    await steward.start()
    await steward.choose_model("script/here")
    await asked(steward, "one")
    events = await asked(steward, "two")
    assert any("hardly shorter than the conversation" in str(getattr(event, "text", "")) for event in events)
    assert not steward.summary and events[-1].reason == "answered"
    await steward.close()
