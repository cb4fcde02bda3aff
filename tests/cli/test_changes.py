"""Listing, showing, applying, discarding, undoing and re-anchoring from a shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.program import TAX, Program, propose_fix
from tests.monorepo import script


@pytest.fixture
def proposed(steward: Program) -> Program:
    """The program after one patch was proposed."""
    propose_fix(steward)
    return steward


def test_a_change_is_listed_with_the_promised_keys(proposed: Program):
    (change,) = proposed("changes", "--json").json
    assert change["id"] == "change-001"
    assert (change["status"], change["stale"]) == ("pending", False)
    assert change["title"] and change["created"].endswith("+00:00")
    assert len(change["stamp"]) == 64
    (file,) = change["files"]
    assert (file["path"], file["action"], file["added"], file["removed"]) == (TAX, "modify", 1, 1)
    assert len(file["base_sha256"]) == len(file["result_sha256"]) == 64
    assert [document["path"] for document in change["instructions"]] == [
        "AGENTS.md",
        "services/billing/AGENTS.md",
    ]


def test_the_diff_in_json_and_as_a_patch_is_taken_by_git(proposed: Program, monorepo: Path):
    patch = proposed("show-change", "change-001", "--format", "patch").out
    assert proposed("show-change", "1", "--json").json["diff"] == patch
    checked = subprocess.run(
        ["git", "apply", "--check", "-"], input=patch.encode(), cwd=monorepo, check=False, capture_output=True
    )
    assert checked.returncode == 0, checked.stderr


def test_without_a_terminal_applying_needs_the_stamp(proposed: Program, monorepo: Path):
    before = (monorepo / TAX).read_bytes()
    refused = proposed("apply-change", "change-001")
    assert refused.code == 5
    assert "--stamp" in refused.err and refused.out == ""
    assert (monorepo / TAX).read_bytes() == before


def test_twelve_digits_of_the_stamp_apply_it_with_or_without_dashes(proposed: Program, monorepo: Path):
    stamp: str = proposed("changes", "--json").json[0]["stamp"]
    given = "-".join((stamp[:4], stamp[4:8], stamp[8:12].upper()))
    done = proposed("apply-change", "change-001", "--stamp", given)
    assert (done.code, done.out) == (0, f"change-001 applied: {TAX}.\n")
    assert b"+ 5000) // 10000" in (monorepo / TAX).read_bytes()
    again = proposed("apply-change", "change-001", "--stamp", stamp)
    assert (again.code, again.err) == (3, "steward: change-001 is applied; it cannot be applied.\n")


@pytest.mark.parametrize(
    ("stamp", "code"), [("0000-0000-0000", 3), ("3f9a", 2), ("not hex at all", 2), ("", 2)]
)
def test_a_stamp_that_is_wrong_or_too_short_writes_nothing(
    proposed: Program, monorepo: Path, stamp: str, code: int
):
    before = (monorepo / TAX).read_bytes()
    assert proposed("apply-change", "change-001", "--stamp", stamp).code == code
    assert (monorepo / TAX).read_bytes() == before


def test_a_file_that_changed_makes_it_stale_and_is_not_touched(proposed: Program, monorepo: Path):
    stamp: str = proposed("changes", "--json").json[0]["stamp"]
    mine = (monorepo / TAX).read_text() + "# mine\n"
    (monorepo / TAX).write_text(mine)
    assert proposed("changes", "--json").json[0]["stale"] is True
    refused = proposed("apply-change", "change-001", "--stamp", stamp)
    assert refused.code == 3
    assert TAX in refused.err
    assert (monorepo / TAX).read_text() == mine


def test_a_stale_change_is_re_anchored_under_a_new_stamp(proposed: Program, monorepo: Path):
    old: str = proposed("changes", "--json").json[0]["stamp"]
    (monorepo / TAX).write_text("# above\n" + (monorepo / TAX).read_text())
    assert proposed("rebase-change", "change-001").code == 0
    (change,) = proposed("changes", "--json").json
    assert change["stale"] is False
    assert change["stamp"] != old
    assert proposed("apply-change", "1", "--stamp", old).code == 3
    assert proposed("apply-change", "1", "--stamp", change["stamp"]).code == 0
    assert (monorepo / TAX).read_text().startswith("# above\n")


def test_undo_brings_back_the_bytes(proposed: Program, monorepo: Path):
    before = (monorepo / TAX).read_bytes()
    stamp: str = proposed("changes", "--json").json[0]["stamp"]
    proposed("apply-change", "1", "--stamp", stamp)
    assert proposed("undo-change").code == 0
    assert (monorepo / TAX).read_bytes() == before
    (change,) = proposed("changes", "--all", "--json").json
    assert change["status"] == "undone"
    assert [line["kind"] for line in change["history"]] == ["proposed", "applied", "undone"]
    assert {line["stamp"] for line in change["history"]} == {stamp}


def test_a_discarded_change_keeps_its_reason_and_leaves_the_list(proposed: Program):
    assert proposed("discard-change", "change-001", "--reason", "not now").code == 0
    assert proposed("changes", "--json").json == []
    (change,) = proposed("changes", "--all", "--json").json
    assert (change["status"], change["reason"]) == ("discarded", "not now")


@pytest.mark.parametrize(
    "command", ["show-change", "apply-change", "discard-change", "undo-change", "rebase-change"]
)
def test_a_change_that_is_not_there_is_exit_code_4(proposed: Program, command: str):
    ran = proposed(command, "change-099")
    assert ran.code == 4
    assert ran.err.count("\n") == 1


def test_create_rename_and_delete_are_applied_and_undone_together(steward: Program, monorepo: Path):
    steward("ask", "tidy the docs", "--quiet", "--model", script("create-rename-delete.jsonl"))
    (change,) = steward("changes", "--json").json
    assert [(f["path"], f["action"]) for f in change["files"]] == [
        ("docs/shipping.md", "create"),
        ("docs/tax.md", "rename"),
        ("docs/returns.md", "delete"),
    ]
    assert change["files"][1]["old_path"] == "docs/prices.md"
    assert change["files"][0]["base_sha256"] is None and change["files"][2]["result_sha256"] is None
    assert steward("apply-change", "1", "--stamp", change["stamp"]).code == 0
    assert sorted(path.name for path in (monorepo / "docs").iterdir()) == ["shipping.md", "tax.md"]
    assert steward("undo-change", "1").code == 0
    assert sorted(path.name for path in (monorepo / "docs").iterdir()) == ["prices.md", "returns.md"]


def test_the_text_for_people_says_what_a_reader_must_know(proposed: Program):
    text = proposed("show-change").out
    assert "change-001" in text
    assert "Governed by AGENTS.md and services/billing/AGENTS.md" in text
    assert "-    return net_cents * rate // 10000" in text
    assert "+    return (net_cents * rate + 5000) // 10000" in text
