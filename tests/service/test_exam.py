"""The exam over the real loop and the real worker, with scripted models that pass and fail each task."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from steward.config import Settings
from steward.conversation import Usage
from steward.service.exam import ExamGateway, examine, hold_exam
from steward.service.exam_card import ReportCard, TaskResult, Try, keep, kept, verdict
from steward.service.exam_tasks import TASKS, Called, Outcome, Task, number, prints_calls, question_of

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "exam"
BY_NAME = {task.name: task for task in TASKS}
PASSING = sorted(SCRIPTS.glob("*.pass.jsonl"))
FAILING = sorted(SCRIPTS.glob("*.fail.*.jsonl"))


def model_of(script: Path) -> str:
    """The scripted model of a file."""
    return f"script/{script}"


together = pytest.mark.asyncio(loop_scope="module")
"""Tests that share one worker process, and so one event loop."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway() -> AsyncGenerator[ExamGateway]:
    """One worker for the tests of this module."""
    held = ExamGateway()
    yield held
    await held.end()


async def one_try(script: Path, task: Task, gateway: ExamGateway) -> Try:
    """The first try of one task by a scripted model."""
    card = await hold_exam(model_of(script), Settings(), tasks=[task], tries=1, gateway=gateway)
    return card.tasks[0].tries[0]


def test_there_are_at_least_eight_tasks_each_with_scripts_that_pass_and_that_fail() -> None:
    assert len(TASKS) >= 8 and len(BY_NAME) == len(TASKS)
    assert {path.name.split(".")[0] for path in PASSING} - {"all"} == set(BY_NAME)
    assert {path.name.split(".")[0] for path in FAILING} == set(BY_NAME)
    assert len({task.title for task in TASKS}) == len(TASKS)


@together
@pytest.mark.parametrize("name", sorted(BY_NAME))
async def test_a_model_that_does_the_task_passes_and_one_that_does_not_is_told_why(
    name: str, gateway: ExamGateway
) -> None:
    task = BY_NAME[name]
    done = await one_try(SCRIPTS / f"{name}.pass.jsonl", task, gateway)
    assert done.passed and done.why == "" and done.rounds >= 1
    assert done.usage.prompt and done.usage.prompt > 0
    for script in FAILING:
        if script.name.startswith(f"{name}.fail."):
            done = await one_try(script, task, gateway)
            because = script.read_text("utf-8").split("\n")[1].removeprefix("# Because: ")
            assert not done.passed and done.why == because, script.name


async def test_the_whole_exam_is_passed_three_times_in_order_by_one_worker() -> None:
    seen: list[tuple[str, bool]] = []
    card = await hold_exam(
        model_of(SCRIPTS / "all.pass.jsonl"),
        Settings(),
        progress=lambda task, done: seen.append((task.name, done.passed)),
    )
    assert seen == [(task.name, True) for task in TASKS for _ in range(3)]
    assert card.verdict == "fit for changes" and card.fit
    shape = json.loads(json.dumps(card.to_json()))
    assert [task["passed"] for task in shape["tasks"]] == [3] * len(TASKS)
    assert shape["usage"]["prompt"] > 0 and shape["seconds"] > 0
    text = card.text()
    assert text.count("✓") == len(TASKS) and text.endswith("fit for changes") and "3 of 3" in text


@together
async def test_a_model_that_only_answers_is_fit_for_questions(gateway: ExamGateway) -> None:
    card = await hold_exam(model_of(SCRIPTS / "all.questions-only.jsonl"), Settings(), gateway=gateway)
    assert card.verdict == "fit for questions" and card.fit
    assert "It proposed nothing." in card.text()


@together
async def test_a_model_that_prints_calls_is_unfit_and_told_so(gateway: ExamGateway) -> None:
    card = await hold_exam(model_of(SCRIPTS / "all.prints-calls.jsonl"), Settings(), gateway=gateway)
    assert card.verdict == "unfit: prints calls as text" and not card.fit


