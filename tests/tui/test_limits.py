"""What the page on cost says of the limits."""

from __future__ import annotations

from steward.conversation import Usage
from steward.loop import Bounds
from steward.loop.budget import Budget
from steward.service.views import CostView
from steward.tui.sessions.pages import limit_rows


def test_limits_that_are_set_stand_beside_what_was_used() -> None:
    bounds = Bounds(rounds=12, budget=Budget(turn_tokens=2_000, session_cost=0.5))
    assert limit_rows(CostView(Usage(), Usage(), bounds)) == [
        ("rounds, at most", "12", ""),
        ("tokens, at most", "2,000", "no limit"),
        ("cost, at most", "no limit", "$0.5000"),
    ]
    assert limit_rows(CostView(Usage(), Usage())) == []
