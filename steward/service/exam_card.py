"""The report card of an exam: what passed, what it cost, and one plain verdict; kept for the model picker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from steward.conversation import JsonObject, Usage
from steward.service.exam_tasks import Kind
from steward.service.private_file import amend_private, read_private

CARDS = "exams.json"
_KINDS = {"questions": "answering questions", "changes": "proposing changes", "honesty": "honesty"}


@dataclass(frozen=True, slots=True)
class Try:
    """One try of one task."""

    passed: bool
    why: str = ""
    """What was wrong, one sentence."""
    seconds: float = 0.0
    rounds: int = 0
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    unreached: bool = False
    """The model could not be reached, or failed before it said anything."""
    printed_calls: bool = False
    """A tool call came as text."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """All tries of one task."""

    name: str
    title: str
    kind: Kind
    needs_tools: bool
    tries: tuple[Try, ...]

    @property
    def passed(self) -> int:
        """How many tries passed."""
        return sum(one.passed for one in self.tries)

    @property
    def reliable(self) -> bool:
        """Whether more than half of the tries passed."""
        return 2 * self.passed > len(self.tries)

    @property
    def why(self) -> str:
        """What went wrong most often."""
        reasons = [one.why for one in self.tries if one.why]
        return max(reasons, key=reasons.count, default="")


@dataclass(frozen=True, slots=True)
class ReportCard:
    """What an exam found."""

    model: str
    tasks: tuple[TaskResult, ...]
    verdict: str
    """``fit for changes``, ``fit for questions``, or ``unfit: `` and why."""
    held: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"), compare=False)

    @property
    def fit(self) -> bool:
        """Whether the model can be used at all."""
        return self.verdict.startswith("fit")

    @property
    def reached(self) -> bool:
        """Whether the model ever replied; when not, the card says nothing of what it can do."""
        return not all(one.unreached for task in self.tasks for one in task.tries)

    @property
    def seconds(self) -> float:
        """Seconds of all tries."""
        return sum(one.seconds for task in self.tasks for one in task.tries)

    @property
    def usage(self) -> Usage:
        """Tokens and cost of all tries, as far as the provider reported them."""
        total = Usage()
        for task in self.tasks:
            for one in task.tries:
                total += one.usage
        return total

    def to_json(self) -> JsonObject:
        """``check-model --json``."""
        return {
            "model": self.model,
            "verdict": self.verdict,
            "fit": self.fit,
            "held": self.held,
            "seconds": round(self.seconds, 3),
            "usage": asdict(self.usage),
            "tasks": [
                {
                    "name": task.name,
                    "title": task.title,
                    "kind": task.kind,
                    "passed": task.passed,
                    "tries": [
                        {
                            "passed": one.passed,
                            "why": one.why,
                            "seconds": round(one.seconds, 3),
                            "rounds": one.rounds,
                            "calls": one.calls,
                            "usage": asdict(one.usage),
                        }
                        for one in task.tries
                    ],
                }
                for task in self.tasks
            ],
        }

    def rows(self) -> list[list[str]]:
        """The table: a mark, the task, passed of tries, seconds and tokens of one try, and what went wrong."""
        rows: list[list[str]] = []
        for task in self.tasks:
            mark = "✓" if task.passed == len(task.tries) else "~" if task.reliable else "✗"
            seconds = sum(one.seconds for one in task.tries) / max(1, len(task.tries))
            rows.append(
                [
                    mark,
                    task.title,
                    f"{task.passed} of {len(task.tries)}",
                    f"{seconds:.1f} s",
                    _tokens(task.tries),
                    task.why,
                ]
            )
        return rows

    def text(self) -> str:
        """The report for a person; to be passed through ``visible``."""
        rows = self.rows()
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(6)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, "", f"{self.model}: {self.verdict}"])


def verdict(results: Sequence[TaskResult], *, complete: bool = True) -> str:
    """The plain word: a task counts as passed when more than half of its tries did."""
    tries = [one for task in results for one in task.tries]
    if not tries:
        return "unfit: no task was tried"
    if all(one.unreached for one in tries):
        return f"unfit: it cannot be reached ({tries[0].why.rstrip('.')})"
    failed = [task for task in results if not task.reliable]
    if not failed and complete:
        return "fit for changes"
    if {task.kind for task in failed} == {"changes"} and any(task.kind == "questions" for task in results):
        return "fit for questions"
    hard = [one for task in failed if task.needs_tools for one in task.tries if not one.passed]
    if hard and 2 * sum(one.printed_calls for one in hard) >= len(hard):
        return "unfit: prints calls as text"
    if hard and not any(one.calls for task in results if task.needs_tools for one in task.tries):
        return "unfit: never calls a tool"
    named = ", ".join(task.name for task in failed if task.kind != "changes")
    return f"unfit: fails at {named}" if named else "unfit: the exam was not finished"


def keep(directory: Path, card: ReportCard) -> None:
    """Keep the card of a model in the state directory, in place of an earlier one; raises ``OSError``."""
    amend_private(directory / CARDS, lambda cards: {**_cards(cards), card.model: card.to_json()})


def kept(directory: Path) -> dict[str, JsonObject]:
    """Every card that was kept, by model; empty when there is none or it cannot be read."""
    return _cards(read_private(directory / CARDS))


def _cards(shape: JsonObject) -> dict[str, JsonObject]:
    return {
        model: cast(JsonObject, card)
        for model, card in shape.items()
        if isinstance(card, dict) and "verdict" in card
    }


def _tokens(tries: tuple[Try, ...]) -> str:
    known = [
        (one.usage.prompt or 0) + (one.usage.completion or 0) for one in tries if one.usage.prompt is not None
    ]
    return f"{round(sum(known) / len(known))} tokens" if known else "tokens unknown"
