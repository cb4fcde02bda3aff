"""The exam of a model: small tasks in throw-away repositories over the real loop, and what they say about it."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from steward.config import Settings
from steward.conversation import Usage
from steward.errors import StewardError
from steward.events import AnswerText, RoundStarted, ToolFinished, ToolStarted, TurnEnded
from steward.model.gateway import Gateway
from steward.service.confine import worker_ports
from steward.service.exam_card import ReportCard, TaskResult, Try, verdict
from steward.service.exam_tasks import TASKS, Called, Outcome, Task, prints_calls, question_of
from steward.service.house import House
from steward.service.model_settings import clocks_of
from steward.service.steward import Steward

TRIES = 3
PREFIX = "steward-exam-"
ROUNDS = 15
"""Model calls of one try."""

Open = Callable[[Path], Steward]
Progress = Callable[[Task, Try], None]


async def examine(
    model: str,
    open_steward: Open,
    *,
    tasks: Sequence[Task] = TASKS,
    tries: int = TRIES,
    progress: Progress | None = None,
    place: Path | None = None,
) -> ReportCard:
    """Hold the exam with stewards that ``open_steward`` makes for one throw-away repository each, in ``place``.

    When the first try does not reach the model, the rest is left out; ``ReportCard.reached`` says so.
    """
    results: list[TaskResult] = []
    for task in tasks:
        done: list[Try] = []
        for attempt in range(1, tries + 1):
            done.append(await _try(task, attempt, open_steward, place))
            if progress is not None:
                progress(task, done[-1])
            if not results and done[0].unreached:
                break
        results.append(TaskResult(task.name, task.title, task.kind, task.needs_tools, tuple(done)))
        if done[0].unreached and len(results) == 1:
            break
    return ReportCard(model, tuple(results), verdict(results, complete=len(results) == len(tasks)))


async def hold_exam(
    model: str,
    settings: Settings,
    *,
    tasks: Sequence[Task] = TASKS,
    tries: int = TRIES,
    progress: Progress | None = None,
    gateway: ExamGateway | None = None,
    place: Path | None = None,
) -> ReportCard:
    """Hold the exam with the person's settings, but without their documents and skills; one worker serves it all.

    A ``gateway`` that is given is left open. Whatever is written is written in ``place``, a directory that whoever
    gives it removes when the event loop has ended (a thread may outlive an exam that is interrupted), or else among
    the temporary files.
    """
    wanted = settings.model_copy(
        update={"instructions": settings.instructions.model_copy(update={"enabled": True, "files": ()})}
    )
    ports = worker_ports(settings, model, os.environ)
    shared = gateway or ExamGateway(
        clocks=clocks_of(settings), confine=settings.confine, ports=ports, models=(model,)
    )
    with tempfile.TemporaryDirectory(
        prefix=PREFIX, dir=place, ignore_cleanup_errors=place is not None
    ) as state:

        def open_steward(repository: Path) -> Steward:
            house = House(repository, wanted, state=Path(state))
            return Steward(house, model=model, watch=False, gateway=shared)

        try:
            return await examine(
                model, open_steward, tasks=tasks, tries=tries, progress=progress, place=place
            )
        finally:
            if shared is not gateway:
                await shared.end()


class ExamGateway(Gateway):
    """The stewards of an exam may close it as often as they like; it ends when the exam does."""

    async def close(self) -> None:
        """Stay open."""

    async def end(self) -> None:
        """End the worker."""
        await super().close()


async def _try(task: Task, attempt: int, open_steward: Open, place: Path | None) -> Try:
    with tempfile.TemporaryDirectory(
        prefix=PREFIX, dir=place, ignore_cleanup_errors=place is not None
    ) as above:
        repository = Path(above, task.name)
        _plant(repository, {".git/HEAD": "ref: refs/heads/main\n", **task.files(attempt)})
        outcome = await _ask(open_steward(repository), question_of(task, attempt))
    if outcome.ended not in ("answered", "round-limit", "loop", "budget"):
        wrong = outcome.error or "The turn did not end with an answer."
    elif outcome.ended != "answered":
        wrong = outcome.error or "It did not come to an end."
    else:
        wrong = task.judge(attempt, outcome)
    if wrong and prints_calls(outcome):
        wrong = "It printed a tool call as text."
    return Try(
        passed=not wrong,
        why=wrong,
        seconds=outcome.seconds,
        rounds=outcome.rounds,
        calls=len(outcome.calls),
        usage=outcome.usage,
        unreached=outcome.ended == "failed" and not outcome.said and not outcome.calls,
        printed_calls=prints_calls(outcome),
    )


async def _ask(steward: Steward, question: str) -> Outcome:
    """One turn of one steward, gathered."""
    began = time.monotonic()
    said: list[str] = []
    last = ""
    started: dict[str, tuple[str, str]] = {}
    calls: list[Called] = []
    rounds, ended, error = 0, "failed", ""
    usage = Usage()
    try:
        await steward.start()
        async with aclosing(steward.ask(question, rounds=ROUNDS)) as events:
            async for event in events:
                match event:
                    case RoundStarted(n):
                        rounds, last = n, ""
                    case AnswerText(text):
                        said.append(text)
                        last += text
                    case ToolStarted(call_id, name, text):
                        started[call_id] = (name, text)
                    case ToolFinished(call_id, name, ok):
                        calls.append(Called(name, started.get(call_id, (name, ""))[1], ok))
                    case TurnEnded(reason, rounds, usage, _, error):
                        ended = reason
                    case _:
                        pass
        proposals = tuple(view.proposal for view in await steward.changes())
    except StewardError as refused:
        return Outcome(ended="failed", error=str(refused), seconds=time.monotonic() - began)
    finally:
        await steward.close()
    return Outcome(
        last, "".join(said), rounds, tuple(calls), proposals, ended, error, time.monotonic() - began, usage
    )


def _plant(repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
