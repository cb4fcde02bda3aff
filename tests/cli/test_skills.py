"""Skills from the command line: listed with all that is odd, and checked for those who write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.documented import differences, shape_of
from tests.cli.program import Program
from tests.monorepo import script
from tests.skills.trees import build

GOOD = "---\nname: good\ndescription: Does good.\nallowed-tools: Read Bash\n---\nSee [more](references/more.md).\n"
TREE = {
    ".agents/skills/good/SKILL.md": GOOD,
    ".agents/skills/good/references/more.md": "More.\n",
    ".claude/skills/good/SKILL.md": GOOD,
    ".agents/skills/odd/SKILL.md": "---\nname: Odd One\n\ndescription: A\nversion: 2\n---\n`references/gone.md`\n",
    ".agents/skills/broken/SKILL.md": "---\nname: broken\n\tdescription: A\n---\nBody\n",
}


@pytest.fixture
def author(steward: Program, monorepo: Path) -> Program:
    """The program in a repository with a good, a shadowed, an odd and a broken skill."""
    build(monorepo, dict(TREE))
    return steward


def test_the_list_says_where_each_comes_from_what_it_shadows_and_what_is_wrong(author: Program) -> None:
    out = author("skills").out
    assert "good  (project, .agents/skills/good/SKILL.md)" in out
    assert "    shadows .claude/skills/good/SKILL.md" in out
    assert "    locks the turn to: Read Bash" in out
    assert "error on line 2: The name must be lower case. [uppercase-name]" in out
    assert "broken  (cannot be loaded, .agents/skills/broken/SKILL.md)" in out
    assert "review-change  (shipped, " in out


def test_the_list_as_json_has_the_shape_that_the_manual_says(author: Program) -> None:
    listed = author("skills", "--json").json
    assert differences(shape_of("skills --json"), listed) == []
    by_name = {row["name"]: row for row in listed}
    assert by_name["good"]["shadows"] == [".claude/skills/good/SKILL.md"]
    assert by_name["good"]["unavailable_tools"] == ["Bash"] and not by_name["good"]["loaded"]
    assert not by_name["broken"]["loadable"] and by_name["broken"]["allowed_tools"] is None


def test_the_list_marks_what_a_session_has_loaded(author: Program, tmp_path: Path) -> None:
    replies = tmp_path / "load.jsonl"
    replies.write_text(
        '{"calls": [{"name": "Skill", "arguments": {"command": "good"}}]}\n{"text": "Done."}\n'
    )
    assert author("ask", "Load it", "--model", f"script/{replies}").code == 0
    (session,) = author("sessions", "--json").json
    listed = author("skills", "--json", "--session", session["id"]).json
    assert [row["name"] for row in listed if row["loaded"]] == ["good"]
    assert ", loaded)" in author("skills", "--session", session["id"]).out
    assert author("skills", "--session", "nothing").code == 4


def test_a_check_names_file_and_line_and_puts_errors_before_warnings(author: Program) -> None:
    ran = author("skills", "check")
    assert ran.code == 1 and ran.err == ""
    *found, last = ran.out.splitlines()
    assert ".agents/skills/odd/SKILL.md:2: error: The name must be lower case. [uppercase-name]" in found
    assert (
        ".agents/skills/odd/SKILL.md:5: error: The specification has no field version. [unknown-field]"
        in found
    )
    assert (
        ".agents/skills/odd/SKILL.md:7: warning: references/gone.md is named and is not there. [missing-file]"
        in found
    )
    assert (
        ".agents/skills/broken/SKILL.md:3: error: The front matter is not YAML (line 3); "
        "a tab stands where YAML wants spaces. [bad-yaml]"
    ) in found
    kinds = ["error" if ": error: " in line else "warning" for line in found]
    assert kinds == sorted(kinds)
    assert last.startswith("4 skills checked, 2 invalid: ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((".agents/skills/good",), 0),
        ((".agents/skills/good/SKILL.md",), 0),
        ((".agents/skills/good", "--strict"), 1),
        ((".agents/skills/odd",), 1),
        ((".agents/skills/broken", "--json"), 1),
        (("docs",), 4),
        (("nowhere",), 4),
        (("--session", "x"), 2),
    ],
    ids=str,
)
def test_the_exit_code_is_for_scripts(author: Program, arguments: tuple[str, ...], code: int) -> None:
    ran = author("skills", "check", *arguments)
    assert ran.code == code and ran.err.count("\n") <= 1


def test_a_check_as_json_has_the_shape_that_the_manual_says(author: Program) -> None:
    checked = author("skills", "check", "--json").json
    assert differences(shape_of("skills check --json"), checked) == []
    assert checked["valid"] is False and checked["warnings"] == 5
    assert checked["errors"] == sum(
        found["level"] != "note" for skill in checked["skills"] for found in skill["diagnostics"]
    )


def test_a_check_reads_what_nobody_has_trusted_and_trusts_nothing(author: Program) -> None:
    untrusted = {"STEWARD_TRUST": "require"}
    assert author("skills", "check", ".agents/skills/good", **untrusted).code == 0
    ran = author("skills", **untrusted)
    assert "good" not in ran.out and "not trusted" in ran.out + ran.err


def test_hidden_characters_of_a_skill_reach_no_terminal(author: Program, monorepo: Path) -> None:
    build(
        monorepo,
        {".agents/skills/sly/SKILL.md": "---\nname: sly\ndescription: A \x1b]0;x\x07\u202e\n---\nB\n"},
    )
    for arguments in (("skills",), ("skills", "check"), ("skills", "check", "--json")):
        out = author(*arguments).out
        assert "\x1b" not in out and "\u202e" not in out and "\x07" not in out


def test_only_check_takes_a_directory(author: Program) -> None:
    assert author("skills", "list", "docs").code == 2
    assert author("skills", "--strict").code == 2


def test_the_model_is_told_what_it_loads(author: Program) -> None:
    ran = author("tool", "Skill", '{"command": "good"}')
    assert ran.code == 0 and "See [more](references/more.md)." in ran.out
    assert author("ask", "Hello", "--model", script("answer.jsonl")).code == 0
