"""``check-model``, ``doctor`` and ``skills`` from a shell."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import Program
from tests.monorepo import FIXTURES


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


def test_the_doctor_finds_nothing_bad_here(steward: Program):
    rows = steward("doctor", "--json").json
    assert {"check", "state", "sentence", "remedy"} == set(rows[0])
    assert not [row for row in rows if row["state"] == "bad"]
    assert {"versions", "state", "journals", "instructions", "skills", "recovery"} <= {
        row["check"] for row in rows
    }


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