@together
async def test_a_model_that_cannot_be_reached_is_not_asked_ten_tasks(
    tmp_path: Path, gateway: ExamGateway
) -> None:
    script = tmp_path / "refused.jsonl"
    refusal = {"error": {"kind": "authentication", "status": 401, "message": "no such key"}}
    script.write_text((json.dumps(refusal) + "\n") * 30)
    card = await hold_exam(model_of(script), Settings(), tries=2, gateway=gateway)
    assert len(card.tasks) == 1
    assert card.verdict.startswith("unfit: it cannot be reached (")


@together
async def test_a_script_that_is_missing_is_said_not_raised(tmp_path: Path, gateway: ExamGateway) -> None:
    card = await hold_exam(model_of(tmp_path / "none.jsonl"), Settings(), tries=1, gateway=gateway)
    assert "cannot be reached" in card.verdict and "none.jsonl" in card.verdict


async def test_the_factory_gets_a_repository_that_is_thrown_away(tmp_path: Path) -> None:
    from steward.service import open_steward

    seen: list[Path] = []

    def opened(repository: Path):
        seen.append(repository)
        assert (repository / "README.md").is_file() and (repository / ".git" / "HEAD").is_file()
        return open_steward(
            repository,
            Settings(),
            state=tmp_path,
            model=model_of(SCRIPTS / "answer-and-stop.pass.jsonl"),
            watch=False,
        )

    card = await examine("scripted", opened, tasks=[BY_NAME["answer-and-stop"]], tries=2)
    assert card.tasks[0].passed == 2
    assert len(set(seen)) == 2 and not any(path.exists() for path in seen)


def test_planted_numbers_are_the_same_in_every_run_and_differ_from_try_to_try() -> None:
    assert number("find-fact", 1, 20_000, 60_000) == number("find-fact", 1, 20_000, 60_000)
    for task in TASKS:
        first, second = (task.files(n) for n in (1, 2))
        asked = question_of(task, 1) != question_of(task, 2)
        assert (
            task.name in ("answer-and-stop", "not-unique", "two-files", "no-invented-id")
            or asked
            or first != second
        )


def result_of(name: str, passed: int, tries: int = 3) -> TaskResult:
    """A result with so many tries passed."""
    task = BY_NAME[name]
    done = [Try(passed=n < passed, why="" if n < passed else "Wrong.", calls=1) for n in range(tries)]
    return TaskResult(task.name, task.title, task.kind, task.needs_tools, tuple(done))


def all_but(failed: dict[str, int]) -> list[TaskResult]:
    """Results of the whole exam with some tasks failed."""
    return [result_of(task.name, failed.get(task.name, 3)) for task in TASKS]


@pytest.mark.parametrize(
    ("failed", "word"),
    [
        ({}, "fit for changes"),
        ({"two-files": 2}, "fit for changes"),
        ({"two-files": 1}, "fit for questions"),
        ({"exact-patch": 0, "nested-agents": 0}, "fit for questions"),
        ({"find-fact": 1}, "unfit: fails at find-fact"),
        ({"no-invented-id": 0, "exact-patch": 0}, "unfit: fails at no-invented-id"),
        ({"planted-instruction": 1}, "unfit: fails at planted-instruction"),
    ],
)
def test_the_verdict_is_plain(failed: dict[str, int], word: str) -> None:
    assert verdict(all_but(failed)) == word


@together
async def test_a_model_whose_printed_calls_only_read_passes_by_them(
    gateway: ExamGateway, tmp_path: Path
) -> None:
    fact = str(number("find-fact", 1, 20_000, 60_000))
    replies = [
        {
            "text": 'I look.\n<tool_call>{"name": "searchFiles", "arguments": {"query": "billing worker"}}</tool_call>'
        },
        {"text": f"It is {fact}."},
    ]
    script = tmp_path / "prints.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    done = await one_try(script, BY_NAME["find-fact"], gateway)
    assert done.passed and done.calls == 1 and not done.printed_calls


