"""Every declarative case of fixtures/skills, and agreement with the reference validator on each SKILL.md in them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import skills_ref

from steward.skills import Broken, Limits, Places, discover
from steward.skills.allowed import EVERY, SKILL, Lock
from steward.skills.check import check
from tests.skills.trees import build

FIXTURES = Path(__file__).parents[2] / "fixtures" / "skills"
CASES: list[dict[str, Any]] = tomllib.loads((FIXTURES / "cases.toml").read_text("utf-8"))["case"]


def places_of(root: Path, case: dict[str, Any]) -> Places:
    """The places of a case whose tree was built below ``root``."""
    workspace = root / case.get("workspace", "repo")
    workspace.mkdir(parents=True, exist_ok=True)
    return Places(
        workspace,
        boundary=root / case["boundary"] if "boundary" in case else None,
        home=root / "home",
        extra=tuple(root / name for name in case.get("extra", ())),
        trusted=case.get("trusted", True),
        shipped=False,
        limits=Limits(**case.get("limits", {})),
    )


def test_there_are_at_least_fifty_cases_with_names_of_their_own() -> None:
    assert len(CASES) >= 50
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_discovery_finds_just_what_the_case_says(case: dict[str, Any], tmp_path: Path) -> None:
    build(tmp_path, case["tree"])
    catalog = discover(places_of(tmp_path, case), case.get("focus", "."))
    assert [skill.name for skill in catalog.skills] == case["skills"]
    assert {b.name: b.diagnostics[-1].code for b in catalog.broken} == case.get("broken", {})
    found = {s.name: sorted(d.code for d in s.diagnostics) for s in catalog.skills if s.diagnostics}
    assert found == {name: sorted(codes) for name, codes in case.get("diagnostics", {}).items()}
    assert [[s.used, s.hidden] for s in catalog.shadows] == case.get("shadows", [])
    assert len(catalog.notes) == len(set(catalog.notes))
    for piece in case.get("notes", ()):
        assert any(piece in sentence for sentence in catalog.notes), catalog.notes
    assert len(catalog.notes) == len(case.get("notes", ())), catalog.notes
    for name, description in case.get("described", {}).items():
        skill = catalog.find(name)
        assert skill is not None and skill.description == description
    for name, location in case.get("locations", {}).items():
        skill = catalog.find(name)
        assert skill is not None and skill.location == location
    for skill in catalog.skills:
        open_tools = sorted(
            tool
            for tool in EVERY
            if tool != SKILL and Lock().with_skill("x", skill.rules).allows(tool) is None
        )
        wanted = case.get("tools", {}).get(skill.name)
        assert open_tools == (sorted(set(EVERY) - {SKILL}) if wanted is None else wanted)
        assert (skill.rules is None) == (wanted is None)
    at = {s.name: {d.code: d.line for d in s.diagnostics} for s in (*catalog.skills, *catalog.broken)}
    for name, lines in case.get("lines", {}).items():
        assert {code: at[name][code] for code in lines} == lines
    for name, body in case.get("body", {}).items():
        skill = catalog.find(name)
        assert skill is not None and skill.load().body == body


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_reference_validator_agrees(case: dict[str, Any], tmp_path: Path) -> None:
    build(tmp_path, case["tree"])
    for skill in check(tmp_path).skills:
        folder = tmp_path / Path(skill.location).parent
        if (folder / "SKILL.md").is_fifo():  # the validator would wait for ever
            assert isinstance(skill, Broken)
            continue
        if folder.name in case.get("differs", {}):
            continue
        assert skill.valid == reference_says(folder), (skill, skills_ref_errors(folder))


def skills_ref_errors(folder: Path) -> list[str]:
    """What the reference validator finds wrong; an exception of it counts as one finding."""
    try:
        return skills_ref.validate(folder)
    except Exception as error:
        return [repr(error)]


def reference_says(folder: Path) -> bool:
    """Whether the reference validator takes the skill."""
    return skills_ref_errors(folder) == []
