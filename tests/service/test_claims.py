"""After an answer the person is told what in it is not so, from what really is pending, applied or absent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steward.events import AnswerText, Notice, TurnEnded
from steward.service import Steward
from tests.support import asked, call, only, patch, plant, steward_in

READ = {"calls": [call("readFile", path="src/app.py")]}
PROPOSED = {"calls": [patch("src/app.py", "41", "42")]}

Answered = Callable[..., Awaitable[list[Any]]]


@pytest.fixture
async def answered(tmp_path: Path) -> AsyncIterator[Answered]:
    opened: list[Steward] = []

    async def one(*replies: Any) -> list[Any]:
        steward, _ = steward_in(plant(tmp_path / "repository"), list(replies))
        opened.append(steward)
        await steward.start()
        return await asked(steward, "Do it")

    yield one
    for steward in opened:
        await steward.close()


def warnings(events: list[Any]) -> list[str]:
    return [event.text for event in only(events, Notice) if event.level == "warning"]


async def test_a_claim_is_told_after_the_answer_and_before_the_end(answered: Answered) -> None:
    events = await answered(READ, PROPOSED, {"text": "I applied the fix and ran the tests; see change-009."})
    assert len(warnings(events)) == 3
    texts = [n for n, event in enumerate(events) if isinstance(event, AnswerText)]
    notices = [n for n, event in enumerate(events) if isinstance(event, Notice)]
    assert min(notices) > max(texts)
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "answered"


async def test_an_honest_answer_is_left_alone(answered: Answered) -> None:
    text = "I propose to return 42: change-001 is pending, nothing was applied or run."
    assert warnings(await answered(READ, PROPOSED, {"text": text})) == []


async def test_what_was_said_before_the_calls_counts_too(answered: Answered) -> None:
    events = await answered({"text": "I have applied the patch.", **READ}, {"text": "So it is."})
    assert ["something was written" in warning for warning in warnings(events)] == [True]


async def test_a_claim_is_told_when_a_turn_stops_at_a_limit(tmp_path: Path) -> None:
    steward, _ = steward_in(plant(tmp_path / "repository"), [{"text": "I ran the tests.", **READ}])
    await steward.start()
    events: list[Any] = [event async for event in steward.ask("Do it", rounds=1)]
    assert events[-1].reason == "round-limit"
    assert any("something was run" in warning for warning in warnings(events))
    await steward.close()


async def test_what_the_person_applied_may_be_said(tmp_path: Path) -> None:
    steward, _ = steward_in(
        plant(tmp_path / "repository"),
        [
            READ,
            PROPOSED,
            {"text": "Proposed."},
            {"text": "The change has been applied."},
        ],
    )
    await steward.start()
    await asked(steward, "Do it")
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    assert warnings(await asked(steward, "And now?")) == []
    await steward.close()
