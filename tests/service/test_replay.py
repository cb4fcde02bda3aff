"""A session that was exported runs again, and the model is sent the same bytes."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.errors import ConfigError, NoSuchThing
from steward.events import AnswerText, ToolStarted
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part
from steward.model.scriptfile import parse_script
from steward.service import House, Steward
from steward.service.beginning import beginning
from steward.service.earlier import earlier
from steward.service.recording import CHANGE, FILE, HEADER, exported
from steward.service.replay import Replayed, parse_header, replay
from steward.service.tree import Piece
from tests.support import TREE, ScriptedGateway, asked, call, patch, plant, steward_in

READ = {"calls": [call("readFile", path="src/app.py")]}
PATCH = {"calls": [patch("src/app.py", "41", "42")]}


class Place:
    """A workspace with its state, and a copy of it as it was before anything was asked."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repository = plant(root / "here" / "repository")
        self.copies = 0
        shutil.copytree(self.repository, root / "before" / "repository")

    def steward(self, replies: list[Any], **more: Any) -> tuple[Steward, ScriptedGateway]:
        return steward_in(self.repository, replies, **more)

    def before(self, **changed: str) -> list[Piece]:
        """The files as they were, but for some that are changed."""
        root = self.root / "before" / "repository"
        files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        return [
            Piece(path, "file", changed[path].encode() if path in changed else data)
            for path, data in files.items()
        ]


def secret_of(steward: Steward) -> str:
    return steward._house.secret  # pyright: ignore[reportPrivateUsage] -- what no front end may know


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    yield Place(tmp_path)


async def again(place: Place, steward: Steward, gateway: ScriptedGateway) -> Replayed:
    """The session exported and replayed; every request must be the same, byte for byte."""
    text = await steward.export()
    found = await replay(text, place.before(), secret=secret_of(steward))
    assert found.differences == ()
    assert [r.messages for r in found.requests] == [r.messages for r in gateway.requests]
    assert [r.tools for r in found.requests] == [r.tools for r in gateway.requests]
    return found


async def test_a_session_of_several_turns_is_replayed_to_the_same_requests(place: Place) -> None:
    steward, gateway = place.steward(
        [
            {"text": "Looking.", "calls": [call("readFile", path="src/app.py"), call("listFiles", depth=2)]},
            {"calls": [patch("src/app.py", "41", "42"), patch("web/page.js", "x = 1", "x = 9")]},
            {"calls": [patch("web/page.js", "x = 1", "x = 9")]},
            {"text": "Proposed: “ü” 🎉\u2028 as change-001.", "reasoning": "hm"},
            {"calls": [call("searchFiles", query="VALUE")]},
            {"text": "It is in src/deep."},
            {"text": ""},
            {"text": "Yes."},
        ]
    )
    for question in ("Change both", "Where is VALUE?", "Are you sure?\n\n```\n<x>\n```"):
        await asked(steward, question)
    found = await again(place, steward, gateway)
    assert [one.same for one in found.compared] == [True] * len(found.requests) == [True] * 8
    await steward.close()


async def test_what_the_person_did_between_and_within_turns_is_done_again(place: Place) -> None:
    steward, gateway = place.steward([])

    async def apply() -> None:
        review = await steward.review("change-001")
        await steward.apply_change("change-001", review.proposal.stamp)

    async def discard() -> None:
        await steward.discard_change("change-002", "not  now\nplease")

    gateway.replies = [
        READ, PATCH, {"text": "Proposed."},
        {"calls": [call("readFile", path="src/app.py"), patch("README.md", "small", "large")]}, {"text": "Twice."},
        discard, {"calls": [call("listFiles")]}, {"text": "I see."},
        {"calls": [call("readFile", path="src/app.py")]}, {"text": "Back."},
    ]  # fmt: skip
    await asked(steward, "One")
    await apply()
    await asked(steward, "Two")
    await asked(steward, "Three")
    await steward.undo_change("change-001")
    events = await asked(steward, "Four")
    assert events[-1].reason == "answered"
    found = await again(place, steward, gateway)
    assert "The person applied change-001." in found.requests[3].messages
    assert "saying: not now please" in found.requests[6].messages
    assert "return 42" in found.requests[4].messages
    await steward.close()


