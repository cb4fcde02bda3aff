"""README, AGENTS.md and the manual: every command shown runs, every table and every link is true."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from steward.cli.app import steward as group
from steward.cli.commands import ENTRIES
from steward.config import load
from steward.errors import StewardError
from steward.service import manual
from tests import manual_tables
from tests.cli.program import Program, propose_fix
from tests.monorepo import PROJECT, copy_monorepo, script

PAGES = sorted([PROJECT / "README.md", PROJECT / "AGENTS.md", *(PROJECT / "steward" / "manual").glob("*.md")])
IDS = [str(page.relative_to(PROJECT)) for page in PAGES]


@dataclass(frozen=True, slots=True)
class Shown:
    """One command line in a fence of a page."""

    page: Path
    line: str


def fences(page: Path, language: str) -> list[str]:
    """The texts of a page's fences in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


SHOWN = [
    Shown(page, line)
    for page in PAGES
    for fence in fences(page, "sh")
    for line in fence.splitlines()
    if line.strip()
]
INSTALLS = [s for s in SHOWN if re.match(r"(python3 -m venv|uvx?) ", s.line)]
TOOLS = [s for s in SHOWN if s.line.startswith(".venv/bin/")]
STEWARDS = [s for s in SHOWN if s not in INSTALLS and s not in TOOLS]


@pytest.fixture
def place(tmp_path: Path) -> Program:
    """The monorepo with one pending change, and what the pages' commands find there."""
    root = copy_monorepo(tmp_path / "shop")
    (tmp_path / "home").mkdir()
    place = Program(root, tmp_path / "home")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "steward").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steward "$@"\n')
    (tmp_path / "bin" / "steward").chmod(0o755)
    return place


@pytest.mark.parametrize("shown", STEWARDS, ids=[f"{s.page.stem}: {s.line[:60]}" for s in STEWARDS])
def test_a_command_that_a_page_shows_works(place: Program, tmp_path: Path, shown: Shown):
    line = shown.line
    if re.match(r"steward --model \S+$", line):
        line += " instructions"  # the screen itself is driven elsewhere
    if line.startswith("git diff main | "):
        line = f"cat {_patch(tmp_path)} | " + line.partition(" | ")[2]  # what it gives where a branch differs
    if "--export" in line or "replay" in line:
        _talk(place)
    if "replay" in line:
        place("sessions", "--export", "last", "--output", line.rpartition(" ")[2])
    if "-change" in line:
        line = re.sub(r"--stamp \S+", f"--stamp {propose_fix(place)[:12]}", line)
    path = os.pathsep.join((str(tmp_path / "bin"), place.environment["PATH"]))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=place.directory,
        env={**place.environment, "PATH": path, "STEWARD_MODEL": script("answer.jsonl")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _patch(folder: Path) -> Path:
    """A patch that fits the monorepo."""
    patch = folder / "their.patch"
    patch.write_text(
        "--- a/docs/returns.md\n+++ b/docs/returns.md\n@@ -1 +1 @@\n-# Returns\n+# Returned goods\n"
    )
    return patch


def _talk(place: Program) -> None:
    """A session that is stored."""
    assert place("ask", "Where is rounding done?", STEWARD_MODEL=script("answer.jsonl")).code == 0


def test_both_commands_of_the_readme_need_python_and_pip_alone():
    lines = [s.line for s in INSTALLS if s.page.name == "README.md" and s.line.startswith("python3 ")]
    assert lines == [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/steward",
        "python3 -m venv .venv && .venv/bin/pip install -q -r requirements.lock"
        " && .venv/bin/pip install -q --no-deps -e . && .venv/bin/pytest",
    ]


def test_every_uv_line_is_the_pip_line_in_other_words():
    lines = [s.line for s in INSTALLS if s.page.name == "README.md"]
    plain = [line for line in lines if line.startswith("python3")]
    assert [line for line in lines if line.startswith("uv")] == [
        line.replace("python3 -m venv", "uv venv").replace(".venv/bin/pip install", "uv pip install")
        for line in plain
    ]


@pytest.mark.parametrize("shown", TOOLS, ids=[s.line[:50] for s in TOOLS])
def test_a_tool_that_a_page_names_is_there(shown: Shown):
    for word in re.findall(r"\.venv/bin/(\S+)", shown.line):
        assert Path(sys.executable).with_name(word).exists()


@pytest.mark.parametrize(
    ("page", "make"), manual_tables.TABLES, ids=[name for name, _ in manual_tables.TABLES]
)
def test_a_table_says_what_the_code_says(page: str, make: object):
    assert callable(make)
    wanted = make()
    assert manual_tables.in_page(manual_tables.MANUAL / page, str(wanted)) == wanted, (
        "python -m tests.manual_tables writes it anew"
    )


def test_the_keys_in_the_readme_are_rows_of_the_manual():
    rows = manual_tables.in_page(PROJECT / "README.md", manual_tables.keys()).split("\n")
    assert len(rows) > 5
    assert set(rows) <= set(manual_tables.keys().split("\n"))


def test_the_index_lists_every_page_once():
    listed = re.findall(r"^\| `([a-z-]+)` \|", manual.page("index"), re.MULTILINE)
    assert sorted([*listed, "index"]) == sorted(manual.topics())


@pytest.mark.parametrize("topic", manual.topics())
def test_a_topic_is_shown_by_the_program(place: Program, topic: str):
    assert place("help", topic).out == manual.page(topic).rstrip("\n") + "\n"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target.split("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_options_that_a_page_names_exist(page: Path):
    known = {"--help", "--version"}
    for entry in ENTRIES:
        command = group.get_command(click.Context(group), entry.name)
        assert command is not None
        known.update(o for p in command.params for o in (*p.opts, *p.secondary_opts))
    known.update(o for p in group.params for o in p.opts)
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    own = re.sub(r"`git [^`]*`", "", prose)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", own))
    assert named <= known


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_configuration_that_a_page_shows_is_taken(page: Path, tmp_path: Path):
    for number, text in enumerate(fences(page, "toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(text)
        tomllib.loads(text)
        try:
            load(file, {}, required=True)
        except StewardError as error:
            pytest.fail(str(error))


def test_every_room_has_its_line_in_the_contributor_guide():
    rooms = {p.name for p in (PROJECT / "steward").iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    rooms |= {p.stem for p in (PROJECT / "steward").glob("*.py")} - {"__init__", "__main__"}
    assert set(re.findall(r"`steward/([a-z_]+)`", (PROJECT / "AGENTS.md").read_text())) - {"manual"} == rooms


def test_the_picture_shows_the_screen_and_loads_nothing():
    picture = (PROJECT / "steward" / "manual" / "screen.svg").read_text("utf-8")
    words = re.sub(r"&#160;", " ", re.sub(r"<[^>]+>", "", picture))
    assert "change-001" in words and "AGENTS.md" in words and "pending" in words
    assert not re.search(r"(?:href|src|url)\s*[=(]\s*[\"']?https?:", picture)
    assert "/tmp" not in picture and "/home" not in picture
