"""What a turn and its session may cost, in tokens and dollars: watched round by round, said before it is used up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from steward.conversation import Usage

SHARE = 0.8
"""From this share of a limit on the person is warned."""

Unit = Literal["tokens", "cost"]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one turn and of all turns of a session; 0 means no limit. Costs are US dollars."""

    turn_tokens: int = 0
    turn_cost: float = 0.0
    session_tokens: int = 0
    session_cost: float = 0.0


@dataclass(slots=True)
class Spending:
    """What has been used, against a budget. ``session`` is what earlier turns of the session used."""

    budget: Budget
    session: Usage = field(default_factory=Usage)
    _tokens: int = 0
    _estimated: bool = False
    _cost: float = 0.0
    _unpriced: bool = False
    _said: set[str] = field(default_factory=set[str])

    def add(self, usage: Usage, estimate: int) -> None:
        """One round; ``estimate`` stands in for tokens that the provider did not report."""
        if usage.prompt is None and usage.completion is None:
            self._tokens += estimate
            self._estimated = True
        else:
            self._tokens += (usage.prompt or 0) + (usage.completion or 0)
        if usage.cost is None:
            self._unpriced = True
        else:
            self._cost += usage.cost

    def warnings(self) -> tuple[str, ...]:
        """Sentences for the person that were not given before: a limit that is near, one that cannot be watched."""
        found: list[str] = []
        for name, unit, used, limit in self._limits():
            if unit == "cost" and self._unpriced and "price" not in self._said:
                self._said.add("price")
                found.append(
                    f"What this model costs is unknown, so the limit of {_amount(limit, unit)} cannot be watched."
                )
            if name not in self._said and SHARE * limit <= used < limit:
                self._said.add(name)
                found.append(f"This {name} has used {self._used(used, unit)} of its {_amount(limit, unit)}.")
        return tuple(found)

    def over(self) -> str:
        """The sentence that ends the turn, empty while every limit is kept."""
        for name, unit, used, limit in self._limits():
            if used >= limit:
                has = self._used(used, unit)
                return f"Stopped: this {name} has used {has}, and its limit is {_amount(limit, unit)}."
        return ""

    def _limits(self) -> Iterator[tuple[str, Unit, float, float]]:
        """Each limit that is set: whose, of what, used, allowed."""
        earlier = (self.session.prompt or 0) + (self.session.completion or 0)
        paid = self.session.cost or 0.0
        rows: tuple[tuple[str, Unit, float, float], ...] = (
            ("turn", "tokens", self._tokens, self.budget.turn_tokens),
            ("turn", "cost", self._cost, self.budget.turn_cost),
            ("session", "tokens", earlier + self._tokens, self.budget.session_tokens),
            ("session", "cost", paid + self._cost, self.budget.session_cost),
        )
        return (row for row in rows if row[3] > 0)

    def _used(self, used: float, unit: Unit) -> str:
        about = "about " if unit == "tokens" and self._estimated else ""
        at_least = "at least " if unit == "cost" and self._unpriced else ""
        return f"{about}{at_least}{_amount(used, unit)}"


def _amount(value: float, unit: Unit) -> str:
    return f"{value:,.0f} tokens" if unit == "tokens" else f"${value:.4f}".rstrip("0").rstrip(".")
