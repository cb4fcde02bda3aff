"""``ask`` within bounds: of cost, of a profile, of a repository that cannot be written, of what was piped in."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.cli.program import Program
from tests.monorepo import script


def scripted(folder: Path, *entries: Mapping[str, object]) -> str:
    file = folder / "script.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return f"script/{file}"


def test_a_turn_stops_when_it_has_cost_what_it_may(steward: Program, tmp_path: Path):
    usage = {"prompt": 100, "completion": 10, "cost": 0.3}
    reading = {"calls": [{"name": "listFiles", "arguments": {"path": "."}}], "usage": usage}
    model = scripted(tmp_path, reading, {**reading, "text": "on"}, {"text": "Done.", "usage": usage})
    stopped = steward("ask", "q", "--json", "--max-cost", "0.5", "--model", model)
    assert stopped.code == 1 and "0.5" in stopped.err
    shape = stopped.json
    assert (shape["reason"], shape["rounds"]) == ("budget", 2) and 0.59 < shape["usage"]["cost"] < 0.61
    assert steward("ask", "q", "--json", "--max-cost", "1", "--model", model).code == 0
    for wrong in ("0", "-1", "much"):
        assert steward("ask", "q", "--max-cost", wrong).code == 2


def test_the_reviewer_cannot_propose_and_an_unknown_profile_is_said(steward: Program):
    ran = steward("ask", "q", "--json", "--profile", "reviewer", "--model", script("one-patch.jsonl"))
    assert [call["ok"] for call in ran.json["tools"] if call["name"] == "proposePatch"] == [False]
    assert ran.json["changes"] == [] == steward("changes", "--json").json
    unknown = steward("ask", "q", "--profile", "reviewr")
    assert unknown.code == 4 and "Did you mean reviewer?" in unknown.err


def test_a_profile_of_the_configuration_names_its_model(steward: Program, tmp_path: Path):
    config = tmp_path / "config.toml"
    config.write_text(f'[profile.quick]\nmodel = "{script("answer.jsonl")}"\ninstructions = false\n')
    shape = steward("ask", "q", "--json", "--profile", "quick", "--config", str(config)).json
    assert shape["model"] == script("answer.jsonl") and shape["instructions"] == []
    config.write_text('[profile.quick]\ntool = ["readFile"]\n')
    wrong = steward("ask", "q", "--profile", "quick", "--config", str(config))
    assert wrong.code == 2 and "line 2" in wrong.err


def test_the_question_may_stand_in_a_file(steward: Program, tmp_path: Path):
    file = tmp_path / "question.md"
    file.write_text("How many?\n")
    given = ("--json-lines", "--model", script("answer.jsonl"))
    first = json.loads(steward("ask", "--file", str(file), *given).out.splitlines()[0])
    assert first["question"] == "How many?"
    both = json.loads(steward("ask", "Say it shortly.", "--file", str(file), *given).out.splitlines()[0])
    assert both["question"] == "How many?\n\nSay it shortly."
    assert steward("ask", "--file", str(tmp_path / "missing"), *given).code == 4
    file.write_bytes(b"\xff")
    assert steward("ask", "--file", str(file), *given).code == 2


def test_it_works_in_a_repository_that_cannot_be_written(steward: Program):
    here = shlex.quote(str(steward.directory))
    read_only = (
        f"mount --bind {here} {here} && mount -o remount,ro,bind {here} && cd {here} && ! touch new 2>/dev/null && "
        f"exec {shlex.join(steward.command('ask', 'what is it?', '--json', '--model', script('one-patch.jsonl')))}"
    )
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", read_only],
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["changes"] == ["change-001"]


SCHEMA = '{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}'


def test_the_second_try_for_a_schema_counts_in_the_same_bounds(steward: Program, tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text(SCHEMA)
    usage = {"prompt": 100, "completion": 10, "cost": 0.3}
    reading = {"calls": [{"name": "listFiles", "arguments": {"path": "."}}], "usage": usage}
    model = scripted(
        tmp_path,
        {"text": "two", "usage": usage},
        {**reading, "text": "on"},
        {"text": '{"count": 2}', "usage": usage},
    )
    given = ("ask", "q", "--json", "--quiet", "--schema", str(schema), "--model", model)
    whole = steward(*given, "--max-cost", "1")
    assert (whole.code, whole.json["value"], whole.json["rounds"]) == (0, {"count": 2}, 3)
    within = steward(*given, "--max-cost", "0.5")
    assert (within.code, within.json["reason"], within.json["rounds"]) == (1, "budget", 2)
    used_up = steward(*given, "--max-cost", "0.2")
    assert (used_up.code, used_up.json["rounds"]) == (1, 1) and "value" not in used_up.json
    assert steward(*given, "--max-rounds", "1").json["rounds"] == 1
    assert steward(*given, "--max-rounds", "2").json["reason"] == "round-limit"


def test_the_second_try_for_a_schema_counts_in_the_tokens_of_the_turn(steward: Program, tmp_path: Path):
    schema, config = tmp_path / "schema.json", tmp_path / "config.toml"
    schema.write_text(SCHEMA)
    usage = {"prompt": 100, "completion": 10}
    reading = {"calls": [{"name": "listFiles", "arguments": {"path": "."}}], "text": "on", "usage": usage}
    model = scripted(
        tmp_path, {"text": "two", "usage": usage}, reading, {"text": '{"count": 2}', "usage": usage}
    )
    given = ("ask", "q", "--json", "--quiet", "--schema", str(schema), "--model", model)
    seen: list[tuple[str, int]] = []
    for tokens in (1000, 200, 100):
        config.write_text(f"[limits]\nturn_tokens = {tokens}\n")
        shape = steward(*given, "--config", str(config)).json
        seen.append((shape["reason"], shape["rounds"]))
    assert seen == [("answered", 3), ("budget", 2), ("answered", 1)]


def test_an_answer_that_never_fits_still_reports_what_it_cost_and_proposed(steward: Program, tmp_path: Path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "array"}')
    call = {"name": "proposePatch", "arguments": {"path": "new.txt", "oldText": "", "newText": "x\n"}}
    model = scripted(tmp_path, {"calls": [call]}, {"text": "Done."}, {"text": "Done."})
    ran = steward("ask", "q", "--schema", str(schema), "--model", model)
    assert ran.code == 1 and ran.out == ""
    assert "steward apply-change change-001" in ran.err
    assert ran.err.splitlines()[-1].startswith("steward: The answer is not one JSON value")


def test_a_schema_that_cannot_be_followed_is_refused_before_a_model_is_asked(
    steward: Program, tmp_path: Path
):
    wrong = {
        "5": "neither an object",
        "[" * 100_000: "too deep",
        '{"$ref": "#"}': "circle",
        '{"$ref": "#/nowhere"}': "/nowhere is not in it",
        '{"$ref": "http://127.0.0.1:9/x.json"}': "nothing is fetched",
        '{"properties": {"a": {"$ref": "file:///etc/passwd"}}}': "nothing is fetched",
        '{"type": "string", "pattern": "("}': "not a 'regex'",
        '{"$schema": ["x"]}': "not a JSON Schema",
        '{"maximum": NaN}': "not JSON",
    }
    for text, said in wrong.items():
        (tmp_path / "schema.json").write_text(text)
        ran = steward("ask", "q", "--schema", str(tmp_path / "schema.json"), "--model", "script/missing")
        assert ran.code == 2 and said in ran.err and ran.err.count("\n") == 1, (text[:50], ran.err)
    assert steward("sessions", "--json").json == []


def test_piped_text_goes_below_a_question_from_a_file_and_a_dash_is_standard_input(
    steward: Program, tmp_path: Path
):
    (tmp_path / "question.md").write_text("Why?\n")
    given = ("--json-lines", "--quiet", "--model", script("answer.jsonl"))

    def asked(*arguments: str) -> str:
        ran = steward("ask", *arguments, *given, stdin="piped")
        return json.loads(ran.out.splitlines()[0])["question"]

    assert asked("--file", str(tmp_path / "question.md")) == "Why?\n\nFrom standard input:\n```\npiped\n```"
    assert asked("--file", "-", "Below.") == "piped\n\nBelow."
