"""``check-model``, ``doctor`` and ``skills`` from a shell."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import FIXTURES
from tests.pty_screen import PtyScreen


def exam(name: str) -> str:
    """A scripted model that sits the exam."""
    return f"script/{FIXTURES / 'exam' / name}"


def test_a_fit_model_is_exit_code_0_and_its_report_is_kept(steward: Program):
    ran = steward("check-model", exam("all.pass.jsonl"), "--json")
    assert ran.code == 0, ran.err
    assert ran.json["verdict"] == "fit for changes"
    assert ran.err.count("✓") == 3 * len(ran.json["tasks"])
    kept = json.loads((steward.home / "state" / "exams.json").read_text())
    assert list(kept) == [exam("all.pass.jsonl")]


def test_an_unfit_model_is_exit_code_1_and_one_sentence(steward: Program):
    ran = steward("check-model", "--model", exam("all.prints-calls.jsonl"), "--tries", "1", "--quiet")
    assert ran.code == 1
    assert ran.err.count("\n") == 1 and "prints calls as text" in ran.err


def test_without_a_name_the_model_that_would_answer_is_examined(steward: Program):
    state = steward.home / "state"
    state.mkdir(mode=0o700)
    (state / "model.json").write_text(json.dumps({"model": exam("all.pass.jsonl")}))
    ran = steward("check-model", "--json", "--tries", "1")
    assert ran.json["model"] == exam("all.pass.jsonl"), "the one that was chosen last"
    assert ran.err.startswith(
        f"Examining {exam('all.pass.jsonl')}: 10 tasks, 1 try each; esc or ctrl+c stops it."
    )
    assert "10/10 ✓" in ran.err
    ran = steward(
        "check-model", "--quiet", "--json", "--tries", "1", STEWARD_MODEL=exam("all.questions-only.jsonl")
    )
    assert ran.json["model"] == exam("all.questions-only.jsonl"), "the environment stands over it"


@pytest.fixture
def slow(tmp_path: Path) -> str:
    """A scripted model that never comes to an end."""
    (tmp_path / "slow.jsonl").write_text('{"text": "so slow", "delay": 600}\n')
    return f"script/{tmp_path / 'slow.jsonl'}"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_exam_that_a_signal_ends_leaves_nothing_behind(
    steward: Program, tmp_path: Path, slow: str, number: signal.Signals, code: int
):
    place = tmp_path / "temporary"
    place.mkdir()
    process = subprocess.Popen(
        steward.command("check-model", slow),
        cwd=steward.directory,
        env={**steward.environment, "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(place.glob("steward-exam-*/steward-exam-*/find-fact")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.rstrip().endswith("Interrupted.") and "Traceback" not in err
    assert list(place.iterdir()) == [] and not (steward.home / "state" / "exams.json").exists()


@pytest.mark.parametrize(
    ("before", "key"),
    [("", "escape"), ("trap '' INT;", "escape"), ("trap '' INT;", "ctrl+c")],
    ids=["esc", "esc, started with ctrl+c ignored", "ctrl+c, started with ctrl+c ignored"],
)
def test_on_a_terminal_its_key_stops_it_and_other_keys_do_not(
    steward: Program, tmp_path: Path, slow: str, before: str, key: str
):
    place = tmp_path / "temporary"
    place.mkdir()
    shell = f'stty -a >before; {before} "$@"; echo "code $?"; stty -a >after'
    with PtyScreen(
        ["/bin/sh", "-c", shell, "sh", *steward.command("check-model", slow)],
        cwd=tmp_path,
        environment={**steward.environment, "TMPDIR": str(place)},
    ) as screen:
        screen.wait_for("esc or ctrl+c stops it")
        while not any(place.glob("steward-exam-*/steward-exam-*/find-fact")):
            screen.settle(0.02, 0.1)
        screen.press("up", "q", "enter")
        screen.settle_for(0.5)
        assert not screen.shows("Interrupted")
        screen.press(key)
        screen.wait_for("code 130")
        screen.wait_end()
    assert list(place.iterdir()) == []
    assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def test_a_server_that_takes_no_connection_is_given_up_when_the_time_for_connecting_is_over(
    steward: Program,
):
    with socket.socket() as server, ExitStack() as callers:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        place = server.getsockname()
        while True:  # until nobody else is let in: from then on the kernel answers no knock
            caller = callers.enter_context(socket.socket())
            caller.settimeout(0.5)
            try:
                caller.connect(place)
            except TimeoutError:
                break
        (steward.home / "config.toml").write_text(
            "[clocks]\nconnect = 0.3\nfirst_token = 3600\nretries = 0\n"
            f'[options]\napi_base = "http://127.0.0.1:{place[1]}/v1"\napi_key = "none"\n'
        )
        ran = steward("check-model", "openai/x", "--quiet", "--config", str(steward.home / "config.toml"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.count("\n") == 1 and f"No connection to 127.0.0.1:{place[1]} in time" in ran.err


def test_a_model_that_cannot_be_reached_is_one_sentence_and_keeps_its_verdict(steward: Program):
    before = json.dumps({"nonsense": {"verdict": "fit for changes"}})
    (steward.home / "state").mkdir(mode=0o700)
    (steward.home / "state" / "exams.json").write_text(before)
    ran = steward("check-model", "nonsense")
    assert (ran.code, ran.out) == (1, "")
    first, last = ran.err.splitlines()
    assert (
        first.startswith("Examining nonsense")
        and "nonsense was not examined: nonsense names no provider" in last
    )
    assert len(steward("check-model", "nonsense", "--json", "--quiet").json["tasks"][0]["tries"]) == 1
    assert (steward.home / "state" / "exams.json").read_text() == before


def test_the_doctor_finds_nothing_bad_here(steward: Program):
    rows = steward("doctor", "--json").json
    assert {"check", "state", "sentence", "remedy"} == set(rows[0])
    assert not [row for row in rows if row["state"] == "bad"]
    assert {"versions", "state", "journals", "instructions", "skills", "recovery"} <= {
        row["check"] for row in rows
    }


def test_the_doctor_asks_the_model_that_was_chosen_last(steward: Program, tmp_path: Path):
    state = steward.home / "state"
    state.mkdir(mode=0o700)
    (tmp_path / "yes.jsonl").write_text('{"text": "yes"}\n')
    (state / "model.json").write_text(json.dumps({"model": f"script/{tmp_path / 'yes.jsonl'}"}))
    (reach,) = [row for row in steward("doctor", "--json", "--model-too").json if row["check"] == "reach"]
    assert "yes.jsonl answers" in reach["sentence"]


def test_the_doctor_can_ask_the_model_too(steward: Program):
    rows = steward("doctor", "--json", "--model-too", "--model", "offline/guide").json
    assert [row["state"] for row in rows if row["check"] in ("worker", "reach")] == ["ok", "ok"]


def test_skills_are_listed_with_what_is_wrong_with_them(steward: Program, monorepo: Path):
    folder = monorepo / ".agents" / "skills" / "bad-one"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: Bad One\n---\nWords.\n")
    rows = steward("skills", "--json").json
    assert {row["source"] for row in rows} == {"project", "shipped"}
    (bad,) = [row for row in rows if row["source"] == "project"]
    assert bad["valid"] is False and bad["diagnostics"]
    assert "bad-one" in steward("skills").out