async def test_a_turn_that_was_broken_off_is_broken_off_again(place: Place) -> None:
    steward, gateway = place.steward([{"text": "Half of it", "hang": True}])

    async def until(question: str, kind: type[Any], number: int = 1) -> None:
        async for event in steward.ask(question):
            number -= isinstance(event, kind)
            if number == 0:
                steward.interrupt()
                number = -1

    await until("In the answer", AnswerText, 2)
    gateway.replies = [{"calls": [call("readFile", path="src/app.py"), call("readFile", path="web/page.js")]}]
    steward._talk.toolbox.run = hanging_at(steward, "web/page.js")  # pyright: ignore[reportPrivateUsage]
    await until("In a call", ToolStarted, 2)
    del steward._talk.toolbox.run  # pyright: ignore[reportPrivateUsage]
    gateway.replies = [{"error": {"kind": "server", "message": "It is down."}}]
    await asked(steward, "It fails")
    gateway.replies = [{"text": "Fine."}]
    await asked(steward, "And now?")
    found = await again(place, steward, gateway)
    assert '"[Interrupted by the person.]"' in found.requests[-1].messages
    assert "[The model could not answer.]" in found.requests[-1].messages
    await steward.close()


def hanging_at(steward: Steward, path: str) -> Any:
    real = steward._talk.toolbox.run  # pyright: ignore[reportPrivateUsage] -- a tool that never ends

    async def run(name: str, arguments: str) -> Any:
        if path in arguments:
            await asyncio.Event().wait()
        return await real(name, arguments)

    return run


async def test_a_turn_that_ended_at_a_limit_ends_there_again(place: Place) -> None:
    steward, gateway = place.steward([READ for _ in range(9)])
    assert (await asked(steward, "Loop"))[-1].reason == "loop"
    gateway.replies = [{"calls": [call("listFiles", depth=n)]} for n in range(1, 40)]
    assert (await asked(steward, "Go on for ever"))[-1].reason == "round-limit"
    gateway.replies = [{"text": "words " * 2_000}]
    assert (await asked(steward, "Say it"))[-1].reason == "loop"
    gateway.replies = [{"text": "Enough."}]
    await asked(steward, "Stop")
    await again(place, steward, gateway)
    await steward.close()


async def test_calls_that_could_not_be_run_are_made_again_as_wrong_as_they_were(place: Place) -> None:
    broken = [
        "{",
        "?",
        '{"path": x}',
        "[1]",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"path": "a"} more',
        "[" * 99_999,
    ]
    printed = json.dumps({"name": "readFile", "arguments": {"path": "src/app.py"}})
    steward, gateway = place.steward(
        [
            {"calls": [{"name": "readFile", "arguments": text} for text in broken]},
            {"calls": [call("read_file", path="x"), call("readFile", file="x")]},
            {"text": printed},
            {"text": json.dumps({"name": "proposePatch", "arguments": {}})},
            {"text": "", "finish": "tool_calls"},
            {"text": "I see."},
            {"text": "", "finish": "length"},
            {"text": "", "finish": "content_filter"},
            {"text": "At last."},
        ]
    )
    assert (await asked(steward, "Try"))[-1].reason == "answered"
    assert (await asked(steward, "Again"))[-1].reason == "answered"
    await again(place, steward, gateway)
    await steward.close()


