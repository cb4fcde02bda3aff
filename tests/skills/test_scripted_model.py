"""A scripted model over the real loop: right, wrong, misspelt, shadowed and locked skills."""

from __future__ import annotations

from pathlib import Path

from steward.config import Settings
from steward.events import ToolFinished
from steward.service.house import House
from steward.service.steward import Steward
from tests.skills.trees import build

SCRIPT = Path(__file__).parents[2] / "fixtures" / "skills" / "scripted.jsonl"

TREE = {
    "repo/.git/HEAD": "ref: refs/heads/main\n",
    "repo/notes.txt": "one\n",
    "repo/other.txt": "one\n",
    "repo/module/a.py": "pass\n",
    "repo/.agents/skills/look-only/SKILL.md": (
        "---\nname: look-only\ndescription: Look.\nallowed-tools: Read Grep\n---\nNear: only look.\n"
    ),
    "repo/module/.agents/skills/deep/SKILL.md": "---\nname: deep\ndescription: Deep down.\n---\nDig.\n",
    "home/.agents/skills/look-only/SKILL.md": "---\nname: look-only\ndescription: Mine.\n---\nFar: touch all.\n",
}


async def turn(steward: Steward, question: str) -> list[ToolFinished]:
    """The finished tool calls of one turn."""
    return [event async for event in steward.ask(question) if isinstance(event, ToolFinished)]


async def test_a_model_finds_its_skill_and_is_held_by_its_lock_until_the_turn_ends(tmp_path: Path) -> None:
    build(tmp_path, TREE)
    house = House(tmp_path / "repo", Settings(), state=tmp_path / "state", home=tmp_path / "home")
    steward = Steward(house, model=f"script/{SCRIPT}", watch=False)
    try:
        await steward.start()
        wrong, misspelt, free, loaded, locked, read, listed, deep = await turn(steward, "Look at it.")
        assert not wrong.ok and "There is no skill 'nonsense'" in wrong.text
        assert not misspelt.ok and "look-only" in misspelt.text
        assert free.ok
        assert loaded.ok and "Near: only look." in loaded.text and "Far" not in loaded.text
        assert not locked.ok and "'look-only'" in locked.text
        assert read.ok and read.text.startswith(
            "More skills can be loaded from here on:\n- deep: Deep down.\n\n"
        )
        assert not listed.ok and "'look-only'" in listed.text
        assert deep.ok and "Dig." in deep.text

        again, still = await turn(steward, "Once more.")
        assert "already loaded" in again.text and not still.ok

        (proposed,) = await turn(steward, "Now change it.")
        assert proposed.ok
        assert {file.path for view in await steward.changes() for file in view.proposal.files} == {
            "notes.txt",
            "other.txt",
        }
    finally:
        await steward.close()
