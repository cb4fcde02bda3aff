"""``ask``: the answer on standard output alone, everything else where it belongs."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import script
from tests.pty_screen import PtyScreen


def test_the_answer_is_all_that_standard_output_gets(steward: Program):
    ran = steward("ask", "what is it?", "--model", script("demo.jsonl"))
    assert ran.code == 0
    assert ran.out.startswith("Tax was cut off instead of rounded")
    assert "Let me see where tax is worked out." in ran.err
    assert "searchFiles" in ran.err and "searchFiles" not in ran.out
    assert "steward apply-change change-001" in ran.err


def test_quiet_leaves_standard_error_empty(steward: Program):
    ran = steward("ask", "what is it?", "--quiet", "--model", script("demo.jsonl"))
    assert (ran.code, ran.err) == (0, "")


def test_json_has_the_promised_keys(steward: Program):
    shape = steward("ask", "what is it?", "--json", "--quiet", "--model", script("demo.jsonl")).json
    assert shape["answer"].startswith("Tax was cut off")
    assert shape["model"] == script("demo.jsonl")
    assert shape["rounds"] == 4
    assert shape["changes"] == ["change-001"]
    assert [call["name"] for call in shape["tools"]] == [
        "searchFiles",
        "readFile",
        "readFile",
        "proposePatch",
        "proposePatch",
    ]
    assert all(call["ok"] for call in shape["tools"])
    assert shape["tools"][0]["arguments"] == {"query": "tax_cents", "path": "services"}
    assert shape["usage"] == {"prompt": 7700, "completion": 340, "cached": None, "cost": None}
    assert shape["instructions"] == ["AGENTS.md", "services/billing/AGENTS.md"]
    assert shape["warnings"] == []


def test_json_lines_tell_each_event_and_then_the_result(steward: Program):
    ran = steward("ask", "what is it?", "--json-lines", "--model", script("one-patch.jsonl"))
    events = [json.loads(row) for row in ran.out.splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "turn-started"
    assert names[-2:] == ["turn-ended", "result"]
    assert "proposal-made" in names and "tool-finished" in names
    assert events[-1]["changes"] == ["change-001"]
    assert ran.err == ""


def test_a_proposal_before_the_rules_were_read_is_refused_and_then_taken(steward: Program):
    shape = steward("ask", "go", "--json", "--model", script("patch-without-reading.jsonl")).json
    assert [call["ok"] for call in shape["tools"]] == [False, True]
    assert "services/billing/AGENTS.md" in shape["instructions"]


def test_the_question_may_come_through_a_pipe(steward: Program):
    given = ("ask", "--json-lines", "--quiet", "--model", script("answer.jsonl"))
    for arguments in (given, (*given[:1], "-", *given[1:])):
        first = json.loads(steward(*arguments, stdin="how many?\n").out.splitlines()[0])
        assert first == {"event": "turn-started", "question": "how many?"}


def test_what_is_piped_in_is_laid_beside_the_question(steward: Program):
    ran = steward("ask", "why?", "--json-lines", "--model", script("answer.jsonl"), stdin="a ``` b\n")
    first = json.loads(ran.out.splitlines()[0])
    assert first["question"] == "why?\n\nFrom standard input:\n````\na ``` b\n````"


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(("ask",), None), (("ask", "-"), ""), (("ask", " "), None), (("ask", "x"), b"\xff")],
)
def test_no_question_is_a_usage_error(steward: Program, arguments: tuple[str, ...], stdin: bytes | None):
    ran = steward(*arguments, "--model", script("answer.jsonl"), stdin=stdin)
    assert ran.code == 2
    assert ran.err.count("\n") == 1 and ran.out == ""


def test_an_answer_that_fits_the_schema_is_printed_as_json(steward: Program, tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text(
        json.dumps({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]})
    )
    ran = steward("ask", "how many?", "--schema", str(schema), "--model", script("json-answer.jsonl"))
    assert (ran.code, ran.json) == (0, {"count": 2})
    assert "Asking once more." in ran.err
    assert "· instructions" not in ran.err


def test_with_a_schema_instructions_are_loaded_only_when_asked_for(steward: Program, tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text("true")
    given = ("ask", "how many?", "--json", "--schema", str(schema), "--model", script("json-answer.jsonl"))
    assert steward(*given).json["instructions"] == []
    assert steward(*given, "--instructions").json["instructions"] == ["AGENTS.md"]


def test_an_answer_that_never_fits_is_a_failure(steward: Program, tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "array"}')
    ran = steward(
        "ask", "how many?", "--schema", str(schema), "--quiet", "--model", script("json-answer.jsonl")
    )
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("steward: The answer does not fit the schema")


@pytest.mark.parametrize("text", ["{", '{"type": "nonsense"}', '{"$ref": "http://example.invalid/x.json"}'])
def test_a_schema_that_is_none_is_a_usage_error_and_nothing_is_fetched(
    steward: Program, tmp_path: Path, text: str
):
    schema = tmp_path / "schema.json"
    schema.write_text(text)
    ran = steward("ask", "q", "--schema", str(schema), "--quiet", "--model", script("json-answer.jsonl"))
    assert ran.code in (1, 2)
    assert ran.err.count("\n") == 1


def test_a_model_that_fails_is_one_sentence_and_exit_code_1(steward: Program):
    ran = steward("ask", "q", "--quiet", "--model", script("broken.jsonl"))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("steward: ") and ran.err.count("\n") == 1


def test_the_rounds_can_be_bounded(steward: Program):
    ran = steward("ask", "q", "--json", "--quiet", "--max-rounds", "2", "--model", script("demo.jsonl"))
    assert ran.code == 1
    assert (ran.json["rounds"], ran.json["reason"]) == (2, "round-limit")


def test_without_proposals_the_model_cannot_propose(steward: Program):
    shape = steward("ask", "q", "--json", "--no-proposals", "--model", script("one-patch.jsonl")).json
    assert [(call["name"], call["ok"]) for call in shape["tools"]] == [
        ("readFile", True),
        ("proposePatch", False),
    ]
    assert shape["changes"] == []
    assert steward("changes", "--json").json == []


def test_continue_goes_on_with_the_last_session(steward: Program):
    steward("ask", "first question", "--quiet", "--model", script("answer.jsonl"))
    steward("ask", "second question", "--quiet", "--continue", "--model", script("answer.jsonl"))
    (session,) = steward("sessions", "--json").json
    assert session["title"] == "first question"
    assert session["messages"] == 5


def test_ctrl_c_ends_the_turn_with_exit_code_130_and_keeps_the_session(steward: Program):
    process = subprocess.Popen(
        steward.command("ask", "q", "--json-lines", "--model", script("slow.jsonl")),
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    row = b"begun"
    while row and b"answer-text" not in row:
        row = process.stdout.readline()
    assert row, process.communicate(timeout=60)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["reason"] == "interrupted"
    assert b"Traceback" not in err
    assert len(steward("sessions", "--json").json) == 1


def test_a_reader_that_goes_away_is_no_error(steward: Program):
    process = subprocess.Popen(
        steward.command("ask", "q", "--json-lines", "--model", script("slow.jsonl")),
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_it_works_without_a_home_and_writes_nothing_into_the_repository(
    steward: Program, monorepo: Path, tmp_path: Path
):
    def tree() -> list[tuple[Path, int, int]]:
        return sorted((p, p.lstat().st_mode, p.lstat().st_mtime_ns) for p in (monorepo, *monorepo.rglob("*")))

    for path in (*monorepo.rglob("*"), monorepo):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = tree()
    done = subprocess.run(
        steward.command("ask", "q", "--quiet", "--model", script("answer.jsonl")),
        cwd=monorepo,
        env={
            "PYTHONPATH": steward.environment["PYTHONPATH"],
            "STEWARD_STATE_DIR": str(tmp_path / "elsewhere"),
            "STEWARD_TRUST": "always",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"Forty-two.\n", b"")
    assert tree() == before


def test_on_a_terminal_one_live_line_says_what_goes_on_and_is_gone_at_the_end(
    steward: Program, tmp_path: Path
):
    entries = [
        {"text": "Looking. ", "calls": [{"name": "listFiles", "arguments": {"path": "."}}], "delay": 0.05},
        {"text": "There is a shop.", "chunk": 2, "delay": 0.05},
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    command = shlex.join(steward.command("ask", "q", "--model", f"script/{tmp_path / 's.jsonl'}"))
    with PtyScreen(
        ["/bin/sh", "-c", f"{command} >{tmp_path / 'answer'}"],
        cwd=steward.directory,
        environment=steward.environment,
    ) as screen:
        screen.wait_for("round 1: waiting for the model")
        screen.wait_for("answering, 4 characters")
        assert screen.wait_end() == 0
        last = screen.text.rstrip().splitlines()[-1]
    assert last.startswith("✓ listFiles"), screen.text
    assert (tmp_path / "answer").read_text() == "There is a shop.\n"
