"""Servers with strict chat templates, through the real worker: they accept whatever a session comes to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from steward.config import Settings
from steward.conversation import JsonObject
from steward.events import AnswerText, Notice, ToolFinished
from steward.model.clocks import Clocks
from steward.model.gateway import Gateway
from steward.service import House, Steward
from tests.model.server import Connection, FaultServer
from tests.support import asked, call, only, patch, plant

pytestmark = pytest.mark.asyncio(loop_scope="module")


def wrong(messages: list[JsonObject], *, system: bool) -> str:
    """What the strictest templates say of these messages; empty when they take them.

    One system message at the beginning, or none at all; user and assistant in turn; results right behind the calls
    that they answer, each once; ids of nine letters and digits, no empty reply, no lone surrogate.
    """
    roles = [str(message["role"]) for message in messages]
    if "system" in roles[1:]:
        return "Only one system message is supported."
    if roles[0] == "system":
        if not system:
            return "System role not supported"
        messages = messages[1:]
    turn, open_calls, used = "user", list[str](), set[str]()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return "Not the same number of function calls and responses"
            open_calls.remove(message["tool_call_id"])
            turn = "assistant"
            continue
        if open_calls:
            return "Not the same number of function calls and responses"
        if message["role"] != turn:
            return "Conversation roles must alternate user/assistant/user/assistant/..."
        turn = "assistant" if turn == "user" else "user"
        calls: list[JsonObject] = message.get("tool_calls") or []
        if not (message.get("content") or calls):
            return "Assistant message must have either content or tool_calls"
        for one in calls:
            if one["id"] in used or not (len(one["id"]) == 9 and one["id"].isalnum()):
                return "Tool call IDs should be alphanumeric strings with length 9!"
            json.loads(one["function"]["arguments"])
            used.add(str(one["id"]))
            open_calls.append(str(one["id"]))
    if open_calls or turn != "assistant":
        return "Expected last role User or Tool"
    return ""


class Strict:
    """A server that checks each request before it gives the next reply; a reply may be a status to fail with."""

    def __init__(self, *, system: bool) -> None:
        self.system = system
        self.replies: list[Any] = []
        self.refused: list[str] = []
        self.taken: list[list[JsonObject]] = []

    async def __call__(self, c: Connection) -> None:
        messages = json.loads(c.body.decode("utf-8"))["messages"]
        fault = wrong(messages, system=self.system)
        if fault:
            self.refused.append(fault)
            await c.error("400 Bad Request", fault)
            return
        self.taken.append(messages)
        reply = self.replies.pop(0)
        if reply == "hang":
            await c.head()
            await c.hang()
        elif isinstance(reply, str):
            await c.error(reply, "no")
        else:
            calls = [
                {"index": n, "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])}}
                for n, one in enumerate(reply.get("calls", []))
            ]
            deltas = [reply.get("text", ""), *({"tool_calls": [one]} for one in calls)]
            await c.say(*deltas, finish=reply.get("finish", "tool_calls" if calls else "stop"))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[FaultServer]:
    server = FaultServer()
    await server.start()
    yield server
    await server.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway() -> AsyncGenerator[Gateway]:
    class Shared(Gateway):
        async def close(self) -> None:
            """The next test has it too."""

    gateway = Shared(clocks=Clocks(retry_base=0.01))
    await gateway.start()
    yield gateway
    await Gateway.close(gateway)


def at(place: Path, server: FaultServer, gateway: Gateway, strict: Strict, name: str) -> Steward:
    options = {"api_base": server.base(name, strict), "api_key": "none"}
    if not (place / "repository").exists():
        plant(place / "repository")
    house = House(place / "repository", Settings.model_validate({"options": options}), state=place / "state")
    return Steward(house, model="openai/local", watch=False, gateway=gateway)


LOOK = {"text": f"<tool_call>{json.dumps(call('listFiles'))}</tool_call>"}
INVENT = {"calls": [call("runShell", cmd="ls"), call("readFile", file="x")]}
EVENTFUL: list[tuple[str, list[Any], str]] = [
    (
        "Look",
        [{"text": "Hm.", "calls": [call("readFile", path="src/app.py"), call("listFiles")]}, {"text": "41"}],
        "",
    ),
    ("Be cut off", ["hang"], "interrupted"),
    ("Fail", ["400 Bad Request"], "failed"),
    ("Be down", ["503 Service Unavailable"] * 4, "failed"),
    ("Say nothing", [{"text": ""}, {"text": " \n", "finish": "length"}, {"text": "Yes."}], ""),
    ("Give up", [{"text": ""}] * 3, "failed"),
    ("Print", [{"text": json.dumps(call("proposePatch", path="x"))}, {"text": "Sorry."}], ""),
    ("Invent", [INVENT, {"text": "I see."}], ""),
    ("Print a look", [LOOK, {"text": "So."}], ""),
    ("Propose", [{"calls": [patch("src/app.py", "41", "42")]}, {"text": "Done: a\ud83d b."}], ""),
    ("Go round", [{"calls": [call("listFiles")]}] * 5, "loop"),
    ("End", [{"text": "Good bye."}], ""),
]
"""Questions, what the server replies, and how the turn ends when not with an answer."""


async def live(steward: Steward, strict: Strict) -> list[Any]:
    """An eventful session; all its events."""
    events: list[Any] = []
    for question, replies, reason in EVENTFUL:
        strict.replies = list(replies)
        cutting = asyncio.create_task(cut_off(steward, strict)) if replies == ["hang"] else None
        events += await asked(steward, question)
        assert (question, events[-1].reason) == (question, reason or "answered")
        if cutting is not None:
            await cutting
    return events


async def cut_off(steward: Steward, strict: Strict) -> None:
    """Interrupt as soon as the server has the request."""
    while strict.replies:
        await asyncio.sleep(0.01)
    steward.interrupt()


@pytest.mark.parametrize("system", [True, False], ids=["one-system-message", "no-system-message"])
async def test_an_eventful_session_never_breaks_a_strict_template(
    tmp_path: Path, server: FaultServer, gateway: Gateway, system: bool
) -> None:
    strict = Strict(system=system)
    steward = at(tmp_path, server, gateway, strict, f"strict{system}")
    events = await live(steward, strict)
    assert strict.refused == ([] if system else ["System role not supported"])
    told = [n.text for n in only(events, Notice) if "takes no system message" in n.text]
    assert len(told) == (0 if system else 1)
    first = strict.taken[0][0]
    assert first["role"] == ("system" if system else "user") and "steward of one software" in first["content"]
    assert all(messages[0] == first for messages in strict.taken)
    assert "\ufffd b." in json.dumps(strict.taken[-1], ensure_ascii=False)
    assert any(e.ok for e in only(events, ToolFinished)) and only(events, AnswerText)
    await steward.close()
    again = at(tmp_path, server, gateway, strict, f"strict{system}")
    await again.resume()
    strict.replies = [{"text": "Back."}]
    assert (await asked(again, "And now?"))[-1].reason == "answered"
    assert len(strict.refused) == (0 if system else 1)
    await again.close()


async def test_a_server_that_refuses_all_the_same_says_why(
    tmp_path: Path, server: FaultServer, gateway: Gateway
) -> None:
    async def refuse(c: Connection) -> None:
        await c.error(
            "400 Bad Request", "Conversation roles must alternate user/assistant/user/assistant/..."
        )

    steward = at(tmp_path, server, gateway, Strict(system=True), "refuses")
    server.base("refuses", refuse)
    events = await asked(steward, "Hello")
    assert events[-1].reason == "failed" and "roles must alternate" in events[-1].error
    assert server.requests["refuses"] == 2
    await steward.close()


class Small:
    """A server whose window is small, which says so and refuses what is longer; it sums up when it is asked to."""

    WINDOW = 8_000

    def __init__(self) -> None:
        self.refused = 0
        self.summaries = 0

    async def __call__(self, c: Connection) -> None:
        if c.path.endswith("/props"):
            told = {
                "chat_template_caps": {"supports_tools": True},
                "default_generation_settings": {"n_ctx": self.WINDOW},
            }
            await c.answer("200 OK", json.dumps(told))
        elif c.path.endswith("/models"):
            await c.answer("200 OK", json.dumps({"data": [{"id": "local"}]}))
        elif len(c.body) > 3.5 * self.WINDOW:
            self.refused += 1
            await c.error("400 Bad Request", "the request exceeds the available context size")
        else:
            asked_to = b"Now write the summary." in c.body
            self.summaries += asked_to
            await c.say(
                "SUMMARY" if asked_to else " ".join(f"point-{n * n}" for n in range(600)), usage=False
            )


async def test_a_long_session_stays_within_the_window_that_a_small_server_tells(
    tmp_path: Path, server: FaultServer, gateway: Gateway
) -> None:
    small = Small()
    options = {"api_base": server.base("small", small), "api_key": "none"}
    settings = Settings.model_validate({"options": options})
    house = House(plant(tmp_path / "repository"), settings, state=tmp_path / "state")
    steward = Steward(house, model="openai/local", watch=False, gateway=gateway)
    await steward.choose_model("openai/local")
    assert steward.window == small.WINDOW
    events: list[Any] = []
    for number in range(8):
        events += await asked(steward, f"Question {number}")
        assert events[-1].reason == "answered"
    compacted = [n.text for n in only(events, Notice) if "was compacted by itself" in n.text]
    assert small.refused == 0 and len(compacted) == small.summaries > 1
    assert "Question 0" in steward.transcript()[1].text and "SUMMARY" in steward.transcript()[1].text
    await steward.close()
