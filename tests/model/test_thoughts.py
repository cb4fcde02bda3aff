"""What comes with a reply and must go back with it, and histories that a server takes in another form alone."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steward.conversation import Assistant, Conversation, System, ToolAnswer, ToolCall, User
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part, Reply, WorkerNotice
from steward.model.worker import thoughts
from steward.model.worker.thoughts import Arriving, Thoughts
from tests.model.conftest import KEY
from tests.model.server import Connection, FaultServer, Handler, data, event
from tests.model.test_faults import STOP, TOOLS, call

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Talk:
    """A conversation with one server, round by round."""

    def __init__(
        self, gateway: Gateway, server: FaultServer, name: str, model: str, handler: Handler
    ) -> None:
        base = server.base(name, handler)
        self.options: dict[str, Any] = {"api_key": KEY, "api_base": base}
        if model.startswith("anthropic/"):
            self.options["api_base"] = base.removesuffix("/v1")
        self.gateway, self.server, self.name, self.model = gateway, server, name, model
        self.conversation = Conversation()
        self.conversation.append(System("Be brief."))
        self.conversation.append(User("What is in x?"))
        self.parts: list[Part] = []

    async def round(self) -> Reply:
        """Ask, and answer each call."""
        request = ModelRequest(self.model, self.conversation.wire(), TOOLS, self.options)
        self.parts = [part async for part in self.gateway.stream(request)]
        reply = self.parts[-1]
        assert isinstance(reply, Reply)
        self.conversation.append(Assistant(reply.text, reply.calls, reply.reasoning))
        for one in reply.calls:
            self.conversation.append(ToolAnswer(one.id, one.name, "1 hello"))
        return reply

    def sent(self, number: int = -1) -> dict[str, Any]:
        return json.loads(self.server.bodies[self.name][number])


def replies(*streams: bytes) -> Handler:
    async def handler(c: Connection) -> None:
        await c.head()
        await c.raw(streams[c.number - 1])

    return handler


def anthropic(*blocks: tuple[dict[str, Any], *tuple[dict[str, Any], ...]], stop: str) -> bytes:
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "usage": {"input_tokens": 5},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (block, *deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {one['type']}\n".encode() + data(one) for one in events)


def thinking(*texts: str, signature: str) -> tuple[dict[str, Any], *tuple[dict[str, Any], ...]]:
    block = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [{"type": "thinking_delta", "thinking": text} for text in texts]
    return (block, *deltas, {"type": "signature_delta", "signature": signature})


def using(id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    block: dict[str, Any] = {"type": "tool_use", "id": id, "name": "readFile", "input": {}}
    return (block, {"type": "input_json_delta", "partial_json": '{"path": "x"}'})


async def test_signed_thoughts_go_back_with_the_calls_they_led_to_and_thinking_stays_on(
    gateway: Gateway, server: FaultServer
) -> None:
    hidden = ({"type": "redacted_thinking", "data": "DATA"},)
    first = anthropic(thinking("h", "m", signature="ONE"), hidden, using("toolu_1"), stop="tool_use")
    second = anthropic(thinking("aha", signature="TWO"), using("toolu_2"), stop="tool_use")
    last = anthropic(({"type": "text", "text": ""}, {"type": "text_delta", "text": "So."}), stop="end_turn")
    talk = Talk(gateway, server, "signed", "anthropic/claude-sonnet-4-5", replies(first, second, last))
    talk.options["reasoning_effort"] = "low"
    await talk.round()
    await talk.round()
    assert (await talk.round()).text == "So."
    assert all("thinking" in talk.sent(number) for number in range(3))
    said = [message["content"] for message in talk.sent()["messages"] if message["role"] == "assistant"]
    assert said[0][:2] == [{"type": "thinking", "thinking": "hm", "signature": "ONE"}, hidden[0]]
    assert said[1][0] == {"type": "thinking", "thinking": "aha", "signature": "TWO"}
    assert [content[-1]["type"] for content in said] == ["tool_use", "tool_use"]


async def test_thinking_goes_on_in_a_new_turn_although_old_thoughts_are_forgotten(
    gateway: Gateway, server: FaultServer
) -> None:
    last = anthropic(({"type": "text", "text": ""}, {"type": "text_delta", "text": "So."}), stop="end_turn")
    talk = Talk(gateway, server, "resumed", "anthropic/claude-sonnet-4-5", replies(last, last))
    talk.options["reasoning_effort"] = "low"
    talk.conversation.append(Assistant("", (ToolCall("toolu_0", "readFile", '{"path":"x"}'),)))
    talk.conversation.append(ToolAnswer("toolu_0", "readFile", "1 hello"))
    await talk.round()
    assert "thinking" not in talk.sent()
    talk.conversation.append(User("And y?"))
    await talk.round()
    assert "thinking" in talk.sent()


@pytest.mark.parametrize("model", ["deepseek/deepseek-chat", "moonshot/kimi-k2", "zai/glm-4.7"])
async def test_who_goes_on_from_plain_reasoning_gets_it_back_unasked(
    gateway: Gateway, server: FaultServer, model: str
) -> None:
    first = (
        event({"reasoning_content": "hm"}) + event(call("readFile", '{"path":"x"}')) + event({}, "tool_calls")
    )
    talk = Talk(gateway, server, "glad", model, replies(first, event("So.") + STOP))
    talk.conversation.append(Assistant("What?"))
    talk.conversation.append(User("Read it."))
    await talk.round()
    await talk.round()
    said = [message for message in talk.sent()["messages"] if message["role"] == "assistant"]
    assert [message.get("reasoning_content") for message in said] == [None, "hm"]


async def test_another_model_is_not_sent_what_this_one_thought(gateway: Gateway, server: FaultServer) -> None:
    first = anthropic(thinking("hm", signature="ONE"), using("toolu_1"), stop="tool_use")
    last = anthropic(({"type": "text", "text": ""}, {"type": "text_delta", "text": "So."}), stop="end_turn")
    talk = Talk(gateway, server, "another", "anthropic/claude-sonnet-4-5", replies(first, last))
    await talk.round()
    talk.model = "anthropic/claude-haiku-4-5"
    await talk.round()
    assert b"ONE" not in server.bodies["another"][-1]


async def test_thoughts_between_tags_go_back_as_they_came(gateway: Gateway, server: FaultServer) -> None:
    first = (
        event("<think>hm</think>\n\nI look.")
        + event(call("readFile", '{"path":"x"}'))
        + event({}, "tool_calls")
    )
    talk = Talk(gateway, server, "tags", "openai/x", replies(first, event("So.") + STOP))
    reply = await talk.round()
    assert (reply.reasoning, reply.text) == ("hm", "I look.")
    await talk.round()
    (said,) = [message for message in talk.sent()["messages"] if message["role"] == "assistant"]
    assert said["content"] == "<think>hm</think>\n\nI look."


DETAILS = [
    {"type": "reasoning.text", "text": "h", "index": 0, "format": "a"},
    {"type": "reasoning.text", "text": "m", "index": 0, "format": "a"},
    {"type": "reasoning.text", "text": None, "signature": "SIG", "index": 0, "format": "a"},
    {"type": "reasoning.encrypted", "data": "DATA", "id": "r", "index": 1},
]


@pytest.mark.parametrize("model", ["openrouter/google/gemini", "openai/x"])
async def test_details_of_reasoning_go_back_joined(gateway: Gateway, server: FaultServer, model: str) -> None:
    pieces = b"".join(event({"content": "", "reasoning_details": [detail]}) for detail in DETAILS)
    first = pieces + event(call("readFile", '{"path":"x"}')) + event({}, "tool_calls")
    talk = Talk(gateway, server, "details", model, replies(first, event("So.") + STOP))
    await talk.round()
    assert (await talk.round()).text == "So."
    (said,) = [message for message in talk.sent()["messages"] if message["role"] == "assistant"]
    joined = {"type": "reasoning.text", "text": "hm", "signature": "SIG", "index": 0, "format": "a"}
    assert said["reasoning_details"] == [joined, DETAILS[-1]]


async def test_the_mark_of_a_call_goes_back_with_it_also_when_the_call_had_no_id(
    gateway: Gateway, server: FaultServer
) -> None:
    mark = {"google": {"thought_signature": "SIG"}}
    marked = call("readFile", '{"path":"x"}', id="", extra_content=mark)
    unmarked = call("readFile", '{"path":"y"}', id="", index=0)
    first = event(marked) + event(unmarked) + event({}, "stop")
    talk = Talk(gateway, server, "marked", "openai/gemini", replies(first, event("So.") + STOP))
    await talk.round()
    await talk.round()
    (said,) = [message for message in talk.sent()["messages"] if message["role"] == "assistant"]
    assert [one.get("extra_content") for one in said["tool_calls"]] == [mark, None]


def wants(words: str, *streams: bytes, field: str = "reasoning_content") -> Handler:
    """A server that refuses replies without their reasoning, as DeepSeek's and Moonshot's do."""
    waiting = list(streams)

    async def handler(c: Connection) -> None:
        said = [message for message in c.request["messages"] if message["role"] == "assistant"]
        if not all(message.get(field) for message in said):
            await c.error("400 Bad Request", words)
            return
        await c.head()
        await c.raw(waiting.pop(0))

    return handler


WORDS = {
    "deepseek": "Missing `reasoning_content` field in the assistant message at message index 2.",
    "deepseek-v4": "The `reasoning_content` in the thinking mode must be passed back to the API.",
    "kimi": "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
}


@pytest.mark.parametrize("name", WORDS)
async def test_a_server_that_wants_its_reasoning_back_gets_it_from_then_on(
    gateway: Gateway, server: FaultServer, name: str
) -> None:
    thought = event({"reasoning_content": "h"}) + event({"reasoning_content": "m"})
    calling = event(call("readFile", '{"path":"x"}')) + event({}, "tool_calls")
    handler = wants(WORDS[name], thought + calling, calling, event("So.") + STOP)
    talk = Talk(gateway, server, f"wants-{name}", "openai/thinker", handler)
    await talk.round()
    assert "reasoning_content" not in json.dumps(talk.sent())
    await talk.round()
    (notice,) = [part.sentence for part in talk.parts if isinstance(part, WorkerNotice)]
    assert "wants to see again what it thought" in notice
    assert (await talk.round()).text == "So."
    assert not any(isinstance(part, WorkerNotice) for part in talk.parts)
    assert server.requests[f"wants-{name}"] == 4
    said = [message for message in talk.sent()["messages"] if message["role"] == "assistant"]
    assert [message["reasoning_content"] for message in said] == ["hm", " "]


async def test_a_server_that_is_not_content_with_what_it_gets_is_not_asked_for_ever(
    gateway: Gateway, server: FaultServer
) -> None:
    talk = Talk(gateway, server, "never", "openai/thinker", wants(WORDS["kimi"], field="what"))
    talk.conversation.append(Assistant("Yes."))
    talk.conversation.append(User("And?"))
    with pytest.raises(Exception, match="reasoning_content is missing"):
        await talk.round()
    assert server.requests["never"] == 2


async def test_ids_of_another_model_become_short_where_a_server_takes_no_long_ones(
    gateway: Gateway, server: FaultServer
) -> None:
    async def short(c: Connection) -> None:
        ids = [message["tool_call_id"] for message in c.request["messages"] if message["role"] == "tool"]
        if all(len(id) == 9 and id.isalnum() for id in ids):
            await c.say("So.")
        else:
            said = f"Tool call id was {ids[0]} but must be a-z, A-Z, 0-9, with a length of 9."
            await c.answer(
                "400 Bad Request", json.dumps({"object": "error", "message": said, "code": "3280"})
            )

    talk = Talk(gateway, server, "short", "mistral/mistral-large-latest", short)
    for id in ("call_LgX8a0Qr4sUuB2m9", "abcdefgh9"):
        talk.conversation.append(Assistant("", (ToolCall(id, "readFile", '{"path":"x"}'),)))
        talk.conversation.append(ToolAnswer(id, "readFile", "1 hello"))
    assert (await talk.round()).text == "So."
    sent = [message["tool_call_id"] for message in talk.sent()["messages"] if message["role"] == "tool"]
    made = [
        message["tool_calls"][0]["id"] for message in talk.sent()["messages"] if message.get("tool_calls")
    ]
    assert sent == made and sent[1] == "abcdefgh9"


async def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoughts, "MOST", 1_000)
    where = cast(Any, SimpleNamespace(model="openai/x", provider="openai", base="http://here"))
    held = Thoughts()
    for number in range(20):
        arriving = Arriving(reasoning=["x" * 300])
        held.keep(where, [{"role": "user", "content": str(number)}], arriving.thought())

    def remembered(number: int) -> str:
        asked = [{"role": "user", "content": str(number)}, {"role": "assistant", "content": ""}]
        return held.given_back(where, asked, reasoning=True)[1]["reasoning_content"]

    assert remembered(0) == " "
    assert remembered(19) == "x" * 300
