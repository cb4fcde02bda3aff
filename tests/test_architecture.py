"""The house as it is drawn: floors, what may be imported where and when, and the shape of modules."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.monorepo import PROJECT, copy_monorepo

MODULES = sorted((PROJECT / "steward").rglob("*.py"))
LONGEST = 450
HEAVY = {"textual", "rich", "litellm", "asyncio", "acp", "jsonschema", "watchdog", "unidiff", "pygments"}
"""Packages that a command which needs none of them must not wait for."""


def test_every_import_contract_holds():
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([program, "--no-cache"], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("module", MODULES, ids=[str(m.relative_to(PROJECT)) for m in MODULES])
def test_a_module_says_what_it_is_and_stays_short(module: Path):
    source = module.read_text("utf-8")
    said = ast.get_docstring(ast.parse(source))
    assert said and said.split("\n")[0].endswith((".", ":")), "its first line is one sentence"
    assert source.count("\n") <= LONGEST


def imported(directory: Path, *arguments: str) -> tuple[set[str], str]:
    """Top-level packages that are loaded after a command, and what it said on standard error."""
    code = (
        "import json, sys\n"
        "from steward.cli.app import run\n"
        f"code = run({list(arguments)!r})\n"
        "print(json.dumps([code, sorted({name.split('.')[0] for name in sys.modules})]), file=sys.stderr)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(PROJECT),
        "HOME": str(directory),
        "STEWARD_STATE_DIR": str(directory / "state"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=directory / "shop",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    code, packages = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(packages), done.stderr


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (("--help",), set[str]()),
        (("ask", "--help"), set[str]()),
        (("help",), set[str]()),
        (("instructions", "docs"), set[str]()),
        (("changes",), set[str]()),
        (("sessions",), set[str]()),
        (("skills",), set[str]()),
        (("tool", "readFile", '{"path": "README.md"}'), {"asyncio"}),
        (("doctor",), {"asyncio"}),
    ],
)
def test_a_command_imports_only_what_it_needs(tmp_path: Path, arguments: tuple[str, ...], allowed: set[str]):
    copy_monorepo(tmp_path / "shop")
    packages, _ = imported(tmp_path, *arguments)
    assert packages & (HEAVY - allowed) == set()
    if "--help" in arguments:
        assert "pydantic" not in packages


def test_a_whole_turn_never_brings_litellm_into_the_parent(tmp_path: Path):
    copy_monorepo(tmp_path / "shop")
    script = f"script/{PROJECT / 'fixtures' / 'scripts' / 'one-patch.jsonl'}"
    packages, _ = imported(tmp_path, "ask", "fix it", "--model", script)
    assert "asyncio" in packages
    assert packages & {"litellm", "openai", "httpx", "aiohttp", "textual", "acp"} == set()


def test_the_screen_is_imported_without_litellm():
    code = "import sys, steward.tui.app; print(sorted({n.split('.')[0] for n in sys.modules} & {'litellm', 'openai'}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
