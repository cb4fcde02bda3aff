"""What a command loads before it has anything to say: a list for each, so that nothing heavy slips in unseen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPORT = """
import atexit, json, sys
said = sys.argv.pop(1)
atexit.register(lambda: open(said, "w").write(json.dumps(sorted(sys.modules))))
from steward.__main__ import main
main()
"""

PAINT = """
import json, os, sys
said = sys.argv.pop(1)
from steward.tui.app import StewardApp

async def begin(app):
    open(said, "w").write(json.dumps(sorted(sys.modules)))
    app.exit(0)

StewardApp._begin = begin
from steward.cli.house import new_steward, settings_of
from steward.cli.options import Options
options = Options()
StewardApp(new_steward(options, settings=settings_of(options))).run(headless=True)
"""

HELP = {"click"}
HOUSE = {"click", "platformdirs"}
SCREEN = {*HOUSE, "textual", "rich", "pygments", "markdown_it", "mdurl", "typing_extensions"}

LATE = {
    *(
        "asyncio",
        "email",
        "http",
        "importlib.metadata",
        "multiprocessing",
        "ssl",
        "tomllib",
        "unittest",
        "urllib.request",
    ),
    *(
        "concurrent.futures",
        "difflib",
        "doctest",
        "pdb",
        "steward.model",
        "steward.loop",
        "steward.tools",
        "steward.tui",
    ),
    *("steward.acp", "steward.prompts", "steward.skills"),
}
"""Modules of the standard library and of the steward that a command without a model has no use for."""


def loaded(tmp_path: Path, program: str, *arguments: str) -> set[str]:
    """The modules that are loaded at the end of ``program``."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (repository / "AGENTS.md").write_text("# Rules\n")
    said = tmp_path / "modules.json"
    environment = {
        "HOME": str(tmp_path),
        "STEWARD_STATE_DIR": str(tmp_path / "state"),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-c", program, str(said), *arguments],
        cwd=repository,
        env={**environment, "PYTHONPATH": str(Path(__file__).parent.parent), "TERM": "xterm-256color"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return set(json.loads(said.read_text()))


def packages(modules: set[str]) -> set[str]:
    """The packages among them that are neither the steward's nor Python's."""
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    tops = {name.partition(".")[0] for name in modules} - {name.partition(".")[0] for name in bare}
    return {
        name for name in tops if name not in sys.stdlib_module_names and name != "steward" and name[0] != "_"
    }


def late(modules: set[str]) -> set[str]:
    return {name for name in modules if any(name == one or name.startswith(one + ".") for one in LATE)}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["instructions", "--help"]], ids=" ".join)
def test_help_loads_click_and_nothing_else(tmp_path: Path, arguments: list[str]) -> None:
    modules = loaded(tmp_path, REPORT, *arguments)
    assert packages(modules) == HELP
    assert late(modules) == set()
    assert not {
        name for name in modules if name.startswith(("steward.service", "steward.storage", "sqlite3"))
    }


@pytest.mark.parametrize(
    "arguments",
    [["instructions"], ["instructions", "--json"], ["changes"], ["changes", "--json"]],
    ids=" ".join,
)
def test_a_command_that_only_looks_loads_neither_pydantic_nor_a_loop(
    tmp_path: Path, arguments: list[str]
) -> None:
    modules = loaded(tmp_path, REPORT, *arguments)
    assert packages(modules) == HOUSE
    assert late(modules) == set()
    if arguments[0] == "instructions":
        assert not {name for name in modules if name.startswith(("steward.proposals.", "steward.events"))}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("listFiles", "{}"), ("readFile", '{"path": "AGENTS.md"}'), ("searchFiles", '{"query": "Rules"}')],
)
def test_a_tool_that_reads_loads_neither_pydantic_nor_a_loop_nor_a_conversation(
    tmp_path: Path, name: str, arguments: str
) -> None:
    modules = loaded(tmp_path, REPORT, "tool", name, arguments)
    assert packages(modules) == HOUSE
    assert {name.partition(".")[2].partition(".")[0] for name in late(modules) if "steward." in name} <= {
        "prompts",
        "skills",
        "tools",
    }
    assert not {name for name in late(modules) if not name.startswith("steward.")}
    assert not {name for name in modules if name.startswith(("steward.service.talk", "steward.events"))}


def test_the_screen_is_drawn_before_anything_of_a_conversation_is_loaded(tmp_path: Path) -> None:
    modules = loaded(tmp_path, PAINT)
    assert packages(modules) <= SCREEN
    for name in (
        "steward.service.talk",
        "steward.loop",
        "steward.tools",
        "steward.skills",
        "steward.prompts",
        "steward.tui.review.screen",
        "steward.tui.conversation.feed",
        "steward.tui.deeds",
    ):
        assert name not in modules, name
    for name in (
        "pydantic",
        "yaml",
        "watchdog",
        "rapidfuzz",
        "litellm",
        "regex",
        "unidiff",
        "steward.model.gateway",
    ):
        assert name not in modules, name


def test_a_configuration_file_brings_pydantic_and_no_file_does_not(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('theme = "dark"\n')
    assert "pydantic" in loaded(tmp_path, REPORT, "--config", str(config), "changes")
