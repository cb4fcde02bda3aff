"""A tool that reads is run for the command line without a conversation, and says what it says in one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.proposals.apply import apply
from steward.service import House
from steward.service.tool_call import run_alone
from steward.tools import ToolResult
from tests.support import asked, patch, plant, steward_in

TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Root rules\n",
    "src/AGENTS.md": "# Source rules\n",
    "src/app.py": "def answer():\n    return 41\n",
    "src/key.py": "KEY = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'\n",
    "web/.agents/skills/paint/SKILL.md": "---\nname: paint\ndescription: Paint a page.\n---\nUse colours.\n",
    "web/page.js": "let x = 1;\n",
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("listFiles", {}),
    ("listFiles", {"path": "src", "depth": 2}),
    ("listFiles", {"path": "web"}),
    ("listFiles", {"path": "nowhere"}),
    ("listFiles", {"depth": 0}),
    ("searchFiles", {"query": "return"}),
    ("searchFiles", {"query": "KEY", "path": "src"}),
    ("searchFiles", {"query": "(", "regex": True}),
    ("readFile", {"path": "src/app.py"}),
    ("readFile", {"path": "src/key.py"}),
    ("readFile", {"path": "web/page.js"}),
    ("readFile", {"path": "../outside"}),
    ("readFile", {}),
]


def _house(tmp_path: Path, **settings: Any) -> House:
    root = plant(tmp_path / "repository", TREE)
    return House(root, Settings.model_validate(settings), state=tmp_path / "state")


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: json.dumps(value))
async def test_the_answer_is_that_of_a_conversation(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    house = _house(tmp_path)
    said = json.dumps(arguments)
    alone = await asyncio.to_thread(run_alone, house, name, said)
    house.close()
    steward, _ = steward_in(tmp_path / "repository", [])
    assert await steward.run_tool(name, said) == alone
    await steward.close()
    assert isinstance(alone, ToolResult)
    if arguments.get("path") == "src":
        assert "Source rules" in alone.text and "ghp_" not in alone.text
    if arguments.get("path", "").startswith("web"):
        assert "paint" in alone.text


@pytest.mark.parametrize("name", ["proposePatch", "Skill", "applyChange", ""])
def test_whatever_does_more_than_read_takes_a_conversation(tmp_path: Path, name: str) -> None:
    house = _house(tmp_path)
    assert run_alone(house, name, "{}") is None
    house.close()


def test_a_tool_that_the_profile_does_not_have_takes_a_conversation_that_says_so(tmp_path: Path) -> None:
    root = plant(tmp_path / "repository", TREE)
    settings = Settings.model_validate({"profile": {"reader": {"tools": ["readFile"]}}})
    house = House(root, settings, state=tmp_path / "state", profile="reader")
    assert run_alone(house, "listFiles", "{}") is None
    assert run_alone(house, "readFile", '{"path": "src/app.py"}') is not None
    house.close()


async def test_a_change_that_was_cut_off_is_settled_before_anything_is_read(tmp_path: Path) -> None:
    root = plant(tmp_path / "repository", TREE)
    again = {"calls": [patch("src/app.py", "41", "42")]}
    steward, _ = steward_in(root, [again, again, {"text": "Done."}])
    await steward.start()
    await asked(steward, "change it")
    (view,) = await steward.changes()
    house = House(root, Settings(), state=tmp_path / "state")
    assert await asyncio.to_thread(run_alone, house, "listFiles", "{}") is not None
    apply(view.proposal, house.workspace, house.state)
    assert await asyncio.to_thread(run_alone, house, "listFiles", "{}") is None
    house.changes.recover()
    assert await asyncio.to_thread(run_alone, house, "listFiles", "{}") is not None
    house.close()
    await steward.close()
