"""What a turn may cost is watched, said before it is used up, and never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.conversation import Usage
from steward.events import Notice, RoundEnded
from steward.loop.budget import Budget, Spending
from steward.loop.turn import Bounds, run_turn
from tests.support import call, only, plant, steward_in


def test_nothing_is_said_while_there_is_no_limit() -> None:
    spending = Spending(Budget())
    spending.add(Usage(10_000_000, 10_000_000, None, 1e6), 0)
    assert (spending.warnings(), spending.over()) == ((), "")


def test_a_limit_that_is_near_is_said_once_and_one_that_is_met_ends_the_turn() -> None:
    spending = Spending(Budget(turn_tokens=1_000))
    spending.add(Usage(700, 99), 0)
    assert (spending.warnings(), spending.over()) == ((), "")
    spending.add(Usage(1, 0), 0)
    assert spending.warnings() == ("This turn has used 800 tokens of its 1,000 tokens.",)
    assert (spending.warnings(), spending.over()) == ((), "")
    spending.add(Usage(100, 100), 0)
    assert spending.warnings() == ()
    assert spending.over() == "Stopped: this turn has used 1,000 tokens, and its limit is 1,000 tokens."


def test_what_earlier_turns_used_counts_for_the_session_alone() -> None:
    spending = Spending(Budget(turn_cost=0.5, session_cost=2.0), Usage(5, 5, None, 1.5))
    spending.add(Usage(1, 1, None, 0.25), 0)
    assert spending.warnings() == ("This session has used $1.75 of its $2.",)
    spending.add(Usage(1, 1, None, 0.25), 0)
    assert "this turn has used $0.5" in spending.over()
    assert Spending(Budget(session_tokens=10), Usage(5, 5)).over().startswith("Stopped: this session")


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    spending = Spending(Budget(turn_cost=1.0, session_cost=1.0))
    spending.add(Usage(1, 1, None, None), 0)
    assert spending.warnings() == ("What this model costs is unknown, so the limit of $1 cannot be watched.",)
    spending.add(Usage(1, 1, None, 0.9), 0)
    assert spending.warnings()[0] == "This turn has used at least $0.9 of its $1."


def test_tokens_that_nobody_reported_are_estimated_and_called_so() -> None:
    spending = Spending(Budget(turn_tokens=100))
    spending.add(Usage(), 90)
    assert spending.warnings() == ("This turn has used about 90 tokens of its 100 tokens.",)


@pytest.fixture
async def turns(tmp_path: Path) -> Any:
    stewards: list[Any] = []

    async def turn(replies: list[Any], bounds: Bounds, spent: Usage | None = None) -> tuple[list[Any], Any]:
        steward, gateway = steward_in(plant(tmp_path / "repository"), replies)
        stewards.append(steward)
        talk: Any = steward._talk  # pyright: ignore[reportPrivateUsage] -- below the steward, above the loop
        async for _ in talk.turn("Begin", gateway, Bounds(), tuple):
            pass
        desk = talk._desk
        desk.spent = spent or Usage()
        return [event async for event in run_turn("Go", desk, bounds)], gateway

    yield turn
    for steward in stewards:
        await steward.close()


def looking(**usage: Any) -> list[dict[str, Any]]:
    rounds = [{"calls": [call("listFiles", depth=n)], "usage": usage} for n in range(1, 40)]
    return [{"text": "Yes."}, *rounds]


async def test_a_turn_ends_when_its_tokens_are_used_up(turns: Any) -> None:
    bounds = Bounds(budget=Budget(turn_tokens=1_000))
    events, gateway = await turns(looking(prompt=290, completion=10), bounds)
    assert events[-1].reason == "budget" and "1,200 tokens" in events[-1].error
    assert len(only(events, RoundEnded)) == 4
    assert [n.text for n in only(events, Notice)] == ["This turn has used 900 tokens of its 1,000 tokens."]
    assert gateway.sent()[-1]["role"] == "tool"


async def test_a_session_that_is_used_up_asks_no_model(turns: Any) -> None:
    events, gateway = await turns(looking(), Bounds(budget=Budget(session_cost=1.0)), Usage(1, 1, None, 1.0))
    assert events[-1].reason == "budget" and len(gateway.requests) == 1


async def test_few_rounds_left_are_said_to_both_sides_once(turns: Any) -> None:
    events, gateway = await turns(looking(), Bounds(rounds=10))
    assert events[-1].reason == "round-limit"
    assert [n.text for n in only(events, Notice)] == ["8 of 10 rounds of this turn are used."]
    told = ["2 more times" in m["content"] for m in gateway.sent() if m["role"] == "tool"]
    assert told == [False] * 7 + [True, False]


async def test_an_answer_in_time_is_not_cut_by_a_budget(turns: Any) -> None:
    replies = [{"text": "Yes."}, {"text": "Done.", "usage": {"prompt": 5_000, "completion": 5_000}}]
    events, _ = await turns(replies, Bounds(budget=Budget(turn_tokens=1_000)))
    assert events[-1].reason == "answered"
