"""A person leaves parts of a change out, writes in it, comments on it: each makes a new stamp, and the model hears."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import Conflict, NeedsPerson, NoSuchThing, StampMismatch, UsageError, WrongStatus
from steward.proposals import Choice, FileChange
from steward.service import Steward
from steward.service.reading import Kept
from steward.service.revising import Comment, edit_result
from tests.service.rooms import ONE, Rooms
from tests.support import ScriptedGateway, asked, call, patch, plant, steward_in

LONG = "".join(f"line {n}\n" for n in range(1, 41))
READ = {"calls": [call("readFile", path="long.txt"), call("readFile", path="src/app.py")]}
PROPOSED = {
    "calls": [
        patch("long.txt", "line 2\n", "line two\n"),
        patch("long.txt", "line 20\n", "line twenty\nline twenty and a half\n"),
        patch("long.txt", "line 39\n", ""),
        patch("src/app.py", "41", "42"),
        patch("new.txt", "", "fresh\n"),
    ]
}
SAID = {"text": "So it is."}


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[tuple[Steward, ScriptedGateway]]:
    root = plant(tmp_path / "repository")
    (root / "long.txt").write_text(LONG)
    steward, gateway = steward_in(root, [READ, PROPOSED, *[SAID] * 9])
    await steward.start()
    await asked(steward, "Change it")
    yield steward, gateway
    await steward.close()


def told(gateway: ScriptedGateway) -> str:
    return str(gateway.sent()[-1]["content"])


async def test_what_is_left_out_is_not_written_and_the_rest_is(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    seen = await steward.review()
    made = await steward.choose(
        "change-001",
        seen.proposal.stamp,
        {"long.txt": Choice((0,), {1: (3, 4)}), "src/app.py": None},
    )
    assert made.stamp != seen.proposal.stamp and made.status == "pending"
    assert [file.path for file in made.files] == ["long.txt", "new.txt"]
    again = await steward.review()
    assert again.proposal == made
    await steward.apply_change(made.id, made.stamp)
    written = (steward.root / "long.txt").read_text()
    assert written == LONG.replace("line 2\n", "line two\n").replace("line 20\n", "line twenty\n")
    assert "41" in (steward.root / "src/app.py").read_text()
    assert (steward.root / "new.txt").read_text() == "fresh\n"


async def test_a_chosen_change_must_be_shown_before_it_is_applied(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    seen = await steward.review()
    made = await steward.choose("change-001", seen.proposal.stamp, {"src/app.py": None})
    for stamp in (made.stamp, seen.proposal.stamp):
        with pytest.raises((NeedsPerson, StampMismatch)):
            await steward.apply_change(made.id, stamp)
    assert (steward.root / "long.txt").read_text() == LONG


async def test_the_model_is_told_which_hunks_were_left_out_and_no_contents(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    seen = await steward.review()
    await steward.choose(
        "change-001", seen.proposal.stamp, {"long.txt": Choice((0,), {1: (3, 4)}), "src/app.py": None}
    )
    await asked(steward, "And now?")
    note = told(gateway)
    assert "some lines of hunk 2 of 3 of long.txt (@@ -17,7 +17,8 @@)" in note
    assert "; hunk 3 of 3 of long.txt (@@ -36,5 +37,4 @@)" in note
    assert "all of src/app.py" in note and "hunk 1 of 3" not in note and "twenty" not in note
    await asked(steward, "And now?")
    assert "left parts" not in told(gateway)


async def test_choosing_everything_changes_nothing(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, gateway = opened
    seen = await steward.review()
    made = await steward.choose("change-001", seen.proposal.stamp, {"long.txt": Choice((0, 1, 2))})
    assert made.stamp == seen.proposal.stamp
    await asked(steward, "And now?")
    assert "left parts" not in told(gateway)
    await steward.apply_change(made.id, made.stamp)


async def test_nothing_at_all_cannot_be_chosen_nor_what_was_not_seen(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    seen = await steward.review()
    nothing: dict[str, Choice | None] = {"long.txt": None, "src/app.py": None, "new.txt": None}
    with pytest.raises(Conflict, match="discard it instead"):
        await steward.choose("change-001", seen.proposal.stamp, nothing)
    with pytest.raises(StampMismatch):
        await steward.choose("change-001", "0" * 64, {"src/app.py": None})
    with pytest.raises(NoSuchThing):
        await steward.choose("change-001", seen.proposal.stamp, {"other.txt": None})
    await steward.discard_change("change-001")
    with pytest.raises(WrongStatus):
        await steward.choose("change-001", seen.proposal.stamp, {"src/app.py": None})


async def test_a_persons_own_edit_is_a_new_result_that_says_so(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    seen = await steward.review()
    mine = b"def answer():\r\n    return 43 # \xff\r\n"
    made = await steward.edit_result("change-001", "src/app.py", mine, seen.proposal.stamp)
    assert made.stamp != seen.proposal.stamp
    assert made.notes[-1] == "You edited src/app.py yourself."
    with pytest.raises((NeedsPerson, StampMismatch)):
        await steward.apply_change(made.id, made.stamp)
    await asked(steward, "And now?")
    assert "change-001 leaves at src/app.py with their own hand" in told(gateway)
    assert (
        "@@ -1,2 +1,2 @@\n-def answer():\n-    return 42\n+def answer():\r\n+    return 43 # \ufffd\r\n"
        in told(gateway)
    )
    await steward.review()
    await steward.apply_change(made.id, made.stamp)
    assert (steward.root / "src/app.py").read_bytes() == mine


async def test_an_edit_back_to_the_base_takes_the_file_out(opened: tuple[Steward, ScriptedGateway]) -> None:
    steward, _ = opened
    seen = await steward.review()
    base = (steward.root / "src/app.py").read_bytes()
    made = await steward.edit_result("change-001", "src/app.py", base, seen.proposal.stamp)
    assert [file.path for file in made.files] == ["long.txt", "new.txt"]
    with pytest.raises(NoSuchThing):
        await steward.edit_result("change-001", "src/app.py", b"x", made.stamp)
    with pytest.raises(StampMismatch):
        await steward.edit_result("change-001", "long.txt", b"x", seen.proposal.stamp)
    with pytest.raises(UsageError, match="at most"):
        await steward.edit_result("change-001", "long.txt", b"x" * 5_000_000, made.stamp)


async def test_comments_are_one_message_with_file_side_lines_and_quotation(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    comments = (
        Comment("long.txt", "base", 39, 39, "Why is it gone?"),
        Comment("long.txt", "result", 20, 21, " One is enough. "),
    )
    message = await steward.comment("change-001", comments)
    assert "1. long.txt, line 39 (base: as the file is now)\n> line 39\nWhy is it gone?" in message
    quoted = "> line twenty\n> line twenty and a half\nOne is enough.\n"
    assert f"2. long.txt, lines 20-21 (result: as you propose it)\n{quoted}" in message
    assert 'change="change-001"' in message
    with pytest.raises(UsageError):
        await steward.comment("change-001", ())
    gone = await steward.comment("change-001", (Comment("other", "base", 1, 1, "Where is it?"),))
    assert "1. other, line 1 (base: as the file is now)\n(no longer in the change)\nWhere is it?" in gone


async def test_an_edit_is_told_without_keys_and_cut_where_it_is_long(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = opened
    key = "sk-ant-api03-" + "Zq3xW9vB7nK2mP5tR8yL" * 4
    seen = await steward.review()
    mine = f"TOKEN = '{key}'\n".encode() + b"".join(b"mine %d\n" % n for n in range(3000))
    made = await steward.edit_result("change-001", "new.txt", mine, seen.proposal.stamp)
    await steward.comment(made.id, [Comment("new.txt", "result", 1, 1, "Is it needed?")])
    await asked(steward, "And now?")
    said = told(gateway)
    assert key not in said and "+TOKEN = '[redacted" in said
    assert "+mine 1\n" in said and "mine 2999" not in said
    assert "more lines of the diff; readFile shows the result]" in said and len(said) < 14_000
    message = await steward.comment(made.id, [Comment("new.txt", "result", 1, 1, "Is it needed?")])
    assert key not in message and "> TOKEN = '[redacted" in message


def test_an_edit_of_one_file_leaves_a_change_of_the_mode_of_another_in_the_change(tmp_path: Path) -> None:
    rooms = Rooms(plant(tmp_path / "repository"))
    page = (rooms.workspace.root / "web/page.js").read_bytes()
    mode = FileChange("web/page.js", "modify", page, page, 0o644, 0o755)
    proposal = rooms.propose(ONE)
    rooms.desk.put(replace(proposal, files=(*proposal.files, mode)))
    stamp = rooms.show(proposal.id).stamp
    made = edit_result(rooms.desk, proposal.id, stamp, "src/app.py", b"mine\n", limit=99)
    assert [file.path for file in made.files] == ["src/app.py", "web/page.js"]
    rooms.close()


async def test_a_reading_is_kept_until_the_change_is_decided_on(
    opened: tuple[Steward, ScriptedGateway],
) -> None:
    steward, _ = opened
    seen = await steward.review()
    assert await steward.reading("change-001") is None
    first = seen.proposal
    said = Comment("long.txt", "result", 20, 21, "One is enough \ud800", "change-001")
    await steward.keep_reading(first.id, Kept(first.stamp, ((0, "+", 20),), (2,), (said,)))
    kept = await steward.reading(first.id)
    assert kept == Kept(first.stamp, ((0, "+", 20),), (2,), (said,))
    second = await steward.choose(first.id, first.stamp, {"src/app.py": None})
    kept = await steward.reading(first.id)
    assert kept is not None and kept.before is not None
    assert (kept.stamp, kept.before.stamp) == (first.stamp, first.stamp)
    assert kept.before.files[1].result == first.files[1].result
    # A version that was never looked at does not take the place of the one that was.
    third = await steward.choose(first.id, second.stamp, {"new.txt": None})
    kept = await steward.reading(first.id)
    assert kept is not None and kept.before is not None and kept.before.stamp == first.stamp
    await steward.keep_reading(first.id, Kept(third.stamp))
    await steward.choose(first.id, third.stamp, {"long.txt": Choice((0,))})
    kept = await steward.reading(first.id)
    assert kept is not None and kept.before is not None and kept.before.stamp == third.stamp
    await steward.discard_change(first.id)
    assert await steward.reading(first.id) is None
    await steward.keep_reading(first.id, Kept(third.stamp))
    assert await steward.reading(first.id) is None
