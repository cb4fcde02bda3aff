"""Clocks refuse nonsense when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from steward.model.clocks import Clocks


@pytest.mark.parametrize(
    "given",
    [
        {"first_token": 0}, {"gap": -1}, {"connect": float("nan")}, {"gap": float("inf")}, {"retries": -1},
        {"local_factor": 0.5}, {"start": "soon"}, {"first_token": True},
    ],
)  # fmt: skip
def test_nonsense_is_refused_in_one_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^The clock \w+ must be .*\.$"):
        Clocks(**given)


def test_clocks_travel_whole() -> None:
    clocks = Clocks(first_token=7, retries=0)
    assert Clocks(**clocks.to_json()) == clocks


def test_the_longest_silence_counts_local_servers() -> None:
    assert Clocks(first_token=10, gap=5, local_factor=4).longest == 40
