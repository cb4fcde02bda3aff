"""Looking skills up, searching them, listing them within a budget, and reporting them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steward.skills import Catalog, Limits, Places, Shadow, Skill, discover
from steward.skills.catalog import listed
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


@pytest.mark.parametrize(("count", "budget"), [(3, 8_000), (100, 4_000), (1_000, 2_000)])
def test_the_names_of_a_listing_can_be_read_back(count: int, budget: int) -> None:
    catalog = catalog_of(count)
    found = listed(catalog.listing(budget), catalog)
    assert set(found) <= {skill.name for skill in catalog.skills} and all(found.values())
    assert len(found) == count or (budget == 2_000 and len(found) > 100)
    assert listed(Catalog().listing(), catalog) == {}


def test_names_alone_count_the_ones_that_do_not_fit() -> None:
    listing = catalog_of(1_000).listing(2_000)
    named = listing.count("skill-0")
    assert f"and {1_000 - named} more." in listing
    assert '"?words"' in listing


def test_a_list_without_room_for_descriptions_is_told_to_the_person() -> None:
    assert Catalog().squeezed() == catalog_of(3).squeezed() == ""
    assert catalog_of(100).squeezed() == (
        "The model is told of 100 skills by name alone: with descriptions the list would pass 8,000 characters."
    )
    assert catalog_of(1_000).squeezed(2_000) == (
        "The model is told of 1,000 skills by name alone, and of 843 of them not at all: with descriptions the list "
        "would pass 2,000 characters."
    )


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
    good, other, broken = json.loads(json.dumps(catalog_shape(catalog, ("good",))))
    assert [(s["name"], s["valid"], s["loaded"]) for s in (good, other)] == [
        ("good", True, True),
        ("other", False, False),
    ]
    assert good["allowed_tools"] == ["Read"] and other["allowed_tools"] is None
    assert broken["diagnostics"][0]["code"] == "no-front-matter" and not broken["loadable"]
    assert good["shadows"] == [".claude/skills/good/SKILL.md"] and other["shadows"] == []
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
    assert checked_lines(checked)[-1] == "4 skills checked, 2 invalid: 2 errors, 1 warning."


def test_a_check_names_the_files_that_instructions_name_and_nobody_would_be_given(tmp_path: Path) -> None:
    body = (
        "---\nname: one\ndescription: A\n---\n"
        "[a](references/a.md#part) `references/b.md` `scripts/`\n[web](https://example.org/x.md) [top](#one)\n"
        "```\n[example](references/in-a-fence.md)\n```\n"
        "[out](../two/x.md) [spaces](my%20file.md) [more](<my file.md>) [gone](gone.md)\n"
        f"[dot](.env) [link](l/x.md) [long](references/{'x' * 5000}.md) [nul](a%00b)\n"
    )
    tree = {"one/SKILL.md": body, "one/references/a.md": "a\n", "one/my file.md": "b\n", "one/.env": "K\n"}
    build(tmp_path, {**tree, "one/l": {"link": "references"}, "one/references/x.md": "x\n"})
    (skill,) = check(tmp_path).skills
    assert [(d.code, d.line, d.sentence.split()[0]) for d in skill.diagnostics] == [
        ("missing-file", 5, "references/b.md"),
        ("closed-file", 10, "../two/x.md"),
        ("missing-file", 10, "gone.md"),
        ("closed-file", 11, ".env"),
        ("closed-file", 11, "l/x.md"),
        ("missing-file", 11, f"references/{'x' * 5000}.md"),
    ]
    assert skill.valid


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("allowed_tools: Read", "no field allowed_tools; write allowed-tools."),
        ("tools: Read", "no field tools; write allowed-tools."),
        ("License: MIT", "no field License; write license."),
        ("version: 1", "no field version."),
    ],
)
def test_a_field_that_is_nearly_right_is_told_what_it_should_be(
    field: str, said: str, tmp_path: Path
) -> None:
    build(tmp_path, {"one/SKILL.md": f"---\nname: one\ndescription: A\n{field}\n---\nBody\n"})
    (skill,) = check(tmp_path).skills
    assert [d.sentence.partition("has ")[2] for d in skill.diagnostics] == [said]


def test_a_check_names_what_only_other_programs_would_replace(tmp_path: Path) -> None:
    body = (
        "---\nname: one\ndescription: A\n---\nDeploy $ARGUMENTS with ${CLAUDE_SKILL_DIR}/go.sh.\n"
        "State: !`git status`, again $ARGUMENTS; costs $5, ${PATH}, hurrah!`x`\n"
        "```sh\necho ${HOME}\n```\n"
    )
    build(tmp_path, {"one/SKILL.md": body})
    (skill,) = check(tmp_path).skills
    assert [(d.code, d.line, d.sentence.split()[8]) for d in skill.diagnostics] == [
        ("placeholder", 5, "$ARGUMENTS;"),
        ("placeholder", 5, "${CLAUDE_SKILL_DIR};"),
        ("placeholder", 6, "!`…`;"),
    ]
    assert skill.valid


def test_a_check_finds_what_other_programs_keep_and_what_lies_where_only_folders_are_looked_for(
    tmp_path: Path,
) -> None:
    skill = "---\nname: {}\ndescription: A\n---\nBody\n"
    build(
        tmp_path,
        {
            ".github/skills/far/SKILL.md": skill.format("far"),
            ".agents/skills/SKILL.md": skill.format("skills"),
            ".agents/skills/near/SKILL.md": skill.format("near"),
            ".claude/skills/flat.md": skill.format("flat"),
            ".claude/skills/README.md": "# About these\n",
            "docs/review.md": skill.format("no-skill"),
        },
    )
    checked = check(tmp_path)
    assert [found.name for found in checked.skills] == ["skills", "near", "far"]
    assert checked.notes == (
        ".agents/skills/SKILL.md lies beside the folders of other skills; give it a folder of its own.",
        ".claude/skills/flat.md is not read; a skill is a folder with a SKILL.md in it.",
    )


def test_the_model_is_told_nothing_of_a_skill_that_its_author_keeps_from_it(tmp_path: Path) -> None:
    held = "---\nname: deploy\ndescription: Deploy it.\ndisable-model-invocation: true\n---\nBody\n"
    free = "---\nname: deploys\ndescription: Explain deploys.\ndisable-model-invocation: false\n---\nBody\n"
    build(
        tmp_path, {"repo/.agents/skills/deploy/SKILL.md": held, "repo/.agents/skills/deploys/SKILL.md": free}
    )
    catalog = discover(Places(tmp_path / "repo", shipped=False))
    assert [skill.name for skill in catalog.skills] == ["deploy", "deploys"]
    assert catalog.listing() == "- deploys: Explain deploys."
    for words in ("deploy", ""):
        assert [skill.name for skill in catalog.search(words)] == ["deploys"]
    assert catalog.near("deplo") == ("deploys",)
    assert set(catalog.near("deplo", by_hand=True)) == {"deploy", "deploys"}
    assert "    only loaded by hand: /skill deploy" in catalog_lines(catalog)
    assert [shape["by_hand"] for shape in catalog_shape(catalog)] == [True, False]


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


def test_the_name_of_a_folder_cannot_begin_a_line_of_its_own(tmp_path: Path) -> None:
    skill = "---\nname: odd\ndescription: A\n---\nBody\n"
    name = "odd\ngood  (shipped, shipped/good/SKILL.md)\x1b[2J"
    build(
        tmp_path,
        {f"repo/.agents/skills/{name}/SKILL.md": skill, f"repo/{name}/.agents/skills/x/SKILL.md": skill},
    )
    catalog = discover(Places(tmp_path / "repo", shipped=False), name)
    texts = [
        *catalog_lines(catalog),
        *checked_lines(check(tmp_path / "repo")),
        *catalog.warnings,
        *(found.location for found in catalog.skills),
    ]
    assert len(catalog.skills) == 1 and any("odd␊good" in text for text in texts)
    assert not [text for text in texts if "\n" in text or "\x1b" in text]