def test_a_model_that_prints_only_its_patches_is_fit_for_questions() -> None:
    results = [
        TaskResult(
            t.name,
            t.title,
            t.kind,
            t.needs_tools,
            (Try(passed=t.kind != "changes", printed_calls=True, calls=1),),
        )
        for t in TASKS
    ]
    assert verdict(results) == "fit for questions"
    assert verdict([r for r in results if r.kind == "changes"]) == "unfit: prints calls as text"


def test_a_model_that_never_calls_a_tool_is_unfit() -> None:
    silent = [
        TaskResult(t.name, t.title, t.kind, t.needs_tools, (Try(passed=not t.needs_tools, why="Wrong."),))
        for t in TASKS
    ]
    assert verdict(silent) == "unfit: never calls a tool"


def test_an_exam_that_was_not_finished_makes_nobody_fit() -> None:
    assert verdict([result_of("find-fact", 3)], complete=False).startswith("unfit")
    assert verdict([]) == "unfit: no task was tried"


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "readFile", "arguments": {"path": "a"}}',
        '<tool_call>{"name": "x"}</tool_call>',
        "<function=readFile>{}</function>",
        "[TOOL_CALLS] readFile",
        "functions.readFile({})",
        'Sure:\n```json\n{"tool": "listFiles"}\n```',
        'readFile("a.py")',
    ],
)
def test_calls_printed_as_text_are_recognised(text: str) -> None:
    assert prints_calls(Outcome(said=text))
    assert not prints_calls(Outcome(said=text, calls=(Called("readFile", "{}", True),)))
    assert prints_calls(Outcome(answer=text, said=text, calls=(Called("readFile", "{}", True),)))


@pytest.mark.parametrize("text", ["The function `readFile` reads a file.", '{"name": "Anna"}', "42", ""])
def test_ordinary_answers_are_no_calls(text: str) -> None:
    assert not prints_calls(Outcome(said=text))


@pytest.mark.parametrize("said", ["20,000", "20.000", "20 000", "20'000", "20_000", "port 20000."])
def test_a_number_may_be_written_with_separators(said: str) -> None:
    from steward.service.exam_tasks import _digits  # pyright: ignore[reportPrivateUsage]

    assert "20000" in _digits(said)


def test_cards_are_kept_by_model_for_the_person_alone(tmp_path: Path) -> None:
    card = ReportCard("a/b", tuple(all_but({})), "fit for changes")
    state = tmp_path / "state"
    assert kept(state) == {}
    keep(state, card)
    keep(state, ReportCard("c/d", (), "unfit: no task was tried"))
    assert kept(state)["a/b"]["verdict"] == "fit for changes"
    assert set(kept(state)) == {"a/b", "c/d"}
    assert os.stat(state / "exams.json").st_mode & 0o777 == 0o600
    assert [path.name for path in state.iterdir()] == ["exams.json"]
    (state / "exams.json").write_text("not json")
    assert kept(state) == {}


def test_two_exams_that_end_at_once_are_both_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state, sync = tmp_path / "state", os.fsync
    other = threading.Thread(target=keep, args=(state, ReportCard("c/d", (), "fit for changes")))

    def meanwhile(descriptor: int) -> None:
        sync(descriptor)
        if other.ident is None:
            other.start()
            other.join(0.5)  # It would be done by then if it did not wait.

    monkeypatch.setattr(os, "fsync", meanwhile)
    keep(state, ReportCard("a/b", (), "fit for questions"))
    other.join()
    assert {model: card["verdict"] for model, card in kept(state).items()} == {
        "a/b": "fit for questions",
        "c/d": "fit for changes",
    }


def test_tokens_that_nobody_reported_are_unknown_not_zero() -> None:
    card = ReportCard("m", (result_of("find-fact", 3),), "fit")
    assert "tokens unknown" in card.text()
    assert card.to_json()["usage"] == {"prompt": None, "completion": None, "cached": None, "cost": None}
    assert card.usage == Usage()
