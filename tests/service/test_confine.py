"""What the process that reads the repository is left with, and that what it is for still works by it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.confine.landlock import OWN, READ, RUN, Grant
from steward.confine.programs import loader_of
from steward.service.confine import models_of, steward_grants, worker_ports
from steward.service.house import House
from tests.cli.program import Program
from tests.support import plant


def house_in(place: Path, root: Path | None = None, **settings: Any) -> House:
    home = place / "home"
    home.mkdir(exist_ok=True)
    return House(
        root or place / "repository",
        Settings.model_validate(settings),
        state=place / "state",
        home=home,
        config_directory=home / ".config/steward",
    )


def grants_of(house: House, model: str = "offline/guide") -> dict[Path, int]:
    """Rights by path."""
    found: dict[Path, int] = {}
    for grant in steward_grants(house, model):
        found[grant.path] = found.get(grant.path, 0) | grant.rights
    house.close()
    return found


def covered(path: Path, grants: dict[Path, int]) -> bool:
    return any(place in grants for place in (path, *path.parents))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository and a home beside each other."""
    plant(tmp_path / "repository", {".git/HEAD": "ref: refs/heads/main\n", "code.py": "x\n"})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def test_workspace_and_state_are_worked_in_and_one_program_is_started(place: Path) -> None:
    grants = grants_of(house_in(place))
    assert {path for path, rights in grants.items() if rights & OWN & ~READ & ~2} == {
        place / "repository", place / "state"
    }  # fmt: skip
    runs = {path for path, rights in grants.items() if rights & RUN & ~READ}
    assert {path.name for path in runs} <= {"rg", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"} and runs


def test_the_home_is_read_only_where_the_persons_own_texts_are(place: Path) -> None:
    plant(
        place / "home",
        {"notes/rules.md": "r\n", "mine.md": "m\n", ".gitconfig": "[include]\n\tpath = more\n"},
    )
    plant(place / "home", {"more": "[core]\n\texcludesFile = ~/ignored\n"})
    files: Any = ["~/notes/rules.md", "~/mine.md", "https://example.com/x.md", "~/globbed/*.md"]
    skills = {"directories": ["~/skills", "in-repository"]}
    grants = grants_of(house_in(place, instructions={"files": files}, skills=skills))
    home = place / "home"
    assert {path.relative_to(home).as_posix() for path in grants if path.is_relative_to(home)} == {
        ".agents/skills", ".claude/skills", ".config/agents/AGENTS.md", ".config/git/config", ".config/steward",
        ".config/steward/AGENTS.md", ".config/steward/skills", ".gitconfig", "globbed", "ignored", "mine.md", "more",
        "notes", "notes/rules.md", "skills",
    }  # fmt: skip
    assert not covered(home / ".ssh/id", grants) and not covered(Path("/etc/passwd"), grants)


def test_every_folder_of_the_persons_skills_is_read(place: Path) -> None:
    house = house_in(place, skills={"directories": ["~/skills"]})
    starts = [start.place.path for start in house.skill_places().personal()]
    assert len(starts) == 4 and set(starts) <= set(grants_of(house))


def test_a_skill_that_is_linked_into_a_folder_of_the_persons_is_read_and_nothing_around_it(
    place: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept/notes"
    plant(kept, {"SKILL.md": "---\nname: notes\ndescription: Notes.\n---\n"})
    folder = place / "home/.claude/skills"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "notes").symlink_to(kept)
    (folder / "all").symlink_to(tmp_path / "kept")
    grants = grants_of(house_in(place))
    assert grants[kept.resolve()] == READ and kept.parent.resolve() not in grants


def test_a_workspace_within_a_repository_reads_it_and_no_home_that_is_a_repository(place: Path) -> None:
    inner = place / "repository/packages/one"
    inner.mkdir(parents=True)
    assert grants_of(house_in(place, inner))[place / "repository"] == READ
    plant(place / "home", {".git/HEAD": "ref: refs/heads/main\n", "projects/here/code.py": "x\n"})
    grants = grants_of(house_in(place, place / "home/projects/here"))
    home = place / "home"
    assert home not in grants and home / "projects" not in grants
    assert {home / "AGENTS.md", home / "projects/AGENTS.override.md", home / ".git/HEAD"} <= set(grants)


def test_the_files_of_scripts_that_answer_are_read(place: Path) -> None:
    grants = grants_of(house_in(place, profile={"p": {"model": "script//b.jsonl"}}), "script//a.jsonl")
    assert {Path("/a.jsonl"), Path("/b.jsonl")} <= set(grants)


def test_documents_above_the_workspace_govern_it_in_a_held_steward(tmp_path: Path) -> None:
    home = tmp_path / "home"
    plant(
        home,
        {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/info/exclude": "*.log\n",
            "AGENTS.md": "# All\n",
            ".config/steward/AGENTS.md": "# Mine\n",
            "projects/AGENTS.md": "# Projects\n",
            "projects/.agents/skills/one/SKILL.md": "---\nname: one\ndescription: Above.\n---\n",
            "projects/here/code.py": "x = 1\n",
            "rounds.jsonl": '{"text": "Done."}\n',
        },
    )
    steward = Program(home / "projects/here", home)
    done = steward("ask", "Well?", "--workspace", ".", "--json", "--model", f"script/{home}/rounds.jsonl")
    assert done.code == 0, done.err
    assert done.json["instructions"][-2:] == ["../../AGENTS.md", "../AGENTS.md"]
    assert any("steward/AGENTS.md" in path for path in done.json["instructions"])
    assert done.json["warnings"] == []


def test_ports_are_those_of_the_model_of_profiles_and_of_documents(place: Path) -> None:
    shape = {
        "instructions": {"files": ["https://h.example/x.md", "http://h.example:81/y.md"]},
        "profile": {"p": {"model": "ollama/q"}, "q": {}},
    }
    settings = Settings.model_validate(shape)
    assert models_of(settings, "openai/x") == ("openai/x", "ollama/q")
    assert worker_ports(settings, "openai/x", {"OPENAI_BASE_URL": "http://h:5"}) == {5, 81, 443, 11434}
    assert worker_ports(Settings(), "anthropic/x", {}) == {443}
    assert {8080, 11434} <= worker_ports(Settings(), "offline/guide", {})
    assert worker_ports(Settings(), "script/x", {}) == set[int]()


def test_the_loader_of_a_dynamic_program_is_found(tmp_path: Path) -> None:
    shell = Path(shutil.which("sh") or sys.executable).resolve()
    loader = loader_of(shell)
    assert loader is not None and loader.name.startswith("ld-") and loader.exists()
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "short").write_bytes(b"\x7fELF\x02\x01")
    assert (
        loader_of(tmp_path / "script")
        is loader_of(tmp_path / "short")
        is loader_of(tmp_path / "none")
        is None
    )
    assert Grant(tmp_path).rights == READ
