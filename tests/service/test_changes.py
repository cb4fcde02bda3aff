"""Only what a person was shown is written, under the stamp they saw, and never over what changed meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from steward.errors import Conflict, NeedsPerson, NoSuchThing, StaleProposal, StampMismatch, WrongStatus
from steward.events import ChangesMoved
from steward.proposals import FileChange, Proposal, overlaps
from steward.service import Steward
from steward.service.changes import others, touching
from tests.support import asked, call, patch, plant, steward_in

READ = {"calls": [call("readFile", path="src/app.py"), call("readFile", path="web/page.js")]}
BOTH = {"calls": [patch("src/app.py", "41", "42"), patch("web/page.js", "x = 1", "x = 9")]}
SAID = {"text": "Proposed."}


@pytest.fixture
async def steward(tmp_path: Path) -> AsyncIterator[Steward]:
    root = plant(tmp_path / "repository")
    opened, _ = steward_in(root, [READ, BOTH, SAID])
    await opened.start()
    await asked(opened, "Change both")
    yield opened
    await opened.close()


async def reopened(steward: Steward, replies: list[Any] | None = None) -> Steward:
    other, _ = steward_in(steward.root, replies or [])
    await other.start()
    return other


def content(steward: Steward, path: str) -> bytes:
    return (steward.root / path).read_bytes()


async def test_a_change_is_applied_under_the_stamp_that_was_shown(steward: Steward) -> None:
    review = await steward.review()
    assert [(c.path, c.added, c.removed) for c in review.counts] == [
        ("src/app.py", 1, 1),
        ("web/page.js", 1, 1),
    ]
    done = await steward.apply_change(review.proposal.id, review.proposal.stamp)
    assert done.paths == ("src/app.py", "web/page.js")
    assert content(steward, "web/page.js") == b"let x = 9;\r\nlet y = 2;\r\n"
    assert (await steward.changes()) == ()
    assert (await steward.changes(everything=True))[0].proposal.status == "applied"


async def test_what_was_not_shown_is_not_applied(steward: Steward) -> None:
    (view,) = await steward.changes()
    with pytest.raises(NeedsPerson, match="must be shown"):
        await steward.apply_change(view.proposal.id, view.proposal.stamp)
    assert b"41" in content(steward, "src/app.py")


async def test_after_a_restart_it_must_be_shown_again(steward: Steward) -> None:
    review = await steward.review()
    other = await reopened(steward)
    with pytest.raises(NeedsPerson):
        await other.apply_change(review.proposal.id, review.proposal.stamp)
    again = await other.review()
    assert again.proposal.stamp == review.proposal.stamp
    await other.apply_change(again.proposal.id, again.proposal.stamp)
    await other.close()


@pytest.mark.parametrize("cut", [12, 63, 0])
async def test_part_of_a_stamp_is_not_enough_on_the_screen(steward: Steward, cut: int) -> None:
    review = await steward.review()
    with pytest.raises(StampMismatch):
        await steward.apply_change(review.proposal.id, review.proposal.stamp[:cut])


async def test_a_file_changed_meanwhile_is_not_overwritten(steward: Steward) -> None:
    review = await steward.review()
    (steward.root / "web/page.js").write_bytes(b"let x = 1; // theirs\r\n")
    with pytest.raises(StaleProposal, match=r"web/page\.js"):
        await steward.apply_change(review.proposal.id, review.proposal.stamp)
    assert content(steward, "web/page.js") == b"let x = 1; // theirs\r\n"
    assert b"41" in content(steward, "src/app.py")
    (view,) = await steward.changes()
    assert [s.path for s in view.stale] == ["web/page.js"]


async def test_an_applied_change_is_not_applied_twice(steward: Steward) -> None:
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    with pytest.raises(WrongStatus):
        await steward.apply_change(review.proposal.id, review.proposal.stamp)


async def test_undo_brings_back_exactly_that_change(steward: Steward) -> None:
    before = {path: content(steward, path) for path in ("src/app.py", "web/page.js")}
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    await steward.undo_change()
    assert {path: content(steward, path) for path in before} == before
    assert (await steward.changes(everything=True))[0].proposal.status == "undone"
    with pytest.raises(NoSuchThing):
        await steward.undo_change()


async def test_undo_never_removes_what_came_after(steward: Steward) -> None:
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    (steward.root / "src/app.py").write_bytes(b"later work\n")
    with pytest.raises(Conflict):
        await steward.undo_change("1")
    assert content(steward, "src/app.py") == b"later work\n" and b"x = 9" in content(steward, "web/page.js")


async def test_a_stale_change_is_reanchored_with_a_new_stamp_and_read_again(steward: Steward) -> None:
    review = await steward.review()
    (steward.root / "src/app.py").write_bytes(b"# a new first line\ndef answer():\n    return 41\n")
    moved = await steward.rebase_change("change-001")
    assert moved.stamp != review.proposal.stamp
    with pytest.raises(NeedsPerson):
        await steward.apply_change("change-001", moved.stamp)
    again = await steward.review()
    await steward.apply_change("change-001", again.proposal.stamp)
    assert content(steward, "src/app.py") == b"# a new first line\ndef answer():\n    return 42\n"


async def test_applying_one_of_two_overlapping_changes_reanchors_the_other(tmp_path: Path) -> None:
    root = plant(tmp_path / "repository")
    steward, _ = steward_in(
        root,
        [
            READ,
            {"calls": [patch("src/app.py", "41", "42")]},
            {"calls": [patch("src/app.py", "answer", "reply", change="new")]},
            SAID,
        ],
    )
    await steward.start()
    await asked(steward, "Two changes")
    views = await steward.changes()
    assert [(v.proposal.id, v.overlaps) for v in views] == [
        ("change-002", ("change-001",)),
        ("change-001", ("change-002",)),
    ]
    first = await steward.review("change-001")
    second = await steward.review("change-002")
    done = await steward.apply_change("change-001", first.proposal.stamp)
    assert any("change-002 was re-anchored" in warning for warning in done.warnings)
    with pytest.raises((NeedsPerson, StampMismatch)):
        await steward.apply_change("change-002", second.proposal.stamp)
    again = await steward.review("change-002")
    assert again.stale == ()
    await steward.apply_change("change-002", again.proposal.stamp)
    assert (root / "src/app.py").read_bytes() == b"def reply():\n    return 42\n"
    await steward.close()


async def test_instructions_that_changed_since_are_named_in_the_review(steward: Steward) -> None:
    assert (await steward.review()).instructions_changed == ()
    (steward.root / "src/AGENTS.md").write_text("# Other rules\n")
    (steward.root / "web/AGENTS.md").unlink()
    assert set((await steward.review()).instructions_changed) == {"src/AGENTS.md", "web/AGENTS.md"}


async def test_everything_is_told_to_who_listens(steward: Steward) -> None:
    heard: list[Any] = []

    async def listen() -> None:
        async for event in steward.listen():
            heard.append(event)

    task = asyncio.create_task(listen())
    await asyncio.sleep(0)
    review = await steward.review()
    await steward.apply_change(review.proposal.id, review.proposal.stamp)
    await asyncio.sleep(0)
    assert any(isinstance(event, ChangesMoved) for event in heard)
    task.cancel()


async def test_a_change_that_is_not_there_is_named(steward: Steward) -> None:
    with pytest.raises(NoSuchThing, match="change-099"):
        await steward.review("change-099")
    assert (await steward.review("1")).proposal.id == "change-001"


async def test_a_pending_file_that_changes_on_disk_is_told_by_itself(tmp_path: Path) -> None:
    root = plant(tmp_path / "repository")
    steward, _ = steward_in(root, [READ, BOTH, SAID], watch=True)
    await steward.start()
    await asked(steward, "Change both")
    events = steward.listen()
    waiting = asyncio.ensure_future(anext(events))
    await asyncio.sleep(0.2)
    (root / "web/page.js").write_bytes(b"theirs\n")
    async with asyncio.timeout(20):
        while True:
            event = await waiting
            views = await steward.changes()
            if isinstance(event, ChangesMoved) and views[0].stale:
                break
            waiting = asyncio.ensure_future(anext(events))
    assert [stale.path for stale in views[0].stale] == ["web/page.js"]
    await steward.close()


def test_changes_that_share_a_path_are_found_however_many_wait() -> None:
    """Each change is compared with those that touch its own paths, never with all."""
    looked: list[str] = []

    class Counting(dict[str, list[str]]):
        def get(self, key: str, default: Any = None) -> Any:
            looked.append(key)
            return super().get(key, default)

    def change(number: int, *paths: str, old: str | None = None) -> Proposal:
        files = tuple(FileChange(path, "modify", b"1", b"2", 0, 0, old) for path in paths)
        return Proposal(f"change-{number:03d}", "t", "", files, "w")

    pending = [change(number, f"f{number}", f"g{number % 7}") for number in range(1, 40)]
    pending += [change(999, "f1"), change(1000, "moved", old="f2")]
    among = touching(pending)
    for one in pending:
        wanted = [two.id for two in pending if two.id != one.id and overlaps(one, two)]
        assert others(one, among) == wanted
    assert others(pending[-2], Counting(among)) == ["change-001"] and looked == ["f1"]
