"""``ask`` where the steward's own database cannot grow or be written: one sentence, and nothing is lost."""

from __future__ import annotations

import json
import shlex
import subprocess

from tests.cli.program import Program
from tests.monorepo import script

ANSWER = ("--quiet", "--model", script("answer.jsonl"))


def on_a_disk(steward: Program, *lines: str) -> subprocess.CompletedProcess[str]:
    """Run shell lines where file systems may be mounted that nobody else sees."""
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-ec", "\n".join(lines)],
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_state_directory_that_cannot_be_written_is_one_sentence(steward: Program):
    assert steward("ask", "first", *ANSWER).code == 0
    state = shlex.quote(str(steward.home / "state"))
    again = shlex.join(steward.command("ask", "again", "--continue", *ANSWER))
    ran = on_a_disk(
        steward, f"mount --bind {state} {state}", f"mount -o remount,ro,bind {state}", f"exec {again}"
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == (
        "steward: The steward's database cannot be written; set STEWARD_STATE_DIR to a directory that can.\n"
    )
    assert [row["messages"] for row in steward("sessions", "--json").json] == [3]


def test_a_full_disk_is_one_sentence_and_with_room_the_session_goes_on(steward: Program):
    assert steward("ask", "first", *ANSWER).code == 0
    state = shlex.quote(str(steward.home / "state"))
    again = shlex.join(steward.command("ask", "again", "--continue", *ANSWER))
    listed = shlex.join(steward.command("sessions", "--json"))
    ran = on_a_disk(
        steward,
        f"cp -r {state} {state}.kept",
        f"mount -t tmpfs -o size=2m none {state}",
        f"cp -r {state}.kept/. {state}",
        f"dd if=/dev/zero of={state}/filling bs=4k 2>/dev/null || true",
        f"{again} >/dev/null && exit 9",
        f"rm {state}/filling",
        f"{again} >/dev/null",
        f"exec {listed}",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("\n") == 1 and "STEWARD_STATE_DIR" in ran.stderr
    assert [row["messages"] for row in json.loads(ran.stdout)] == [5]
