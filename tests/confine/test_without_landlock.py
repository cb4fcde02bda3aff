"""Where a container forbids what confines, all works as without it, and the doctor says that nothing holds."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.support import plant

FORBIDS = """
import ctypes, os, struct, sys
numbers, error = [int(number) for number in sys.argv[1].split(",")], int(sys.argv[2])
steps = [(0x20, 0, 0, 0)]
steps += [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
steps += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | error)]
program = b"".join(struct.pack("=HBBI", *step) for step in steps)
code = ctypes.create_string_buffer(program, len(program))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("@HP", len(steps), ctypes.addressof(code)), 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
"""
"""A filter of system calls, as the runtime of a container sets one, around the program that follows."""
CREATE, ADD, RESTRICT = 444, 445, 446


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        ((CREATE, ADD, RESTRICT), "Landlock is not to be had here"),
        ((ADD,), "the kernel did not take the rules"),
        ((RESTRICT,), "the kernel did not take the rules"),
    ],
)
def test_a_steward_that_may_not_confine_itself_works_and_says_so(
    tmp_path: Path, calls: tuple[int, ...], why: str
) -> None:
    root = plant(tmp_path / "repository", {".git/HEAD": "ref: refs/heads/main\n", "code.py": "x = 41\n"})
    rounds = [
        {"calls": [{"name": "searchFiles", "arguments": {"query": "41"}}]},
        {
            "calls": [
                {"name": "proposePatch", "arguments": {"path": "code.py", "oldText": "41", "newText": "42"}}
            ]
        },
        {"text": "Proposed."},
    ]
    plant(tmp_path / "home", {"script.jsonl": "\n".join(map(json.dumps, rounds))})
    program = Program(root, tmp_path / "home")

    def run(*arguments: str) -> str:
        held = [sys.executable, "-c", FORBIDS, ",".join(map(str, calls)), str(errno.EPERM)]
        done = subprocess.run(
            [*held, *program.command(*arguments)],
            cwd=root,
            env=program.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--model", f"script/{tmp_path}/home/script.jsonl", "ask", "Change it") == "Proposed.\n"
    found = [finding for finding in json.loads(run("doctor", "--json")) if finding["check"] == "confinement"]
    assert [finding["state"] for finding in found] == ["warn", "warn"]
    assert all(why in finding["sentence"] for finding in found)
