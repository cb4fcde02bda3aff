"""Runs the real ``steward`` as a shell would and gives back what it printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.monorepo import PROJECT


@dataclass(frozen=True, slots=True)
class Ran:
    """One finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, read as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """The program in one directory, with a home and a state of its own."""

    directory: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the environment of the tests but what finds the program."""
        return {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
            "HOME": str(self.home),
            "PYTHONPATH": str(PROJECT),
            "STEWARD_STATE_DIR": str(self.home / "state"),
            "STEWARD_TRUST": "always",
            "LANG": "C.UTF-8",
        }

    def command(self, *arguments: str) -> list[str]:
        """The command line."""
        return [sys.executable, "-m", "steward", *arguments]

    def __call__(self, *arguments: str, stdin: str | bytes | None = None, **more: str) -> Ran:
        """Run it to its end. ``stdin`` None means that there is none; ``more`` goes into the environment."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.directory,
            env={**self.environment, **more},
            stdin=subprocess.DEVNULL if given is None else None,
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


TAX = "services/billing/billing/tax.py"


def propose_fix(steward: Program) -> str:
    """Make ``change-001``: the rounding of tax in ``TAX``, proposed as the model would; gives its stamp."""
    arguments = {
        "path": TAX,
        "oldText": "    return net_cents * rate // 10000\n",
        "newText": "    return (net_cents * rate + 5000) // 10000\n",
    }
    assert steward("tool", "proposePatch", json.dumps(arguments)).code == 0
    (change,) = steward("changes", "--json").json
    return change["stamp"]
