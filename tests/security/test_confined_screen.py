"""The whole program under confinement, on a real terminal and without one: held by the kernel, and nothing is lost."""

from __future__ import annotations

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.pty_screen import PtyScreen
from tests.support import plant

ROUNDS = [
    {"calls": [{"name": "searchFiles", "arguments": {"query": "41"}}]},
    {
        "calls": [
            {"name": "proposePatch", "arguments": {"path": "code.py", "oldText": "41", "newText": "42"}},
            {"name": "proposePatch", "arguments": {"path": "deep/new.py", "oldText": "", "newText": "y\n"}},
        ]
    },
    {"text": "Proposed."},
    {"text": "A second answer."},
]
EDITOR = """#!/bin/sh
cat /etc/hostname > /dev/null && echo "EDITING outside"
read answer
echo "$answer" >> "$1"
"""


@pytest.fixture
def steward(tmp_path: Path) -> Program:
    """The program in a small repository, with a script and an editor outside of it."""
    root = plant(
        tmp_path / "repository",
        {".git/HEAD": "ref: refs/heads/main\n", "code.py": "x = 41\n", "AGENTS.md": "# Rules\n"},
    )
    plant(tmp_path / "home", {"script.jsonl": "\n".join(map(json.dumps, ROUNDS)), "editor": EDITOR})
    (tmp_path / "home/editor").chmod(0o755)
    return Program(root, tmp_path / "home")


def held(pid: int) -> set[tuple[str, str]]:
    """Of each thread of a process, whether it may gain privileges and whether its system calls are filtered."""
    found: set[tuple[str, str]] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        lines = dict(
            line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line
        )
        found.add((lines["NoNewPrivs"], lines["Seccomp"]))
    return found


def children(pid: int) -> list[int]:
    """The children of every thread of a process."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def test_the_screen_is_held_and_what_the_person_starts_by_hand_is_not(
    steward: Program, tmp_path: Path
) -> None:
    command = steward.command("--model", f"script/{steward.home}/script.jsonl")
    more = {"EDITOR": str(steward.home / "editor"), "SHELL": "/bin/sh"}
    environment = {**steward.environment, **more}
    with PtyScreen(command, cwd=steward.directory, environment=environment, columns=110, lines=34) as screen:
        screen.wait_for("Instructions here: AGENTS.md")

        def say(text: str) -> None:
            screen.type(text)
            screen.settle_for(0.6)
            screen.press("enter")

        say("Change it")
        screen.wait_for("Proposed.")
        assert held(screen.pid) == {("1", "2")}
        (helper,) = children(screen.pid)
        assert held(helper) == {("0", "0")}
        (worker,) = children(helper)
        assert {no_new for no_new, _ in held(worker)} == {"1"}

        screen.press("f4")
        screen.wait_for("e edit")
        screen.settle(0.7)
        screen.press("e")
        screen.wait_for("outside")
        screen.type("z = 1\r")
        screen.wait_for("With your edit change-001 has the stamp")
        screen.settle_for(0.7)
        screen.press("a")
        screen.wait_for("Write change-001")
        screen.settle_for(0.7)
        screen.press("Y")
        screen.wait_for("change-001 applied")
        assert (steward.directory / "code.py").read_text() == "x = 42\nz = 1\n"
        assert (steward.directory / "deep/new.py").read_text() == "y\n"

        screen.press("escape")
        screen.settle(0.5)
        say(f"!cat {tmp_path}/home/script.jsonl | wc -l; touch {tmp_path}/by-hand")
        screen.wait_for("exit code 0")
        assert (tmp_path / "by-hand").exists()
        say(f"/export {tmp_path}/talk.md")
        screen.wait_for("The conversation was written to talk.md")
        assert "Proposed." in (tmp_path / "talk.md").read_text()

        os.kill(worker, 9)
        say("Again")
        screen.wait_for("A second answer.")
        (second,) = children(helper)
        assert second != worker and {no_new for no_new, _ in held(second)} == {"1"}
        gone = select.poll()
        gone.register(descriptor := os.pidfd_open(helper), select.POLLIN)
        screen.press("ctrl+q")
        assert screen.wait_end() == 0
        assert gone.poll(10_000)
        os.close(descriptor)
    assert not list((tmp_path / "home/state").glob("*/steward-edit-*"))


def test_plain_writes_an_export_where_the_person_names_it(steward: Program, tmp_path: Path) -> None:
    command = steward.command("--plain", "--model", f"script/{steward.home}/script.jsonl")
    with PtyScreen(command, cwd=steward.directory, environment=steward.environment, lines=60) as screen:
        screen.wait_for("Type a question")
        screen.type("Change it\r")
        screen.wait_for("End of the turn")
        assert held(screen.pid) == {("1", "2")}
        screen.type(f"/export {tmp_path}/talk.md\r")
        screen.wait_for("was written to talk.md")
        screen.type("/exit\r")
        assert screen.wait_end() == 0
    assert "Proposed." in (tmp_path / "talk.md").read_text()


@pytest.mark.parametrize(("confine", "expected"), [("true", ("1", "2")), ("false", ("0", "0"))])
def test_ask_is_held_unless_the_person_says_otherwise(
    steward: Program, confine: str, expected: tuple[str, str]
) -> None:
    slow = [{"text": "Slowly.", "delay": 30}]
    (steward.home / "script.jsonl").write_text("\n".join(map(json.dumps, slow)))
    command = steward.command(
        "ask", "Well?", "--model", f"script/{steward.home}/script.jsonl", "--json-lines"
    )
    environment = {**steward.environment, "STEWARD_CONFINE": confine}
    with subprocess.Popen(
        command, cwd=steward.directory, env=environment, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        assert "event" in asking.stdout.readline()
        assert held(asking.pid) == {expected}
        asking.kill()


def test_a_command_without_a_model_is_not_held_and_doctor_says_what_would_be(steward: Program) -> None:
    found = [
        f for f in steward("doctor", "--json", "--model", "openai/x").json if f["check"] == "confinement"
    ]
    assert [f["state"] for f in found] == ["ok", "ok"]
    assert found[0]["sentence"].startswith(
        "The steward is held by the kernel to its own files and no socket,"
    )
    assert found[1]["sentence"].startswith("The worker is held by the kernel to its own files and ports 443.")
    off = steward("doctor", "--json", STEWARD_CONFINE="false").json
    assert [f["sentence"] for f in off if f["check"] == "confinement"] == [
        "The steward is not confined by the kernel: confine is off in your settings.",
        "The worker is not confined by the kernel: confine is off in your settings.",
    ]


def test_an_editor_is_served_any_number_of_repositories_without_sockets_and_programs(
    steward: Program, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with subprocess.Popen(
        steward.command("acp", "--model", "offline/guide"),
        cwd=steward.directory,
        env=steward.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdin is not None and serving.stdout is not None
        new = "session/new"
        steps: list[tuple[str, dict[str, Any]]] = [
            ("initialize", {"protocolVersion": 1, "clientCapabilities": {}}),
            (new, {"cwd": str(steward.directory), "mcpServers": []}),
            (new, {"cwd": str(tmp_path / "other"), "mcpServers": []}),
        ]
        for number, (method, parameters) in enumerate(steps):
            call = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
            serving.stdin.write(json.dumps(call) + "\n")
            serving.stdin.flush()
            while (answer := json.loads(serving.stdout.readline())).get("id") != number:
                pass
            assert "result" in answer, answer
        assert held(serving.pid) == {("1", "2")}
        serving.stdin.close()
        assert serving.wait(30) == 0
