"""Whatever changes on disk during a conversation is noticed, told once, and never lost when a look is given up."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.skills import Places, discover
from steward.skills.reach import Reach
from tests.skills.trees import build


def skill_md(name: str, description: str = "A") -> str:
    """The text of a SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\nBody\n"


def reaching(root: Path, tree: dict[str, Any], **more: Any) -> Reach:
    """A conversation in ``root/repo`` that has looked once and found nothing new."""
    build(root, {"repo/.git/HEAD": "ref: x\n", **tree})
    places = Places(root / "repo", home=root / "home", shipped=False, **more)
    reach = Reach(discover(places), places)
    assert told(reach) == ""
    return reach


def told(reach: Reach, *paths: str) -> str:
    """What the model is told after a tool touched these paths."""
    reach.take(reach.look(*(paths or (".",))))
    return reach.news(())


def rewrite(path: str, text: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).write_text(text)

    return change


def _nothing(location: str, digest: str) -> bool:
    return False


def write(path: str, text: str) -> Callable[[Path], None]:
    return lambda root: build(root, {path: text})


def rename(old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / old).rename(root / new)

    return change


ONE = "repo/.agents/skills/one/SKILL.md"


@pytest.mark.parametrize(
    ("tree", "change", "says"),
    [
        ({}, write(ONE, skill_md("one")), "- one: A"),
        ({"repo/.agents/x": "x"}, write(ONE, skill_md("one")), "- one: A"),
        (
            {"repo/.agents/skills/g/h/x": "x"},
            write("repo/.agents/skills/g/h/two/SKILL.md", skill_md("two")),
            "- two: A",
        ),
        (
            {"repo/.agents/skills/g/h/x": "x"},
            write("repo/.agents/skills/g/h/SKILL.md", skill_md("h")),
            "- h: A",
        ),
        ({}, write("home/.claude/skills/mine/SKILL.md", skill_md("mine")), "- mine: A"),
        ({ONE: "broken\n"}, rewrite(ONE, skill_md("one")), "- one: A"),
        ({ONE: skill_md("one")}, rewrite(ONE, "broken\n"), "The skill 'one' is gone."),
        ({ONE: skill_md("one")}, rewrite(ONE, skill_md("one", "B")), "The skill 'one' is now the one in"),
        ({ONE: skill_md("one")}, rewrite(ONE, skill_md("uno")), "The skill 'one' is gone."),
        ({ONE: skill_md("one")}, rename("repo/.agents/skills/one", "repo/gone"), "The skill 'one' is gone."),
        (
            {ONE: skill_md("one"), "home/.agents/skills/one/SKILL.md": skill_md("one")},
            rewrite("home/.agents/skills/one/SKILL.md", skill_md("mine")),
            "- mine: A",
        ),
        (
            {"repo/.agents/skills/l": {"link": "../../elsewhere"}, "repo/x": "x"},
            write("repo/elsewhere/SKILL.md", skill_md("l")),
            "- l: A",
        ),
    ],
)
def test_a_change_is_told_once(
    tree: dict[str, Any], change: Callable[[Path], None], says: str, tmp_path: Path
) -> None:
    reach = reaching(tmp_path, tree)
    change(tmp_path)
    assert says in told(reach)
    assert told(reach) == ""


def test_an_edit_that_keeps_size_and_time_is_noticed(tmp_path: Path) -> None:
    reach = reaching(tmp_path, {ONE: skill_md("one", "A")})
    before = os.stat(tmp_path / ONE)
    (tmp_path / ONE).write_text(skill_md("one", "B"))
    os.utime(tmp_path / ONE, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "is now the one in" in told(reach)


def test_a_look_that_is_given_up_loses_nothing(tmp_path: Path) -> None:
    reach = reaching(tmp_path, {"repo/module/.agents/skills/deep/SKILL.md": skill_md("deep")})
    reach.look("module/a.py")
    assert reach.catalog.find("deep") is None
    assert "- deep: A" in told(reach, "module/a.py")


def test_looking_for_the_person_leaves_the_news_for_the_model(tmp_path: Path) -> None:
    reach = reaching(tmp_path, {})
    build(tmp_path, {ONE: skill_md("one")})
    reach.take(reach.look())
    assert reach.catalog.find("one") is not None
    assert reach.news(()) == "More skills can be loaded from here on:\n- one: A"
    assert reach.news(()) == ""


def test_several_paths_of_one_result_are_looked_from_in_turn(tmp_path: Path) -> None:
    tree = {f"repo/{name}/.agents/skills/{name}/SKILL.md": skill_md(name) for name in ("a", "b")}
    reach = reaching(tmp_path, dict(tree))
    said = told(reach, "a/x.py", "b/x.py")
    assert "- a: A" in said and "- b: A" in said


def test_skills_that_the_person_trusts_later_are_told_and_those_they_withdraw_are_gone(
    tmp_path: Path,
) -> None:
    reach = reaching(tmp_path, {ONE: skill_md("one")}, trusted=False)
    reach.move(Places(tmp_path / "repo", home=tmp_path / "home", shipped=False))
    assert "- one: A" in told(reach)
    reach.move(
        Places(tmp_path / "repo", home=tmp_path / "home", shipped=False, trusted=False, accepts=_nothing)
    )
    assert told(reach) == "The skill 'one' is gone."


def test_a_look_at_a_thousand_skills_that_have_not_changed_reads_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach = reaching(tmp_path, {f"repo/.agents/skills/s{n}/SKILL.md": skill_md(f"s{n}") for n in range(1000)})

    def forbidden(*_: object) -> bytes:
        raise AssertionError("a file was read")

    monkeypatch.setattr(os, "read", forbidden)
    monkeypatch.setattr(os, "listdir", forbidden)
    assert told(reach) == ""
