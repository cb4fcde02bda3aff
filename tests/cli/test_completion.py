"""A shell completes commands, ids, topics and profiles; it says nothing else and writes nothing."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Program, Ran
from tests.monorepo import script


def completed(steward: Program, words: str) -> list[str]:
    """What bash is offered for the last of the words."""
    ran = steward(COMP_WORDS=words, COMP_CWORD=str(words.count(" ")), _STEWARD_COMPLETE="bash_complete")
    assert ran.err == ""
    return [row.partition(",")[2] for row in ran.out.splitlines() if row]


def propose(steward: Program) -> None:
    assert steward("ask", "go", "--quiet", "--model", script("one-patch.jsonl")).code == 0


def test_ids_of_changes_are_completed_by_what_can_be_done_with_them(steward: Program):
    propose(steward)
    propose(steward)
    assert completed(steward, "steward apply-change ") == ["change-002", "change-001"]
    assert completed(steward, "steward apply-change 1") == ["change-001"]
    assert completed(steward, "steward undo-change c") == []
    stamp = steward("show-change", "1", "--json").json["stamp"]
    assert steward("apply-change", "1", "--stamp", stamp).code == 0
    assert completed(steward, "steward undo-change c") == ["change-001"]
    assert completed(steward, "steward discard-change c") == ["change-002"]
    assert completed(steward, "steward show-change change") == ["change-002", "change-001"]
    elsewhere = Program(Path("/"), steward.home)
    assert completed(elsewhere, f"steward --workspace {steward.directory} discard-change c") == ["change-002"]


def test_commands_topics_tools_profiles_and_sessions_are_completed(steward: Program):
    assert {"rebase-change", "rename-session"} <= set(completed(steward, "steward re"))
    assert "sessions" in completed(steward, "steward help se")
    assert completed(steward, "steward tool re") == ["readFile"]
    assert completed(steward, "steward ask --profile r") == ["reviewer"]
    assert "--max-cost" in completed(steward, "steward ask --max")
    propose(steward)
    (session,) = steward("sessions", "--json").json
    assert completed(steward, "steward delete-session 2") == [session["id"]]


@pytest.mark.parametrize(
    "words", ["steward nonsense x", "steward apply-change c", "steward delete-session x"]
)
def test_where_nothing_can_be_completed_nothing_is_said_or_written(steward: Program, words: str):
    before = sorted(steward.home.rglob("*"))
    assert [word for word in completed(steward, words) if word != "x"] == []
    assert sorted(steward.home.rglob("*")) == before


def test_a_database_that_cannot_be_read_is_no_noise(steward: Program):
    propose(steward)
    (file,) = steward.home.glob("state/*/steward.db")
    file.write_bytes(b"damaged" * 1000)
    assert completed(steward, "steward apply-change c") == []


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef steward"), ("fish", "complete")]
)
def test_the_script_of_each_shell_is_printed(steward: Program, shell: str, sign: str):
    ran: Ran = steward("completion", shell)
    assert ran.code == 0 and sign in ran.out and "_STEWARD_COMPLETE" in ran.out
    assert steward("completion", "tcsh").code == 2


def test_a_real_bash_completes_an_id(steward: Program, tmp_path: Path):
    propose(steward)
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "steward"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(steward.command())} "$@"\n')
    wrapper.chmod(0o755)
    program = (
        'eval "$(steward completion bash)"; COMP_WORDS=(steward apply-change ch); COMP_CWORD=2; '
        '_steward_completion steward ch apply-change; printf "%s\\n" "${COMPREPLY[@]}"; complete -p steward'
    )
    environment = steward.environment
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        cwd=steward.directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "change-001" and "_steward_completion" in done.stdout
