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
from steward.service.recording import HEADER
from steward.service.replay import Replayed, parse_header, replay
from tests.support import ScriptedGateway, asked, call, patch, plant, steward_in

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

    def copy(self, *, secret: str = "") -> House:
        """A copy of the workspace with an empty state; with the same secret when it is given."""
        self.copies += 1
        place = self.root / f"copy{self.copies}"
        shutil.copytree(self.root / "before" / "repository", place / "repository")
        house = House(place / "repository", Settings(), state=place / "state")
        if secret:
            with house.database.write() as cursor:
                cursor.execute("INSERT INTO facts VALUES ('secret', ?)", (secret,))
        return house


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    yield Place(tmp_path)


async def again(place: Place, steward: Steward, gateway: ScriptedGateway) -> Replayed:
    """The session exported and replayed; every request must be the same, byte for byte."""
    text = await steward.export()
    house = place.copy(secret=steward._house.secret)  # pyright: ignore[reportPrivateUsage] -- what no front end may know
    found = await replay(house, text)
    house.close()
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
    assert found.compared == len(found.requests) == 8
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


async def test_the_secret_of_the_workspace_is_neither_needed_nor_given_away(place: Place) -> None:
    steward, _ = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    await asked(steward, "Really?")
    text = await steward.export()
    assert steward._house.secret not in text  # pyright: ignore[reportPrivateUsage]
    assert "steward-note-" not in text
    house = place.copy()
    found = await replay(house, text)
    assert found.differences == () and found.compared == 4
    house.close()
    await steward.close()


async def test_the_first_request_that_differs_is_named(place: Place) -> None:
    steward, _ = place.steward([READ, {"text": "It is 41."}, {"text": "Yes."}])
    await asked(steward, "What is it?")
    await asked(steward, "Really?")
    text = await steward.export()
    house = place.copy()
    (house.workspace.root / "src/app.py").write_text("def answer():\n    return 7\n")
    found = await replay(house, text)
    assert found.differences[0] == "At reply 2 the model is sent something else than was recorded."
    house.close()
    await steward.close()


async def test_a_hand_that_cannot_be_repeated_is_named(place: Place) -> None:
    steward, _ = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    review = await steward.review()
    await steward.apply_change("change-001", review.proposal.stamp)
    await asked(steward, "So?")
    text = (await steward.export()).replace('"newText\\": \\"42', '"newText\\": \\"41')
    house = place.copy()
    found = await replay(house, text)
    assert any(
        "cannot be repeated" in sentence or "something else" in sentence for sentence in found.differences
    )
    house.close()
    await steward.close()


async def test_an_export_is_a_script_that_the_scripted_model_replays_through_the_worker(place: Place) -> None:
    steward, gateway = place.steward([READ, PATCH, {"text": "Proposed."}, {"text": "Yes."}])
    await asked(steward, "Change it")
    await asked(steward, "Really?")
    text = await steward.export()
    (place.root / "exported.jsonl").write_text(text, "utf-8")
    secret = steward._house.secret  # pyright: ignore[reportPrivateUsage]
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
async def test_what_is_no_export_is_refused(place: Place, text: str) -> None:
    house = place.copy()
    with pytest.raises(ConfigError):
        await replay(house, text)
    house.close()


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
    house = place.copy()
    assert (await replay(house, text)).differences == ("At reply 1 the recorded reply was not asked for.",)
    house.close()
    await steward.close()


async def test_another_name_of_the_directory_is_said(place: Place) -> None:
    steward, _ = place.steward([{"text": "Yes."}])
    await asked(steward, "Hello")
    text = (await steward.export()).replace('"workspace": "repository"', '"workspace": "shop"')
    house = place.copy()
    assert "called shop" in (await replay(house, text)).differences[0]
    house.close()
    await steward.close()
