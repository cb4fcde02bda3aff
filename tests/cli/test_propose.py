"""``propose``: what another tool made goes through the same gate."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import Program

PATCH = "--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n {first}\n+More.\n"


def patch_for(steward: Program) -> str:
    return PATCH.format(first=(steward.directory / "README.md").read_text().split("\n")[0]).replace(
        "@@ -1 +1,2 @@", "@@ -1,1 +1,2 @@"
    )


def test_a_patch_becomes_a_pending_change_that_is_applied_like_any_other(steward: Program, tmp_path: Path):
    before = (steward.directory / "README.md").read_bytes()
    (tmp_path / "fix.patch").write_text(patch_for(steward))
    made = steward("propose", "--patch", str(tmp_path / "fix.patch"))
    assert made.code == 0 and "steward apply-change change-001" in made.out
    assert (steward.directory / "README.md").read_bytes() == before
    (row,) = steward("changes", "--json").json
    assert (row["title"], row["status"]) == ("Imported from fix.patch", "pending")
    assert [document["path"] for document in row["instructions"]] == ["AGENTS.md"]
    assert steward("apply-change", "1", "--stamp", row["stamp"][:12]).code == 0
    first, rest = before.split(b"\n", 1)
    assert (steward.directory / "README.md").read_bytes() == first + b"\nMore.\n" + rest


def test_a_patch_may_come_through_a_pipe_and_be_named(steward: Program):
    row = steward("propose", "--patch", "-", "--title", "Mine", "--json", stdin=patch_for(steward)).json
    assert (row["id"], row["title"], row["files"][0]["added"]) == ("change-001", "Mine", 1)


def test_what_does_not_fit_is_refused_with_its_exit_code(steward: Program, tmp_path: Path):
    wrong = patch_for(steward).replace("@@\n ", "@@\n not ")
    refused = steward("propose", "--patch", "-", stdin=wrong)
    assert refused.code == 3 and "does not fit" in refused.err
    assert steward("propose", "--patch", "-", stdin="nothing").code == 2
    assert steward("propose", "--patch", str(tmp_path / "missing")).code == 4
    assert steward("propose", "--patch", str(tmp_path)).code == 2
    assert steward("propose").code == 2
    assert steward("changes", "--json").json == []