async def test_changes_from_before_the_session_keep_their_numbers(place: Place) -> None:
    steward, gateway = place.steward([READ, PATCH, {"text": "Proposed."}])
    await asked(steward, "Before")
    await steward.discard_change("change-001")
    await steward.new_session()
    await asked_of(steward, gateway, [{"text": "Hello."}])
    gateway.requests.clear()
    await steward.new_session()
    await asked_of(steward, gateway, [READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}], "Now", "Really?")
    assert parse_header(await steward.export())["first_change"] == 2
    found = await again(place, steward, gateway)
    assert "change-002" in found.requests[-1].messages
    await steward.close()


async def asked_of(steward: Steward, gateway: ScriptedGateway, replies: list[Any], *questions: str) -> None:
    gateway.replies = replies
    for question in questions or ("Hello",):
        await asked(steward, question)


AMENDED = [
    READ,
    {"calls": [patch("src/app.py", "return 42", "return 9")]},
    {"calls": [patch("src/app.py", "42", "44", change="change-001")]},
    {"text": "Amended."},
]
"""The first patch is refused and says where its text is; the second amends what was there before."""


@pytest.fixture
async def amended(place: Place) -> AsyncIterator[tuple[Steward, ScriptedGateway]]:
    """A session in which a change from before it is amended, applied, and looked at."""
    steward, gateway = place.steward([READ, PATCH, {"text": "Proposed."}])
    await asked(steward, "Before")
    gateway.requests.clear()
    await steward.new_session()
    await asked_of(steward, gateway, AMENDED[:], "Now")
    review = await steward.review("change-001")
    assert review.proposal.files[0].result == b"def answer():\n    return 44\n"
    await steward.apply_change("change-001", review.proposal.stamp)
    await asked_of(steward, gateway, [READ, {"text": "44."}], "So?")
    assert "return 44" in gateway.requests[-1].messages
    yield steward, gateway
    await steward.close()


async def test_what_was_pending_before_the_session_is_there_again_as_it_was_then(
    amended: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = amended
    house = steward._house  # pyright: ignore[reportPrivateUsage]
    row = house.sessions.find(None)
    (then,) = earlier(house, row).changes
    assert then.status == "pending" and then.files[0].result == b"def answer():\n    return 42\n"
    assert "return 42" in gateway.requests[2].messages, "the refusal names the change that holds the text"
    text = exported(house, None)
    assert parse_header(text)["pending"] == ["change-001"] and "return 42" not in text.split("\n", 1)[0]
    found = await replay(text, beginning(house, row), secret=house.secret, earlier=[then])
    assert found.differences == () and len(found.compared) == 6
    assert [r.messages for r in found.requests] == [r.messages for r in gateway.requests]
    without = await replay(text, beginning(house, row), secret=house.secret)
    assert without.differences


async def test_a_recording_with_its_files_holds_what_was_pending_before(
    amended: tuple[Steward, ScriptedGateway],
) -> None:
    steward, gateway = amended
    text = exported(steward._house, None, files=True)  # pyright: ignore[reportPrivateUsage]
    found = await replay(text, secret=secret_of(steward))
    assert found.differences == ()
    assert [r.messages for r in found.requests] == [r.messages for r in gateway.requests]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"change-001", "title"', '"../001", "title"'),
        ('"path": "src/app.py", "action"', '"path": "../app.py", "action"'),
        ('"action": "modify"', '"action": "run"'),
        ('"base_mode": 4', '"base_mode": "x4'),
        ('"files": [', '"files": 7, "more": ['),
    ],
)
async def test_a_change_of_a_recording_that_is_written_otherwise_is_refused(
    amended: tuple[Steward, ScriptedGateway], old: str, new: str
) -> None:
    text = exported(amended[0]._house, None, files=True)  # pyright: ignore[reportPrivateUsage]
    lines = [line.replace(old, new) if line.startswith(CHANGE) else line for line in text.split("\n")]
    wrong = "\n".join(lines)
    assert wrong != text
    with pytest.raises(ConfigError, match="A change of this recording"):
        await replay(wrong)


