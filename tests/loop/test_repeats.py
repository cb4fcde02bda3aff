"""A model that goes round in circles is told so, and then the turn ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.events import AnswerText, Notice, ToolFinished
from steward.loop.repeats import WINDOW, Babble, Circle, Repeats, period, without_repetition
from tests.support import ScriptedGateway, asked, call, only, patch, plant, steward_in


def taken(repeats: Repeats, *calls: tuple[str, str, str], ok: bool = True) -> list[Circle | None]:
    found: list[Circle | None] = []
    for name, arguments, result in calls:
        repeats.begin_round()
        found.append(repeats.note(name, arguments, result, ok=ok))
    return found


def ends(circles: list[Circle | None]) -> list[bool | None]:
    return [None if circle is None else circle.end for circle in circles]


def test_the_same_call_with_the_same_result_counts_wherever_it_stands() -> None:
    same = ("readFile", '{"path": "a"}', "text")
    spaced = ("readFile", '{ "path":"a" }', "text")
    others = [("readFile", f'{{"path": "{n}"}}', "text") for n in range(5)]
    circles = taken(Repeats(), same, others[0], spaced, others[1], same, others[2], same, others[3], spaced)
    assert ends(circles) == [None, None, None, None, False, None, None, None, True]
    assert circles[4] is not None and "3 times" in circles[4].model and "readFile" in circles[4].person


def test_what_one_reply_holds_several_times_counts_once() -> None:
    repeats = Repeats()
    same = ("readFile", '{"path": "a"}', "text")
    for _ in range(9):
        assert repeats.note(*same, ok=True) is None
    for n in range(20):
        assert repeats.note("readFile" if n % 2 else "listFiles", "{}", f"{n}", ok=False) is None
    assert ends(taken(repeats, same, same)) == [None, False]


def test_another_result_is_no_repetition() -> None:
    assert ends(taken(Repeats(), *(("listFiles", "{}", str(n)) for n in range(9)))) == [None] * 9


def test_two_calls_in_turn_count_also_when_their_results_differ() -> None:
    calls = [("readFile" if n % 2 else "searchFiles", '{"path": "a"}', f"result {n}") for n in range(10)]
    circles = taken(Repeats(), *calls)
    assert ends(circles) == [None] * 5 + [False] + [None] * 3 + [True]
    assert circles[5] is not None and "searchFiles and readFile" in circles[5].person


def test_three_calls_in_turn_with_other_results_are_work() -> None:
    names = ("readFile", "searchFiles", "listFiles")
    assert ends(taken(Repeats(), *((names[n % 3], "{}", str(n)) for n in range(15)))) == [None] * 15


def test_calls_without_arguments_count_whatever_they_are_of() -> None:
    names = ("readFile", "searchFiles", "proposePatch", "Skill", "readFile")
    refused = [(name, "" if n % 2 else "{}", f"{name} {n}") for n, name in enumerate(names)]
    assert ends(taken(Repeats(), *refused, ok=False)) == [None, None, False, None, True]
    repeats = Repeats()
    taken(repeats, *refused[:2], ok=False)
    assert ends(taken(repeats, ("listFiles", "{}", "a"))) == [None]
    assert ends(taken(repeats, *refused[2:4], ok=False)) == [None, None]


@pytest.mark.parametrize(
    "piece", ["la ", "x", "\n", "I will look at the file now.\n", "é🎉" * 40, "ab" * 200]
)
def test_an_answer_that_is_one_piece_over_and_over_is_stuck(piece: str) -> None:
    babble = Babble()
    text = "A sensible beginning. " + piece * (3 * WINDOW // len(piece))
    fed = [babble.feed(text[start : start + 7]) for start in range(0, len(text), 7)]
    assert True in fed and fed.index(True) * 7 < 2 * WINDOW
    kept = without_repetition(text)
    assert kept.startswith("A sensible beginning. ") and len(kept) <= 22 + 2 * len(piece)
    assert text.startswith(kept)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"row {n}: {n * n}\n" for n in range(2_000)),
        "la " * (WINDOW // 4),
        ("x" * 700 + "\n") * 20,
        "".join(f"- item {n % 100}\n" * 3 + "\n" for n in range(1_000)),
        "",
    ],
    ids=["rows", "short", "long-piece", "hundred-items", "nothing"],
)
def test_an_answer_that_only_looks_alike_is_not(text: str) -> None:
    babble = Babble()
    assert not any(babble.feed(text[start : start + 100]) for start in range(0, len(text), 100))
    assert without_repetition(text) == text


def test_the_period_is_the_shortest_piece() -> None:
    assert period("abc" * 400) == 3
    assert period("abc" * 400 + "d") is None
    assert period(("abc" * 5 + "d") * 100) == 16


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    root = plant(tmp_path / "repository")

    def open_one(replies: list[Any]) -> tuple[Any, ScriptedGateway]:
        return steward_in(root, replies)

    return open_one


async def test_calls_of_a_tool_that_does_not_exist_end_the_turn_too(opened: Any) -> None:
    steward, gateway = opened([{"calls": [call("runShell", cmd="ls")]} for _ in range(9)])
    events = await asked(steward, "Run it")
    assert events[-1].reason == "loop" and len(gateway.requests) == 5
    texts = [e.text for e in only(events, ToolFinished)]
    assert ["3 times" in text for text in texts] == [False, False, True, False, False]
    assert sum("goes round in circles" in n.text for n in only(events, Notice)) == 1
    await steward.close()


async def test_patches_to_and_fro_end_the_turn(opened: Any) -> None:
    there, back = patch("src/app.py", "41", "42"), patch("src/app.py", "42", "41")
    steward, gateway = opened(
        [
            {"calls": [call("readFile", path="src/app.py")]},
            *({"calls": [there if n % 2 else back]} for n in range(1, 20)),
        ]
    )
    events = await asked(steward, "Change it")
    assert events[-1].reason == "loop" and len(gateway.requests) <= 11
    await steward.close()


async def test_an_answer_that_repeats_itself_is_stopped_and_kept_once(opened: Any) -> None:
    steward, gateway = opened([{"text": "Well. " + "I see. " * 4_000, "chunk": 50, "hang": True}])
    events = await asked(steward, "Tell me")
    assert events[-1].reason == "loop" and "same words" in events[-1].error
    assert len("".join(e.text for e in only(events, AnswerText))) < 3 * WINDOW
    kept, _, note = steward.transcript()[-1].text.partition("\n\n")
    assert kept.startswith("Well. I see") and len(kept) < 16 and note == f"[{events[-1].error}]"
    gateway.replies = [{"text": "Fine."}]
    assert (await asked(steward, "And?"))[-1].reason == "answered"
    await steward.close()


async def test_reasoning_that_repeats_itself_is_stopped_too(opened: Any) -> None:
    steward, _ = opened([{"deltas": [{"reasoning_content": "hmm " * 100} for _ in range(100)], "hang": True}])
    assert (await asked(steward, "Think"))[-1].reason == "loop"
    await steward.close()
