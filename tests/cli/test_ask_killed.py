"""``ask`` that is cut off loses at most the round in flight; signals end the turn; several share a workspace."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import IO, Any

import pytest

from tests.cli.program import Program
from tests.cli.test_ask_bounds import scripted
from tests.monorepo import script


def started(steward: Program, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        steward.command("ask", *arguments),
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def rows(stream: IO[bytes] | None, until: str, count: int) -> list[dict[str, Any]]:
    """The events up to the ``count``-th of that name, whole lines alone."""
    assert stream is not None
    found: list[dict[str, Any]] = []
    while count and (row := stream.readline()):
        if row.endswith(b"\n"):
            found.append(json.loads(row))
            count -= found[-1]["event"] == until
    return found


def rounds(number: int) -> list[dict[str, Any]]:
    """A script whose every round reads something and takes its time."""
    calls = [{"name": "listFiles", "arguments": {"path": "."}}]
    entries = [
        {"text": f"round {n} " + "x" * 60, "calls": calls, "chunk": 5, "delay": 0.01} for n in range(number)
    ]
    return [*entries, {"text": "Done."}]


@pytest.mark.parametrize("seed", range(2))
def test_kill_9_at_any_moment_loses_at_most_the_round_in_flight(steward: Program, tmp_path: Path, seed: int):
    chance = random.Random(seed)
    model = scripted(tmp_path, *rounds(6))
    process = started(steward, "q", "--json-lines", "--model", model)
    name = chance.choice(["answer-text", "tool-finished", "round-ended", "tool-started"])
    seen = rows(process.stdout, name, chance.randrange(1, 5 if name != "answer-text" else 40))
    assert seen, process.communicate(timeout=60)
    process.kill()
    assert process.stdout is not None
    rest = [json.loads(row) for row in process.stdout.read().splitlines(keepends=True) if row.endswith(b"\n")]
    process.communicate(timeout=60)
    finished = sum(event["event"] == "round-ended" for event in [*seen, *rest])
    (file,) = steward.home.glob("state/*/steward.db")
    with sqlite3.connect(file) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    (session,) = steward("sessions", "--json").json
    assert session["title"] == "q" and session["messages"] >= 2 + 2 * (finished - 1)
    ran = steward("ask", "go on", "--continue", "--json", "--quiet", "--model", script("answer.jsonl"))
    assert (ran.code, ran.json["answer"]) == (0, "Forty-two.\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_turn_and_what_was_done_is_reported(steward: Program, number: signal.Signals):
    process = started(steward, "q", "--json-lines", "--model", script("slow.jsonl"))
    rows(process.stdout, "answer-text", 1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    last = json.loads(out.splitlines()[-1])
    assert (last["event"], last["reason"]) == ("result", "interrupted")
    assert err == b"steward: Interrupted.\n"


def test_a_signal_that_is_ignored_stays_ignored(steward: Program):
    command = " ".join(steward.command("ask", "q", "--json-lines", "--model", script("slow.jsonl")))
    process = subprocess.Popen(
        ["sh", "-c", f"trap '' HUP; exec {command}"],
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    rows(process.stdout, "answer-text", 1)
    process.send_signal(signal.SIGHUP)
    assert rows(process.stdout, "answer-text", 3)[-1]["event"] == "answer-text"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130


def test_two_stewards_on_one_workspace_both_keep_what_they_do(steward: Program, tmp_path: Path):
    calls = [
        {
            "name": "proposePatch",
            "arguments": {"path": f"new-{n}.txt", "oldText": "", "newText": "x\n", "change": "new"},
        }
        for n in range(4)
    ]
    entries = [{"text": "on", "calls": [call], "chunk": 1, "delay": 0.02} for call in calls]
    model = scripted(tmp_path, *entries, {"text": "Done."})
    running = [started(steward, f"question {n}", "--json", "--model", model) for n in range(2)]
    shapes = [json.loads(process.communicate(timeout=120)[0]) for process in running]
    assert [process.returncode for process in running] == [0, 0]
    made = [change for shape in shapes for change in shape["changes"]]
    assert len(made) == len(set(made)) == 8
    assert {row["id"] for row in steward("changes", "--json").json} == set(made)
    assert {row["title"] for row in steward("sessions", "--json").json} == {f"question {n}" for n in range(2)}