async def test_what_was_pending_and_has_no_text_of_then_is_named(place: Place) -> None:
    steward, gateway = place.steward([{"calls": [patch("new.txt", "", "one\n")]}, {"text": "Proposed."}])
    await asked(steward, "Before")
    await steward.new_session()
    await asked_of(
        steward, gateway, [{"calls": [patch("new.txt", "one", "two", change="change-001")]}, {"text": "Yes."}]
    )
    header = parse_header(await steward.export())
    assert (header["pending"], header["lost"]) == ([], ["change-001"])
    await steward.close()


async def test_the_secret_of_the_workspace_is_neither_needed_nor_given_away(place: Place) -> None:
    steward, _ = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    await asked(steward, "Really?")
    text = await steward.export()
    assert secret_of(steward) not in text
    assert "steward-note-" not in text
    found = await replay(text, place.before())
    assert found.differences == () and [one.same for one in found.compared] == [True] * 4
    await steward.close()


async def test_the_first_request_that_differs_is_named(place: Place) -> None:
    steward, _ = place.steward([READ, {"text": "It is 41."}, {"text": "Yes."}])
    await asked(steward, "What is it?")
    await asked(steward, "Really?")
    text = await steward.export()
    found = await replay(text, place.before(**{"src/app.py": "def answer():\n    return 7\n"}))
    said = "At reply 2 the model is sent something else than was recorded: message 4, the result of readFile."
    assert found.differences[0] == said
    assert [one.same for one in found.compared] == [True, False]
    await steward.close()


async def test_a_hand_that_cannot_be_repeated_is_named(place: Place) -> None:
    steward, _ = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    review = await steward.review()
    await steward.apply_change("change-001", review.proposal.stamp)
    await asked(steward, "So?")
    text = (await steward.export()).replace('"newText\\": \\"42', '"newText\\": \\"41')
    found = await replay(text, place.before())
    assert any(
        "cannot be repeated" in sentence or "something else" in sentence for sentence in found.differences
    )
    await steward.close()


async def test_an_export_is_a_script_that_the_scripted_model_replays_through_the_worker(place: Place) -> None:
    steward, gateway = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    await asked(steward, "Really?")
    text = await steward.export()
    (place.root / "exported.jsonl").write_text(text, "utf-8")
    secret = secret_of(steward)
    await steward.close()
    shutil.rmtree(place.repository)
    shutil.copytree(place.root / "before" / "repository", place.repository)
    house = House(place.repository, Settings(), state=place.root / "anew")
    with house.database.write() as cursor:
        cursor.execute("INSERT INTO facts VALUES ('secret', ?)", (secret,))
    sent: list[str] = []

    class Watched(Gateway):
        async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
            sent.append(request.messages)
            async for part in super().stream(request):
                yield part

    other = Steward(house, model="script/exported.jsonl", watch=False, gateway=Watched(folder=place.root))
    await other.start()
    for entry in parse_script("exported", text):
        if "question" in entry:
            assert (await asked(other, entry["question"]))[-1].reason == "answered"
    await other.close()
    assert sent == [request.messages for request in gateway.requests]


@pytest.mark.parametrize("text", ["", '{"text": "x"}\n', f"{HEADER}{{}}\n", f"{HEADER}[\n", f"{HEADER}[1]\n"])
async def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        await replay(text)


async def test_there_must_be_something_to_export(place: Place) -> None:
    steward, _ = place.steward([])
    with pytest.raises(NoSuchThing):
        await steward.export()
    with pytest.raises(NoSuchThing):
        await steward.export("20200101-nowhere")
    await steward.close()


async def test_a_recording_that_asks_for_nothing_ends(place: Place) -> None:
    steward, _ = place.steward([{"text": "Yes."}])
    await asked(steward, "Hello")
    text = (await steward.export()).replace('"rounds": 25', '"rounds": 0')
    found = await replay(text, place.before())
    assert found.differences == ("At reply 1 the recorded reply was not asked for.",)
    await steward.close()


