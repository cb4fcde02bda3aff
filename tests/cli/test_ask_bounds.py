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
