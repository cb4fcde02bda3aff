"""``tool``: exactly what a model would be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.pty_screen import PtyScreen


def test_it_prints_the_result_with_the_documents_at_its_head(steward: Program):
    ran = steward(
        "tool", "readFile", '{"path": "services/billing/billing/tax.py", "startLine": 7, "lineCount": 1}'
    )
    assert ran.code == 0
    assert "Tax is rounded half up" in ran.out
    assert ran.out.index("Tax is rounded half up") < ran.out.index("def tax_cents")


def test_arguments_come_from_standard_input_after_a_dash(steward: Program):
    ran = steward("tool", "listFiles", "-", stdin='{"path": "docs"}')
    assert ran.code == 0
    assert "prices.md" in ran.out


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("readFile", '{"path": ".env"}', "secret"),
        ("readFile", '{"path": "../x"}', "workspace"),
        ("readFile", '{"path": "no such file"}', "no such file"),
        ("readFile", "{", "JSON"),
        ("readFile", "[]", "JSON object"),
        ("readFile", '{"file": "README.md"}', "path"),
        ("applyChange", "{}", "listFiles, searchFiles, readFile, proposePatch, Skill"),
    ],
)
def test_a_refusal_is_printed_and_is_exit_code_1(steward: Program, name: str, arguments: str, says: str):
    ran = steward("tool", name, arguments)
    assert ran.code == 1
    assert says in ran.out
    assert ran.err == ""


def test_a_pipe_gets_the_exact_text_and_a_terminal_gets_marks(steward: Program, monorepo: Path):
    (monorepo / "odd.txt").write_text("a\x1b]52;c;eA==\x07b\u202ec\n")
    exact = steward("tool", "readFile", '{"path": "odd.txt"}', "--json").json["text"]
    assert steward("tool", "readFile", '{"path": "odd.txt"}').out.rstrip("\n") == exact.rstrip("\n")
    command = steward.command("tool", "readFile", '{"path": "odd.txt"}')
    with PtyScreen(command, cwd=monorepo, environment=steward.environment) as screen:
        assert screen.wait_end() == 0
        assert b"\x1b]52" not in screen.raw and "\u202e".encode() not in screen.raw
        assert "a␛]52;c;eA==␇b⟨U+202E⟩c" in screen.text


def test_json_tells_what_was_touched(steward: Program):
    shape = steward("tool", "readFile", '{"path": "README.md"}', "--json").json
    assert (shape["ok"], shape["touched"]) == (True, ["README.md"])


def test_a_proposal_made_by_hand_stays_pending(steward: Program, monorepo: Path):
    arguments = '{"path": "docs/new.md", "oldText": "", "newText": "New.\\n"}'
    assert steward("tool", "proposePatch", arguments).code == 0
    assert not (monorepo / "docs/new.md").exists()
    assert steward("changes", "--json").json[0]["files"][0]["path"] == "docs/new.md"