# The copy


async def test_the_recording_that_holds_its_files_needs_nothing_else(place: Place) -> None:
    (place.repository / "run.sh").write_text("#!/bin/sh\n")
    (place.repository / "run.sh").chmod(0o755)
    (place.repository / "picture.bin").write_bytes(b"\xff\x00\x80")
    (place.repository / "link").symlink_to("src")
    (place.repository / ".gitignore").write_text("build/\n")
    (place.repository / "build").mkdir()
    (place.repository / "build" / "out.o").write_text("text that nobody asked for")
    (place.repository / ".env").write_text("DATABASE_PASSWORD=hunter22hunter22\n")
    steward, gateway = place.steward(
        [
            {"calls": [call("listFiles", depth=3), call("searchFiles", query="return")]},
            {"calls": [call("readFile", path="src/app.py"), patch("src/app.py", "41", "42")]},
            {"text": "Proposed."},
            {"calls": [call("searchFiles", query="return 4")]},
            {"text": "It is 42 now."},
        ]
    )
    await asked(steward, "Change it")
    review = await steward.review()
    await steward.apply_change("change-001", review.proposal.stamp)
    await asked(steward, "So?")
    house = steward._house  # pyright: ignore[reportPrivateUsage]
    text = exported(house, None, files=True)
    assert "hunter22" not in text and "nobody asked" not in text
    found = await replay(text, secret=house.secret)
    assert found.differences == () and len(found.compared) == 5
    assert [r.messages for r in found.requests] == [r.messages for r in gateway.requests]
    await steward.close()


async def test_files_are_taken_back_to_what_they_were_when_the_session_began(place: Place) -> None:
    replies = [
        READ,
        {"calls": [patch("src/app.py", "41", "42"), patch("new.txt", "", "new\n")]},
        {
            "calls": [
                call("readFile", path="web/page.js"),
                call("proposePatch", path="web/page.js", deleteFile=True),
            ]
        },
        {"text": "Proposed."},
        READ,
        {"calls": [patch("src/app.py", "42", "43")]},
        {"text": "Proposed."},
    ]
    steward, _ = place.steward(replies)
    for change, question in (("change-001", "Change them"), ("change-002", "Again")):
        await asked(steward, question)
        review = await steward.review(change)
        await steward.apply_change(change, review.proposal.stamp)
    house = steward._house  # pyright: ignore[reportPrivateUsage]

    def begun() -> dict[str, bytes]:
        pieces = beginning(house, house.sessions.find(None))
        return {piece.path: piece.data for piece in pieces if piece.kind == "file"}

    assert (place.repository / "src/app.py").read_bytes() == b"def answer():\n    return 43\n"
    assert begun() == {path: data.encode() for path, data in TREE.items()}
    (place.repository / "new.txt").write_text("Somebody wrote here since.\n")
    assert begun()["src/app.py"] == b"def answer():\n    return 42\n", (
        "a change is taken back whole or not at all"
    )
    assert {piece.path for piece in beginning(house, None)} >= {"new.txt", "src/app.py"}
    await steward.close()


async def test_the_workspace_and_its_state_are_not_touched(place: Place) -> None:
    steward, _ = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    review = await steward.review()
    await steward.apply_change("change-001", review.proposal.stamp)
    await asked(steward, "So?")
    text = await steward.export()
    before = {
        p: p.read_bytes()
        for p in place.root.rglob("*")
        if p.is_file() and "wal" not in p.name and "shm" not in p.name
    }
    house = steward._house  # pyright: ignore[reportPrivateUsage]
    found = await replay(text, beginning(house, house.sessions.find(None)))
    assert found.differences == ()
    assert {p: p.read_bytes() for p in before} == before
    await steward.close()


