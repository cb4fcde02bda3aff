"""``replay``: an exported session is a report of a fault that runs, and touches nothing."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import TAX, Program
from tests.monorepo import copy_monorepo, script


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """A session in which a change was proposed and applied, and something asked afterwards; in ``talk.jsonl``.

    Replaying touches nothing, so one is enough for all.
    """
    place = tmp_path_factory.mktemp("recorded")
    (place / "home").mkdir()
    steward = Program(copy_monorepo(place / "shop"), place / "home")
    assert steward("ask", "Mend the tax", "--quiet", "--model", script("one-patch.jsonl")).code == 0
    (change,) = steward("changes", "--json").json
    steward("show-change", change["id"])
    assert steward("apply-change", change["id"], "--stamp", change["stamp"]).code == 0
    assert steward("ask", "So?", "--continue", "--quiet", "--model", script("answer.jsonl")).code == 0
    assert steward("sessions", "--export", "last", "--output", str(steward.home / "talk.jsonl")).code == 0
    return steward


def test_a_session_is_replayed_to_the_same_requests_where_it_was_held(recorded: Program):
    before = (recorded.directory / TAX).read_bytes()
    ran = recorded("replay", str(recorded.home / "talk.jsonl"))
    assert ran.code == 0, ran.err
    assert "4 of 4 requests" in ran.out and "differs" not in ran.out
    shape = recorded("replay", str(recorded.home / "talk.jsonl"), "--json", "--requests").json
    assert shape["same"] is True and [one["same"] for one in shape["requests"]] == [True] * 4
    assert "The person applied change-001" in shape["requests"][-1]["messages"][-1]["content"]
    assert (recorded.directory / TAX).read_bytes() == before, (
        "what was applied is taken back in the copy alone"
    )
    assert [c["status"] for c in recorded("changes", "--all", "--json").json] == ["applied"]
    assert len(recorded("sessions", "--json").json) == 1


def test_a_recording_with_its_files_runs_anywhere(recorded: Program, tmp_path: Path):
    written = tmp_path / "report.jsonl"
    assert recorded("sessions", "--export", "last", "--with-files", "--output", str(written)).code == 0
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "another-home").mkdir()
    other = Program(tmp_path / "elsewhere", tmp_path / "another-home")
    ran = other("replay", str(written))
    assert ran.code == 0, ran.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_first_message_that_differs_is_named_and_the_exit_code_is_1(recorded: Program, tmp_path: Path):
    copy = copy_monorepo(tmp_path / "other" / "shop")
    (copy / TAX).write_text((copy / TAX).read_text().replace("10000", "1000"))
    ran = Program(copy, recorded.home)("replay", str(recorded.home / "talk.jsonl"))
    assert ran.code == 1
    assert ran.err.count("\n") == 1 and "At reply 2" in ran.err and "the result of readFile" in ran.err
    shape = Program(copy, recorded.home)("replay", str(recorded.home / "talk.jsonl"), "--json").json
    assert shape["same"] is False and [one["same"] for one in shape["requests"]][:2] == [True, False]
    shutil.rmtree(copy)


def test_elsewhere_a_recording_without_files_is_said_to_lack_them(recorded: Program, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    ran = Program(tmp_path / "elsewhere", recorded.home)("replay", str(recorded.home / "talk.jsonl"))
    assert ran.code == 1 and "called shop" in ran.err


def test_what_is_no_recording_is_one_sentence(steward: Program):
    (steward.directory / "x.jsonl").write_text('{"text": "x"}\n')
    for name, code in (("x.jsonl", 2), ("none.jsonl", 4), ("services", 2)):
        ran = steward("replay", name)
        assert (ran.code, ran.err.count("\n")) == (code, 1), ran.err


@contextmanager
def copying(recorded: Program, tmp_path: Path) -> Generator[tuple[subprocess.Popen[str], Path]]:
    """A replay that is writing its copy, and the place where it does."""
    place = tmp_path / "temporary"
    place.mkdir()
    copy = copy_monorepo(tmp_path / "shop")
    for n in range(3000):
        (copy / f"many-{n}.txt").write_text("x\n")
    process = subprocess.Popen(
        recorded.command("replay", str(recorded.home / "talk.jsonl")),
        cwd=copy,
        env={**recorded.environment, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(place.glob("steward-replay-*/steward-replay-*/copy/*/many-*")):
        assert process.poll() is None
        time.sleep(0.005)
    yield process, place
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_replay_that_a_signal_ends_leaves_nothing_behind(
    recorded: Program, tmp_path: Path, number: signal.Signals, code: int
):
    with copying(recorded, tmp_path) as (process, place):
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (code, "", "Interrupted.")
    assert list(place.iterdir()) == []


def test_what_a_killed_replay_left_goes_with_the_next_and_what_runs_is_left_alone(
    recorded: Program, tmp_path: Path
):
    (tmp_path / "elsewhere").mkdir()
    other = Program(tmp_path / "elsewhere", recorded.home)

    def replayed(place: Path) -> None:
        assert other("replay", str(recorded.home / "talk.jsonl"), TMPDIR=str(place)).code == 1

    with copying(recorded, tmp_path) as (process, place):
        process.send_signal(signal.SIGSTOP)
        (place / "steward-replay-notes").mkdir()
        (place / "steward-replay-notes" / "kept.txt").touch()
        (used,) = place.glob("steward-replay-locked-*")
        replayed(place)
        assert used.is_dir(), "somebody works in it"
        process.kill()
        process.communicate(timeout=60)
        assert used.is_dir()
        replayed(place)
        assert [left.name for left in place.iterdir()] == ["steward-replay-notes"]
