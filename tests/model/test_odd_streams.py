"""Streams that are a reply in an odd shape, and streams that only look like one; through the real litellm."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from steward.model.gateway import Gateway
from tests.model.server import USAGE, Connection, FaultServer, Handler, chunk, data, event
from tests.model.test_faults import STOP, asked, call
from tests.model.test_wire import DONE, HELLO, raw

pytestmark = pytest.mark.asyncio(loop_scope="session")


def pieces_of(size: int) -> Handler:
    async def handler(c: Connection) -> None:
        await c.head()
        for start in range(0, len(HELLO), size):
            await c.raw(HELLO[start : start + size])
            await asyncio.sleep(0)

    return handler


def choices(given: Any) -> bytes:
    return data({**chunk(""), "choices": given})


def usage(given: Any) -> bytes:
    return HELLO[: -len(DONE)] + data({**chunk({}), "choices": [], "usage": given}) + DONE


DEEP = HELLO.replace(b'"id": "c"', b'"id": "c", "x": ' + b"[" * 5_000 + b"]" * 5_000)

HELLOS: dict[str, Handler] = {
    "a-mark-before-it": raw(b"\xef\xbb\xbf" + HELLO),
    "a-mark-in-pieces": raw(b"\xef", b"\xbb", b"\xbf" + HELLO),
    "lines-that-end-in-cr": raw(HELLO.replace(b"\n", b"\r")),
    "no-space-after-the-colon": raw(HELLO.replace(b"data: ", b"data:")),
    "ids-names-and-retries": raw(HELLO.replace(b"data: ", b"id: 7\nevent: message\nretry: 10\ndata: ")),
    "four-blank-lines": raw(HELLO.replace(b"\n\n", b"\n\n\n\n\n")),
    "done-twice": raw(HELLO + DONE),
    "more-after-done": raw(HELLO + event("NOT")),
    "cut-at-every-byte": pieces_of(1),
    "cut-at-every-seventh-byte": pieces_of(7),
    "cut-at-every-line": pieces_of(len(event("Hel")) - 1),
    "null": raw(b"data: null\n\n" + HELLO),
    "not-a-number": raw(HELLO.replace(b'"created": 1', b'"created": NaN')),
    "error-null": raw(data({**chunk("Hello"), "error": None}) + STOP),
    "choices-null": raw(choices(None) + HELLO),
    "choices-empty": raw(choices([]) + HELLO),
    "choices-missing": raw(data({"id": "c", "object": "chat.completion.chunk"}) + HELLO),
    "choices-an-object": raw(choices({}) + HELLO),
    "a-choice-without-delta": raw(choices([{"index": 0, "finish_reason": None}]) + HELLO),
    "a-choice-without-number": raw(HELLO.replace(b'"index": 0, ', b"")),
    "a-number-as-text": raw(HELLO.replace(b'"index": 0', b'"index": "0"')),
    "another-role": raw(event({"role": "model", "content": "Hello"}) + STOP),
    "content-an-object": raw(event({"content": {"type": "text", "text": "Hello"}}) + STOP),
    "the-end-before-the-text": raw(STOP + event("Hello") + DONE),
    "the-end-twice": raw(event("Hello") + STOP + STOP + DONE),
    "an-end-called-null": raw(event("Hello") + event({}, "null") + DONE),
    "usage-first": raw(data({**chunk({}), "choices": [], "usage": USAGE}) + HELLO),
    "usage-in-every-piece": raw(*(data({**chunk(t), "usage": USAGE}) for t in ("Hel", "lo")), STOP),
    "calls-null": raw(event({"content": "Hello", "tool_calls": None}) + STOP),
}


@pytest.mark.parametrize("handler", HELLOS.values(), ids=HELLOS)
async def test_no_word_of_an_odd_stream_is_lost(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "odd", handler)
    assert (outcome.reply.text, outcome.reply.told, outcome.requests) == ("Hello", "", 1)


async def test_halves_of_a_character_in_two_events_arrive_as_they_came(
    gateway: Gateway, server: FaultServer
) -> None:
    outcome = await asked(
        gateway, server, "halves", raw(event({"content": "\ud83d"}) + event({"content": "\ude00"}) + STOP)
    )
    assert outcome.reply.text == "\ud83d\ude00"


UNREADABLE: dict[str, Handler] = {
    "an-array": raw(b"data: [1, 2]\n\n" + HELLO),
    "a-number": raw(b"data: 5\n\n" + HELLO),
    "arrays-without-end": raw(DEEP),
    "a-character-cut-in-half": raw(
        event("Hel") + b'data: {"choices":[{"index":0,"delta":{"content":"\xe2\x82'
    ),
    "a-raw-nul": raw(HELLO.replace(b"Hel", b"He\x00l")),
    "events-without-blank-lines": raw(HELLO.replace(b"\n\n", b"\n")),
}


@pytest.mark.parametrize("handler", UNREADABLE.values(), ids=UNREADABLE)
async def test_what_cannot_be_read_is_said_in_no_words_of_a_library(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "unreadable", handler)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("protocol", 1)
    assert not any(word in str(outcome.error) for word in ("attribute", "recursion", "utf-8", "codec"))


NO_ANSWER: dict[str, tuple[Handler, str]] = {
    "another-choice-alone": (raw(event("Hello", index=1) + event({}, "stop", 1) + DONE), "no answer"),
    "a-message-for-a-delta": (
        raw(choices([{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]) + DONE),
        "no answer",
    ),
    "a-number-for-a-text": (raw(event({"content": 5}) + STOP), "no answer"),
    "a-filter": (raw(event({}, "content_filter") + DONE), "filter"),
    "no-room": (raw(event({}, "length") + DONE), "cut off"),
    "calls-of-nothing": (raw(event({"tool_calls": [None]}) + event({}, "tool_calls")), "no tool call"),
    "a-call-of-no-function": (
        raw(event({"tool_calls": [{"index": 0, "function": None}]}) + event({}, "tool_calls")),
        "no tool call",
    ),
    "a-call-without-name": (raw(event(call("", '{"path":"x"}')) + event({}, "tool_calls")), "no tool"),
    "arguments-a-number": (raw(event(call("listFiles", 5)) + event({}, "tool_calls")), "no tool call"),
    "arguments-cut-by-length": (raw(event(call("readFile", '{"path":"x')) + event({}, "length")), "cut off"),
}


@pytest.mark.parametrize(("handler", "told"), NO_ANSWER.values(), ids=NO_ANSWER)
async def test_a_reply_that_holds_nothing_runs_nothing_and_the_model_is_told_why(
    gateway: Gateway, server: FaultServer, handler: Handler, told: str
) -> None:
    reply = (await asked(gateway, server, "no-answer", handler)).reply
    assert reply.calls == ()
    assert told in reply.told


@pytest.mark.parametrize("finish", ["", "error", None])
async def test_without_a_finish_reason_nothing_is_run(
    gateway: Gateway, server: FaultServer, finish: str | None
) -> None:
    outcome = await asked(
        gateway, server, "unfinished", raw(event(call("listFiles", "{}")) + event({}, finish) + DONE)
    )
    assert outcome.error is not None
    assert outcome.error.kind == "interrupted-stream"


CALLS: dict[str, list[bytes]] = {
    "an-index-as-text": [event(call("readFile", '{"path":"x"}', index="0"))],
    "one-call-not-in-a-list": [
        event({"tool_calls": {"index": 0, "id": "a", "function": {"name": "readFile", "arguments": '{"path":"x"}'}}})
    ],
    "a-summary-at-the-end": [
        event(call("readFile", '{"pa')),
        event({"tool_calls": [{"index": 0, "function": {"arguments": 'th":"x"}'}}]}),
        event(call("readFile", '{"path":"x"}')),
    ],
    "text-after-it": [event(call("readFile", '{"path":"x"}')), event("So.")],
    "an-empty-id": [event(call("readFile", '{"path":"x"}', id=""))],
    "null-between": [event(call("readFile", '{"path"')), event({"tool_calls": None}), event({"tool_calls": [
        {"index": 0, "id": None, "function": {"name": None, "arguments": ':"x"}'}}]})],
}  # fmt: skip


@pytest.mark.parametrize("events", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call"])
async def test_a_call_in_an_odd_shape_is_the_call_it_means(
    gateway: Gateway, server: FaultServer, events: list[bytes], finish: str
) -> None:
    reply = (await asked(gateway, server, "call", raw(*events, event({}, finish), DONE))).reply
    assert [(c.name, c.arguments) for c in reply.calls] == [("readFile", '{"path":"x"}')]
    assert reply.calls[0].id


@pytest.mark.parametrize(
    "given",
    [
        {"prompt_tokens": -1, "completion_tokens": -1, "total_tokens": -2},
        {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
        [],
        {},
    ],
    ids=["below-nought", "null", "a-list", "nothing"],
)
async def test_usage_that_is_none_is_unknown_and_never_nought(
    gateway: Gateway, server: FaultServer, given: Any
) -> None:
    reply = (await asked(gateway, server, "usage", raw(usage(given)))).reply
    assert reply.text == "Hello"
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.cost) == (None, None, None)


async def test_usage_written_as_text_is_a_number(gateway: Gateway, server: FaultServer) -> None:
    given = {"prompt_tokens": "7", "completion_tokens": "3", "total_tokens": "10"}
    reply = (await asked(gateway, server, "usage", raw(usage(given)))).reply
    assert (reply.usage.prompt, reply.usage.completion) == (7, 3)


async def test_hundreds_of_equal_pieces_are_an_answer(gateway: Gateway, server: FaultServer) -> None:
    outcome = await asked(gateway, server, "ruled", raw(event("----") * 300, STOP))
    assert outcome.reply.text == "-" * 1_200