@pytest.mark.parametrize(
    "line",
    [
        {"path": "../outside.txt", "kind": "file", "text": "x"},
        {"path": "/tmp/outside.txt", "kind": "file", "text": "x"},
        {"path": "a/../../outside.txt", "kind": "file", "text": "x"},
        {"path": ".git/hooks/pre-commit", "kind": "file", "text": "x"},
        {"path": "README.md/x", "kind": "file", "text": "x"},
        {"path": "", "kind": "file"},
        {"path": "x", "kind": "device"},
        {"path": "x", "kind": "file", "base64": "?"},
        {"kind": "file"},
        [],
    ],
    ids=str,
)
async def test_a_recording_cannot_write_beside_its_copy(place: Place, line: Any) -> None:
    steward, _ = place.steward([{"text": "Yes."}])
    await asked(steward, "Hello")
    house = steward._house  # pyright: ignore[reportPrivateUsage]
    text = exported(house, None, files=True) + f"{FILE}{json.dumps(line)}\n"
    with pytest.raises(ConfigError):
        await replay(text)
    await steward.close()


async def test_a_link_of_a_recording_leads_nothing_out(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    steward, _ = place.steward([{"text": "Yes."}])
    await asked(steward, "Hello")
    house = steward._house  # pyright: ignore[reportPrivateUsage]
    text = exported(house, None, files=True)
    for more in (
        [
            {"path": "out", "kind": "link", "text": str(outside)},
            {"path": "out/x", "kind": "file", "text": "x"},
        ],
        [
            {"path": "out", "kind": "link", "text": str(outside)},
            {"path": "out/x", "kind": "link", "text": "/"},
        ],
    ):
        with pytest.raises(ConfigError):
            await replay(text + "".join(f"{FILE}{json.dumps(line)}\n" for line in more))
        assert list(outside.iterdir()) == []
    await steward.close()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"workspace": "repository"', '"workspace": ".."'),
        ('"workspace": "repository"', '"workspace": "a/b"'),
        ('"first_change": 1', '"first_change": 1000000000'),
        ('"identity": "', '"identity": "../'),
    ],
)
async def test_a_header_that_leads_elsewhere_is_refused(place: Place, old: str, new: str) -> None:
    steward, _ = place.steward([{"text": "Yes."}])
    await asked(steward, "Hello")
    text = await steward.export()
    assert old in text
    with pytest.raises(ConfigError):
        await replay(text.replace(old, new, 1), place.before())
    await steward.close()


async def test_a_session_under_a_profile_is_replayed_under_it(place: Place) -> None:
    steward, gateway = place.steward([READ, {"text": "Fine."}], profile="reviewer")
    await asked(steward, "Is it right?")
    await again(place, steward, gateway)
    assert "proposePatch" not in {tool["function"]["name"] for tool in gateway.requests[0].tools}
    await steward.close()


async def test_what_was_asked_without_instructions_or_proposals_is_replayed_without(place: Place) -> None:
    settings = Settings()
    settings = settings.model_copy(
        update={
            "instructions": settings.instructions.model_copy(update={"enabled": False}),
            "tools": settings.tools.model_copy(update={"proposals": False}),
        }
    )
    steward, gateway = place.steward([READ, {"text": "Fine."}], settings=settings)
    await asked(steward, "Is it right?")
    await again(place, steward, gateway)
    await steward.close()


async def test_another_list_of_tools_than_was_recorded_is_a_difference_and_named(place: Place) -> None:
    steward, _ = place.steward([{"text": "Fine."}])
    await asked(steward, "Is it right?")
    text = await steward.export()
    skill = "---\nname: knots\ndescription: How to tie knots.\n---\nAlways tie a bowline.\n"
    pieces = [*place.before(), Piece(".agents/skills/knots/SKILL.md", "file", skill.encode())]
    found = await replay(text, pieces, secret=secret_of(steward))
    assert found.differences[0] == ("At reply 1 the model is offered other tools than was recorded (Skill).")
    await steward.close()
