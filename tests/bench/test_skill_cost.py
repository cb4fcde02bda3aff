"""What skills cost in every request, beside inlining the body of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.skills import Places, discover
from steward.skills.catalog import BUDGET
from steward.tools.skill import SkillTool


@pytest.mark.parametrize("count", [3, 10, 25, 50, 100, 1_000])
def test_characters_of_a_request(count: int, tmp_path: Path, benchmark: Any) -> None:
    body = "A line of instructions that says what to do next.\n" * 60
    for number in range(count):
        folder = tmp_path / ".agents" / "skills" / f"skill-{number:04}"
        folder.mkdir(parents=True)
        words = f"Does the work of kind {number} on the files of the project. Use when the user asks for it."
        (folder / "SKILL.md").write_text(f"---\nname: skill-{number:04}\ndescription: {words}\n---\n{body}")
    catalog = benchmark(discover, Places(tmp_path, shipped=False))
    tool = SkillTool(catalog)
    inlined = sum(skill.body_characters for skill in catalog.skills)
    benchmark.extra_info.update(skills=count, listing=tool.listing_characters, inlined=inlined)
    assert len(catalog.skills) == count
    assert tool.listing_characters <= BUDGET
    assert tool.listing_characters < inlined / 10
