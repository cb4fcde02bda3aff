"""The skills that ship with the package."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import skills_ref

from steward.skills import Places, discover


def test_three_skills_ship_and_nothing_is_to_be_said_of_them(tmp_path: Path) -> None:
    catalog = discover(Places(tmp_path))
    assert [skill.name for skill in catalog.skills] == ["review-change", "write-agents-md", "write-skill"]
    assert catalog.warnings == ()
    for skill in catalog.skills:
        assert skill.source == "shipped" and skill.diagnostics == () and skill.unavailable == ()
        assert skill.location == f"shipped/{skill.name}/SKILL.md"
        assert len(skill.load().body) > 500
        assert skill.place is not None and skills_ref.validate(skill.place.path) == []


def test_reviewing_leaves_no_tool_that_proposes(tmp_path: Path) -> None:
    skill = discover(Places(tmp_path)).find("review-change")
    assert skill is not None and "Edit" not in skill.allowed_tools and "Write" not in skill.allowed_tools


def test_a_repository_can_put_its_own_in_their_place(tmp_path: Path) -> None:
    folder = tmp_path / ".agents/skills/review-change"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: review-change\ndescription: Ours\n---\nOurs\n")
    catalog = discover(Places(tmp_path))
    skill = catalog.find("review-change")
    assert skill is not None and skill.description == "Ours"
    assert [shadow.hidden for shadow in catalog.shadows] == ["shipped/review-change/SKILL.md"]


def test_the_manual_names_every_finding() -> None:
    sources = (path for path in resources.files("steward.skills").iterdir() if path.name.endswith(".py"))
    codes = {
        code
        for path in sources
        for code in re.findall(r'(?:fatal|fault|note)\(\s*"([a-z0-9-]+)"', path.read_text())
    }
    page = resources.files("steward").joinpath("manual", "skills.md").read_text("utf-8")
    assert len(codes) > 40
    assert {code for code in codes if f"`{code}`" not in page} == set()
