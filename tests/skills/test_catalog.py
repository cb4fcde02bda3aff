"""Looking skills up, searching them, listing them within a budget, and reporting them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steward.skills import Catalog, Limits, Places, Shadow, Skill, discover
from steward.skills.check import check
from steward.skills.places import FOLDERS
from steward.skills.report import catalog_lines, catalog_shape, checked_lines, checked_shape
from tests.skills.trees import build


def catalog_of(count: int, words: int = 20) -> Catalog:
    """A catalog of so many skills."""
    return Catalog(
        tuple(Skill(f"skill-{n:04}", f"Does thing {n} " + "word " * words, "d", "user") for n in range(count))
    )


@pytest.mark.parametrize("count", [0, 1, 3, 10, 25, 50, 100, 1_000, 5_000])
@pytest.mark.parametrize("budget", [1_000, 8_000])
def test_the_listing_never_passes_its_budget(count: int, budget: int) -> None:
    assert len(catalog_of(count).listing(budget)) <= budget


def test_a_listing_that_fits_has_every_description() -> None:
    listing = catalog_of(3).listing()
    assert listing.splitlines()[0].startswith("- skill-0000: Does thing 0 word")
    assert len(listing.splitlines()) == 3


def test_names_alone_count_the_ones_that_do_not_fit() -> None:
    listing = catalog_of(1_000).listing(2_000)
    named = listing.count("skill-0")
    assert f"and {1_000 - named} more." in listing
    assert '"?words"' in listing


def test_near_names_come_in_order_of_likeness() -> None:
    catalog = Catalog(
        tuple(Skill(name, "", "d", "user") for name in ("review-change", "write-skill", "deploy"))
    )
    assert catalog.near("reveiw-chnage")[0] == "review-change"
    assert catalog.near("review_change")[0] == "review-change"
    assert catalog.near("qqqq") == ()


def test_search_looks_at_names_and_descriptions() -> None:
    catalog = Catalog(
        (
            Skill("pdf-forms", "Fill in forms of PDF files", "d", "user"),
            Skill("deploy", "Bring a release to production", "d", "user"),
        )
    )
    assert [s.name for s in catalog.search("fill a pdf form")] == ["pdf-forms"]
    assert [s.name for s in catalog.search("production release")] == ["deploy"]
    assert [s.name for s in catalog.search("deplyo")] == ["deploy"]
    assert catalog.search("quantum chromodynamics") == ()


def test_a_shadow_names_both_files() -> None:
    sentence = Shadow("x", "near/SKILL.md", "far/SKILL.md").sentence
    assert sentence == "The skill 'x' is read from near/SKILL.md; it shadows far/SKILL.md."


def tree(root: Path) -> Places:
    """A repository with a good, an odd, a broken and a shadowed skill."""
    build(
        root,
        {
            "repo/.agents/skills/good/SKILL.md": "---\nname: good\ndescription: A\nallowed-tools: Read\n---\nBody\n",
            "repo/.agents/skills/odd/SKILL.md": "---\nname: other\ndescription: A\n---\nBody\n",
            "repo/.agents/skills/broken/SKILL.md": "nothing\n",
            "repo/.claude/skills/good/SKILL.md": "---\nname: good\ndescription: B\n---\nBody\n",
        },
    )
    return Places(root / "repo", shipped=False)


def test_every_finding_becomes_one_warning(tmp_path: Path) -> None:
    warnings = discover(tree(tmp_path)).warnings
    assert len(warnings) == 3
    assert all(str(tmp_path) not in line for line in warnings)


def test_the_report_is_json_and_lines_with_the_same_facts(tmp_path: Path) -> None:
    catalog = discover(tree(tmp_path))
    shape = json.loads(json.dumps(catalog_shape(catalog, ("good",))))
    assert [(s["name"], s["valid"], s["loaded"]) for s in shape["skills"]] == [
        ("good", True, True),
        ("other", False, False),
    ]
    assert shape["skills"][0]["allowed_tools"] == ["Read"] and shape["skills"][1]["allowed_tools"] is None
    assert shape["broken"][0]["diagnostics"][0]["code"] == "no-front-matter"
    assert shape["shadows"] == [
        {"name": "good", "used": ".agents/skills/good/SKILL.md", "hidden": ".claude/skills/good/SKILL.md"}
    ]
    text = "\n".join(catalog_lines(catalog, ("good",)))
    assert "good  (project, .agents/skills/good/SKILL.md, loaded)" in text
    assert "[no-front-matter]" in text and "[name-mismatch]" in text and "shadows" in text


def test_checking_a_repository_finds_its_skills_and_says_whether_all_are_valid(tmp_path: Path) -> None:
    tree(tmp_path)
    checked = check(tmp_path / "repo")
    assert [(s.location, s.valid) for s in checked.skills] == [
        (".agents/skills/broken/SKILL.md", False),
        (".agents/skills/good/SKILL.md", True),
        (".agents/skills/odd/SKILL.md", False),
        (".claude/skills/good/SKILL.md", True),
    ]
    assert not checked.valid and checked_shape(checked)["valid"] is False
    assert checked_lines(checked)[-1] == "4 skills checked, 2 invalid."


def test_checking_takes_one_folder_or_one_file_too(tmp_path: Path) -> None:
    tree(tmp_path)
    folder = tmp_path / "repo/.agents/skills/good"
    for path in (folder, folder / "SKILL.md"):
        (skill,) = check(path).skills
        assert skill.name == "good" and skill.valid


def test_nonsense_limits_are_refused() -> None:
    with pytest.raises(ValueError, match="depth"):
        Limits(depth=0)


def test_each_directory_is_looked_at_in_three_places() -> None:
    assert ["/".join(folder) for folder in FOLDERS] == [".agents/skills", ".steward/skills", ".claude/skills"]
