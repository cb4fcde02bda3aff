"""Instructions follow the path in every mode, and what is not delivered is said."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.events import InstructionsChanged, Notice, ProposalMade, ToolFinished
from steward.service import Steward
from steward.service.house import House
from tests.support import ScriptedGateway, asked, call, only, patch, plant, steward_in

URL = "https://rules.example/AGENTS.md"


async def opened(folder: Path, replies: list[Any], **instructions: Any) -> tuple[Steward, ScriptedGateway]:
    root = folder / "repository"
    if not root.exists():
        plant(root)
    settings = Settings.model_validate({"instructions": instructions})
    steward, gateway = steward_in(root, replies, settings=settings)
    await steward.start()
    return steward, gateway


async def test_replace_recomposes_the_system_message_for_the_focus_of_each_round(tmp_path: Path) -> None:
    steward, gateway = await opened(
        tmp_path,
        [
            {"calls": [call("readFile", path="src/app.py")]},
            {"calls": [call("readFile", path="web/page.js")]},
            {"text": "Done."},
        ],
        refresh="replace",
    )
    await asked(steward, "Read")
    systems = [gateway.sent(n)[0]["content"] for n in range(3)]
    marks = ["# Root rules", "# Source rules", "# Web rules"]
    assert [[mark in text for mark in marks] for text in systems] == [
        [True, False, False],
        [True, True, False],
        [True, False, True],
    ]
    assert "# Source rules" not in str(gateway.sent()[1:])
    await steward.close()


async def test_replace_shows_a_document_before_it_takes_a_proposal(tmp_path: Path) -> None:
    change = {"calls": [patch("web/page.js", "x = 1", "x = 2")]}
    steward, gateway = await opened(tmp_path, [change, change, {"text": "Done."}], refresh="replace")
    events = await asked(steward, "Change")
    assert [e.ok for e in only(events, ToolFinished)] == [False, True]
    assert "# Web rules" in gateway.sent(1)[0]["content"]
    await steward.close()


async def test_conversation_reads_once_and_still_guards_proposals(tmp_path: Path) -> None:
    change = {"calls": [patch("web/page.js", "x = 1", "x = 2")]}
    steward, _gateway = await opened(
        tmp_path,
        [{"calls": [call("readFile", path="src/app.py")]}, change, change, {"text": "Done."}],
        refresh="conversation",
    )
    events = await asked(steward, "Read and change")
    read, refused, accepted = only(events, ToolFinished)
    assert "# Source rules" not in read.text
    assert not refused.ok and "# Web rules" in refused.text and accepted.ok
    await steward.close()


def test_the_ends_of_links_and_the_documents_that_were_named_are_watched_too(tmp_path: Path) -> None:
    root = plant(tmp_path / "repository")
    for name in ("docs/rules.md", "named/more.md", "other/x.md"):
        (root / name).parent.mkdir()
        (root / name).write_text("# Rules\n")
    (root / "src/AGENTS.md").unlink()
    (root / "src/AGENTS.md").symlink_to("../docs/rules.md")
    (tmp_path / "mine.md").write_text("# Mine\n")
    settings = Settings.model_validate({"instructions": {"files": ["named/*.md", str(tmp_path / "mine.md")]}})
    house = House(root, settings, state=tmp_path / "state")
    watched = house.directories_that_matter("src/app.py")
    house.close()
    assert {root, root / "src", root / "docs", root / "named"} <= watched
    assert root / "other" not in watched and tmp_path not in watched


async def test_switched_off_is_visible_in_the_view_and_on_the_proposal(tmp_path: Path) -> None:
    steward, gateway = await opened(
        tmp_path, [{"calls": [patch("src/app.py", "41", "42")]}, {"text": "Done."}], enabled=False
    )
    events = await asked(steward, "Change")
    assert "# Root rules" not in str(gateway.sent())
    (made,) = only(events, ProposalMade)
    assert made.proposal.notes == ("Proposed with instructions switched off.",)
    assert not (await steward.instructions()).enabled
    await steward.close()


async def test_a_url_is_fetched_once_per_conversation_and_a_failure_leaves_the_last_copy(
    tmp_path: Path,
) -> None:
    steward, gateway = await opened(tmp_path, [{"text": "One."}, {"text": "Two."}], files=[URL])
    gateway.pages[URL] = b"# Rules from afar\n"
    await asked(steward, "One")
    gateway.pages[URL] = b"# Changed meanwhile\n"
    await asked(steward, "Two")
    assert "# Rules from afar" in gateway.sent()[0]["content"] and "Changed" not in str(gateway.sent())
    await steward.close()
    again, gateway = await opened(tmp_path, [{"text": "Three."}], files=[URL])
    events = await asked(again, "Three")
    assert "# Rules from afar" in gateway.sent()[0]["content"]
    assert any("could not be" in n.text and "rules.example" in n.text for n in only(events, Notice))
    await again.close()


async def test_a_url_that_never_answered_is_named(tmp_path: Path) -> None:
    steward, _ = await opened(tmp_path, [{"text": "One."}], files=[URL])
    events = await asked(steward, "One")
    skipped = [pair for e in only(events, InstructionsChanged) for pair in e.skipped]
    assert any("rules.example" in path and "could not be fetched" in reason for path, reason in skipped)
    await steward.close()


async def test_the_view_tells_how_each_document_stands(tmp_path: Path) -> None:
    steward, _ = await opened(tmp_path, [{"calls": [call("readFile", path="src/app.py")]}, {"text": "Done."}])
    await asked(steward, "Read")
    here = await steward.instructions()
    assert [(d.path, d.state) for d in here.documents] == [
        ("AGENTS.md", "in-effect"),
        ("src/AGENTS.md", "arrived"),
    ]
    there = await steward.instructions("web/page.js")
    states = {d.path: d.state for d in there.documents}
    assert states["web/AGENTS.md"] == "pending" and states["src/AGENTS.md"] == "delivered"
    await steward.close()


@pytest.mark.parametrize("refresh", ["append", "conversation"])
async def test_the_conversation_stays_append_only(tmp_path: Path, refresh: str) -> None:
    steward, gateway = await opened(
        tmp_path,
        [{"calls": [call("readFile", path=p)]} for p in ("src/app.py", "src/deep/inner.py", "web/page.js")]
        + [{"text": "Done."}],
        refresh=refresh,
    )
    await asked(steward, "Read")
    texts = [request.messages for request in gateway.requests]
    assert all(after.startswith(before[:-1]) for before, after in itertools.pairwise(texts))
    await steward.close()
