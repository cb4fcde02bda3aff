"""Skills that a person keeps elsewhere and links into their own folders, and what such a link never opens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steward.skills import Catalog, Places, discover
from steward.skills.files import Unreadable, read_reference
from tests.skills.trees import build


def skill(name: str) -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n---\nBody of {name}.\n"


def catalog(root: Path, tree: dict[str, Any]) -> Catalog:
    """What is found with the tree's ``home`` and ``repo``."""
    build(root, {"repo/.git/HEAD": "ref: refs/heads/main\n", "home/.profile": "", **tree})
    return discover(Places(root / "repo", home=root / "home", shipped=False))


def test_a_linked_skill_is_found_where_the_link_stands_and_gives_its_files(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "dotfiles/skills/notes/SKILL.md": skill("notes"),
            "dotfiles/skills/notes/references/more.md": "More.\n",
            "dotfiles/link": {"link": "skills"},
            "home/.claude/skills/notes": {"link": "../../../dotfiles/link/notes"},
        },
    )
    assert found.notes == ()
    (one,) = found.skills
    assert (one.name, one.source, one.location) == ("notes", "user", "~/.claude/skills/notes/SKILL.md")
    assert "Body of notes." in one.load().body
    assert (
        one.load().files == ("references/more.md",) and read_reference(one, "references/more.md") == "More.\n"
    )


def test_the_same_skill_linked_twice_is_one(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "kept/notes/SKILL.md": skill("notes"),
            "home/.agents/skills/notes": {"link": str(tmp_path / "kept/notes")},
            "home/.claude/skills/notes": {"link": str(tmp_path / "kept/notes")},
        },
    )
    assert [one.location for one in found.skills] == ["~/.agents/skills/notes/SKILL.md"]
    assert found.shadows == () and found.notes == ()


def test_links_to_anything_but_a_skill_are_reported_with_the_way_out(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "kept/many/notes/SKILL.md": skill("notes"),
            "kept/file": "x",
            "home/.claude/skills/many": {"link": str(tmp_path / "kept/many")},
            "home/.claude/skills/file": {"link": str(tmp_path / "kept/file")},
            "home/.claude/skills/gone": {"link": "nowhere"},
            "home/.claude/skills/loop": {"link": "loop"},
            "home/.claude/skills/deeper/notes": {"link": str(tmp_path / "kept/many/notes")},
        },
    )
    assert found.skills == ()
    assert any(
        note.startswith("~/.claude/skills/many is a link") and "skills.directories" in note
        for note in found.notes
    )
    assert any(note.startswith("~/.claude/skills/deeper/notes is a link") for note in found.notes)


def test_a_link_into_the_repository_is_not_a_way_around_its_trust(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "repo/tools/notes/SKILL.md": skill("notes"),
            "home/.claude/skills/notes": {"link": str(tmp_path / "repo/tools/notes")},
        },
    )
    assert found.skills == () and "~/.claude/skills/notes is a link" in found.notes[0]


def test_a_link_in_the_repository_leads_to_no_folder_of_the_persons(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "kept/notes/SKILL.md": skill("notes"),
            "repo/.claude/skills/notes": {"link": str(tmp_path / "kept/notes")},
            "home/.claude/skills/other": {"link": str(tmp_path / "kept/notes")},
        },
    )
    assert [(one.source, one.location) for one in found.skills] == [
        ("user", "~/.claude/skills/other/SKILL.md")
    ]
    assert found.notes == (".claude/skills/notes is a link that leads outside; it was not followed.",)


def test_links_inside_a_linked_skill_stay_inside_it(tmp_path: Path) -> None:
    found = catalog(
        tmp_path,
        {
            "secret/key.md": "KEY\n",
            "kept/notes/SKILL.md": {"link": "../../secret/key.md"},
            "kept/other/SKILL.md": skill("other"),
            "kept/other/references": {"link": "../../secret"},
            "home/.claude/skills/notes": {"link": str(tmp_path / "kept/notes")},
            "home/.claude/skills/other": {"link": str(tmp_path / "kept/other")},
        },
    )
    assert [one.name for one in found.skills] == ["other"]
    assert [broken.location for broken in found.broken] == ["~/.claude/skills/notes/SKILL.md"]
    assert found.skills[0].load().files == ()
    with pytest.raises(Unreadable):
        read_reference(found.skills[0], "references/key.md")
