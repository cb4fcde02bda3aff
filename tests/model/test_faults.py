"""What servers really do, byte by byte, through the real worker and the real litellm."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from steward.errors import ModelError
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part, ReasoningPart, Reply, RetryNotice, TextPart
from tests.model.conftest import KEY, OTHER_SECRET
from tests.model.server import USAGE, Connection, FaultServer, Handler, chunk, data, event

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOOLS = tuple(
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("readFile", "listFiles")
)
MESSAGES = '[{"role":"user","content":"hi"}]'
STOP = event({}, "stop")


@dataclass
class Outcome:
    parts: list[Part]
    error: ModelError | None
    requests: int

    @property
    def reply(self) -> Reply:
        assert self.error is None, self.error
        reply = self.parts[-1]
        assert isinstance(reply, Reply)
        return reply

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def retries(self) -> int:
        return sum(isinstance(part, RetryNotice) for part in self.parts)


async def asked(
    gateway: Gateway, server: FaultServer, name: str, handler: Handler, model: str = "openai/x"
) -> Outcome:
    options = {"api_base": server.base(name, handler), "api_key": KEY}
    parts: list[Part] = []
    error: ModelError | None = None
    try:
        async for part in gateway.stream(ModelRequest(model, MESSAGES, TOOLS, options)):
            parts.append(part)
    except ModelError as raised:
        error = raised
    return Outcome(parts, error, server.requests[name])


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {
        "tool_calls": [
            {"index": 0, "id": "a", "type": "function", "function": {"name": name, "arguments": arguments}}
            | more
        ]
    }


# Refusals, by status

STATUSES: list[tuple[str, str, str, bool, str]] = [
    # status line, the server's words, kind, tried again, what the sentence says
    ("400 Bad Request", "this model does not support tools", "bad-request", False, "does not support tools"),
    ("400 Bad Request", "This model's maximum context length is 10", "context-overflow", False, "no longer fits"),
    ("400 Bad Request", "prompt is too long: 9 tokens > 8 maximum", "context-overflow", False, "no longer fits"),
    ("400 Bad Request", "your request was refused by policy", "bad-request", False, "refused by policy"),
    ("401 Unauthorized", f"Incorrect API key provided: {KEY}.", "authentication", False, "OPENAI_API_KEY"),
    ("402 Payment Required", "pay", "refused", False, "payment"),
    ("403 Forbidden", "no", "refused", False, "another model"),
    ("404 Not Found", "The model `x` does not exist", "not-found", False, "does not exist"),
    ("405 Method Not Allowed", "no", "bad-request", False, "(405)"),
    ("408 Request Timeout", "slow", "timeout", True, "time"),
    ("413 Content Too Large", "big", "context-overflow", False, "too large"),
    ("418 I'm a teapot", "short and stout", "bad-request", False, "stout"),
    ("422 Unprocessable Content", "nah", "bad-request", False, "nah"),
    ("429 Too Many Requests", "slow down", "rate-limit", True, "slow down"),
    ("500 Internal Server Error", "out of memory", "server", True, "out of memory"),
    ("502 Bad Gateway", "bad gateway", "server", True, "(502)"),
    ("503 Service Unavailable", "loading model", "server", True, "loading model"),
    ("504 Gateway Timeout", "slow", "timeout", True, "(504)"),
    ("529 Overloaded", "busy", "server", True, "(529)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "words", "kind", "again", "says"),
    STATUSES,
    ids=[f"{s[:3]}-{k}-{i}" for i, (s, _, k, *_) in enumerate(STATUSES)],
)
async def test_a_refusal_is_one_sentence_by_its_status(
    gateway: Gateway, server: FaultServer, status: str, words: str, kind: str, again: bool, says: str
) -> None:
    async def refuse(c: Connection) -> None:
        await c.error(status, f"{words} (key {c.headers['authorization']}; also {OTHER_SECRET})")

    outcome = await asked(gateway, server, "refusal", refuse)
    error = outcome.error
    assert error is not None
    assert (error.kind, error.status) == (kind, int(status[:3]))
    assert says in str(error)
    assert "\n" not in str(error)
    assert str(error).endswith((".", "…"))
    assert KEY not in str(error)
    assert OTHER_SECRET not in str(error)
    attempts = 1 if not again else 2 if kind == "timeout" else 4
    assert (outcome.requests, outcome.retries) == (attempts, attempts - 1)


async def test_html_pages_never_reach_a_sentence(gateway: Gateway, server: FaultServer) -> None:
    page = "<!doctype html><html><body><h1>Bad</h1><script>alert(1)</script></body></html>"
    for status in ("400 Bad Request", "404 Not Found", "500 Internal Server Error", "502 Bad Gateway"):

        async def refuse(c: Connection, status: str = status) -> None:
            await c.answer(status, page, "text/html")

        error = (await asked(gateway, server, "html", refuse)).error
        assert error is not None
        assert error.status == int(status[:3])
        assert "<" not in str(error)


async def test_retry_after_is_honoured_and_shown(gateway: Gateway, server: FaultServer) -> None:
    async def busy_once(c: Connection) -> None:
        if c.number == 1:
            await c.error("429 Too Many Requests", "slow", retry_after="0.05")
        else:
            await c.say("ok")

    outcome = await asked(gateway, server, "busy", busy_once)
    notice = outcome.parts[0]
    assert isinstance(notice, RetryNotice)
    assert (notice.attempt, notice.seconds) == (1, 0.05)
    assert "429" in notice.reason
    assert outcome.reply.text == "ok"


async def test_a_server_that_asks_for_an_hour_is_not_waited_for(
    gateway: Gateway, server: FaultServer
) -> None:
    async def busy(c: Connection) -> None:
        await c.error("429 Too Many Requests", "slow", retry_after="3600")

    outcome = await asked(gateway, server, "hour", busy)
    assert outcome.requests == 1
    assert outcome.error is not None
    assert outcome.error.retry_after == 3600
    assert "3600 s" in str(outcome.error)


# No answer


async def test_nothing_listening_on_this_machine_says_to_start_the_server(gateway: Gateway) -> None:
    request = ModelRequest("openai/x", MESSAGES, (), {"api_base": "http://127.0.0.1:9/v1", "api_key": KEY})
    with pytest.raises(ModelError, match="start the server") as error:
        [part async for part in gateway.stream(request)]
    assert error.value.kind == "connection"


async def test_a_name_that_does_not_exist_is_a_connection_error(gateway: Gateway) -> None:
    request = ModelRequest(
        "openai/x", MESSAGES, (), {"api_base": "http://nowhere.invalid/v1", "api_key": KEY}
    )
    with pytest.raises(ModelError, match=r"nowhere\.invalid") as error:
        [part async for part in gateway.stream(request)]
    assert error.value.kind == "connection"


async def close_at_once(c: Connection) -> None:
    pass


async def reset(c: Connection) -> None:
    c.break_off()


async def speak_ssh(c: Connection) -> None:
    await c.raw(b"SSH-2.0-OpenSSH_9.9\r\n")


async def half_a_head(c: Connection) -> None:
    await c.raw(b"HTTP/1.1 200 OK\r\ncontent-type: text/ev")


@pytest.mark.parametrize("handler", [close_at_once, reset, speak_ssh, half_a_head])
async def test_a_connection_that_ends_before_an_answer_is_tried_again(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "ends", handler)
    assert outcome.error is not None
    assert outcome.error.kind == "connection"
    assert (outcome.requests, outcome.retries) == (4, 3)


async def plain_http_where_tls_was_asked(c: Connection) -> None:
    await c.say("never")


async def test_tls_where_there_is_none_says_to_mend_the_base_url(
    gateway: Gateway, server: FaultServer
) -> None:
    base = server.base("tls", plain_http_where_tls_was_asked).replace("http://", "https://")
    request = ModelRequest("openai/x", MESSAGES, (), {"api_base": base, "api_key": KEY})
    with pytest.raises(ModelError, match="http://") as error:
        [part async for part in gateway.stream(request)]
    assert error.value.kind == "connection"


# Silence


async def say_nothing(c: Connection) -> None:
    await c.hang()


async def head_only(c: Connection) -> None:
    await c.head()
    await c.hang()


async def comments_for_ever(c: Connection) -> None:
    await c.head()
    while True:
        await c.raw(b": keep-alive\n\n")
        await asyncio.sleep(0.02)


async def empty_chunks_for_ever(c: Connection) -> None:
    await c.head()
    while True:
        await c.raw(event({"role": "assistant", "content": ""}))
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("handler", [say_nothing, head_only, comments_for_ever, empty_chunks_for_ever])
async def test_silence_before_the_first_token_ends_by_our_own_clock(
    impatient: Callable[..., Gateway], server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(impatient(first_token=0.25), server, "silence", handler)
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
    assert "within 0.25 s" in str(outcome.error)
    assert (outcome.requests, outcome.retries) == (2, 1)


async def hang_in_the_middle(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel"))
    await c.hang()


async def comments_in_the_middle(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel"))
    while True:
        await c.raw(b": keep-alive\n\n" + event({}))
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("handler", [hang_in_the_middle, comments_in_the_middle])
async def test_silence_in_the_middle_ends_by_our_own_clock_and_is_not_tried_again(
    impatient: Callable[..., Gateway], server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(impatient(gap=0.25), server, "middle", handler)
    assert outcome.text == "Hel"
    assert outcome.error is not None
    assert outcome.error.kind == "timeout"
    assert outcome.requests == 1


async def test_a_server_on_this_machine_is_given_more_time(
    impatient: Callable[..., Gateway], server: FaultServer
) -> None:
    outcome = await asked(impatient(first_token=0.1, local_factor=3.0), server, "local", say_nothing)
    assert outcome.error is not None
    assert "within 0.3 s" in str(outcome.error)


# Streams that end wrongly


async def break_in_the_middle(c: Connection) -> None:
    await c.chunked()
    await c.piece(event("Hel"))
    await asyncio.sleep(0.05)
    c.break_off()


async def end_in_the_middle(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel"))


async def done_without_a_reason(c: Connection) -> None:
    await c.say("Hel", finish=None)


async def a_call_without_a_reason(c: Connection) -> None:
    await c.say("Hel", call("listFiles", "{}"), finish=None)


async def end_within_a_line(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel") + event("lo")[:40])


@pytest.mark.parametrize(
    "handler",
    [
        break_in_the_middle,
        end_in_the_middle,
        done_without_a_reason,
        a_call_without_a_reason,
        end_within_a_line,
    ],
)
async def test_a_stream_without_its_end_is_an_error_and_runs_nothing(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "broken", handler)
    assert outcome.text == "Hel"
    assert outcome.error is not None
    assert outcome.error.kind == "interrupted-stream"
    assert outcome.requests == 1
    assert not any(isinstance(part, Reply) for part in outcome.parts)


async def garbage_first(c: Connection) -> None:
    await c.head()
    await c.raw(b"data: {not json\n\n" + STOP)


async def garbage_later(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel") + b"data: {not json\n\n" + STOP)


async def not_utf8(c: Connection) -> None:
    await c.head()
    await c.raw(event("caf#").replace(b"#", b"\xe9") + STOP)


async def a_login_page(c: Connection) -> None:
    await c.answer("200 OK", "<html>Please log in</html>", "text/html")


async def an_error_called_ok(c: Connection) -> None:
    await c.answer("200 OK", json.dumps({"error": {"message": "oops"}}))


async def nothing_at_all(c: Connection) -> None:
    await c.answer("200 OK", "", "text/event-stream")


@pytest.mark.parametrize(
    "handler", [garbage_first, garbage_later, not_utf8, a_login_page, an_error_called_ok, nothing_at_all]
)
async def test_what_is_no_reply_is_a_protocol_error_and_not_tried_again(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "garbage", handler)
    assert outcome.error is not None
    assert outcome.error.kind == "protocol"
    assert "base URL" in str(outcome.error)
    assert outcome.requests == 1


async def test_an_error_event_after_text_is_not_tried_again(gateway: Gateway, server: FaultServer) -> None:
    async def explode(c: Connection) -> None:
        await c.head()
        await c.raw(event("Hel") + data({"error": {"message": "exploded", "code": 500}}))

    outcome = await asked(gateway, server, "explode", explode)
    assert outcome.error is not None
    assert outcome.error.kind == "interrupted-stream"
    assert outcome.requests == 1


async def test_an_error_event_before_anything_says_the_servers_words(
    gateway: Gateway, server: FaultServer
) -> None:
    async def explode(c: Connection) -> None:
        await c.head()
        await c.raw(data({"error": {"message": "no GPU left", "code": 500}}))

    outcome = await asked(gateway, server, "explode-first", explode)
    assert outcome.error is not None
    assert outcome.error.kind == "server"
    assert "no GPU left" in str(outcome.error)


# Odd streams that are replies all the same


async def drip(c: Connection) -> None:
    await c.head()
    for byte in event("Hel") + event("lo") + STOP:
        await c.raw(bytes([byte]))
        await asyncio.sleep(0)


async def crlf(c: Connection) -> None:
    await c.head()
    await c.raw((event("Hel") + event("lo") + STOP + b"data: [DONE]\n\n").replace(b"\n", b"\r\n"))


async def comments_between(c: Connection) -> None:
    await c.head()
    await c.raw(b": hi\n\n" + event("Hel") + b": ping\n\nevent: ping\ndata: {}\n\n" + event("lo") + STOP)


async def no_done_and_no_usage(c: Connection) -> None:
    await c.say("Hello", usage=False, done=False)


async def other_choices(c: Connection) -> None:
    await c.head()
    await c.raw(
        event("no", index=1) + event("Hel") + event("no", index=2) + event("lo") + STOP + event({}, "stop", 1)
    )


async def content_as_a_list(c: Connection) -> None:
    await c.say({"content": [{"type": "text", "text": "Hel"}]}, "lo")


async def null_deltas(c: Connection) -> None:
    empty = chunk("")
    empty["choices"][0]["delta"] = None
    await c.head()
    await c.raw(
        data(empty) + data({"id": "c"}) + event("Hel") + event({"content": None}) + event("lo") + STOP
    )


async def finish_in_the_last_piece(c: Connection) -> None:
    await c.head()
    await c.raw(event("Hel") + event("lo", "stop"))


async def a_reason_nobody_knows(c: Connection) -> None:
    await c.say("Hello", finish="eos_token")


async def a_reset_after_the_end(c: Connection) -> None:
    await c.chunked()
    await c.piece(event("Hello") + STOP + b"data: [DONE]\n\n")
    await asyncio.sleep(0.05)
    c.break_off()


@pytest.mark.parametrize(
    "handler",
    [
        drip, crlf, comments_between, no_done_and_no_usage, other_choices, content_as_a_list, null_deltas,
        finish_in_the_last_piece, a_reason_nobody_knows, a_reset_after_the_end,
    ],
)  # fmt: skip
async def test_an_odd_stream_is_a_reply_all_the_same(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "odd", handler)
    assert outcome.reply.text == "Hello"
    assert outcome.text == "Hello"
    assert outcome.reply.told == ""
    assert outcome.requests == 1


async def test_characters_cut_between_packets_arrive_whole(gateway: Gateway, server: FaultServer) -> None:
    async def cut(c: Connection) -> None:
        await c.chunked()
        stream = (json.dumps(chunk("Grüße 🎉"), ensure_ascii=False)).encode()
        stream = b"data: " + stream + b"\n\n" + STOP
        for start in range(0, len(stream), 3):
            await c.piece(stream[start : start + 3])
        await c.raw(b"0\r\n\r\n")

    assert (await asked(gateway, server, "cut", cut)).reply.text == "Grüße 🎉"


async def test_lone_surrogates_pass_and_can_be_sent_again(gateway: Gateway, server: FaultServer) -> None:
    async def half(c: Connection) -> None:
        await c.say("a\ud83d b")

    assert (await asked(gateway, server, "half", half)).reply.text == "a\ud83d b"


async def test_megabytes_in_one_piece_arrive(gateway: Gateway, server: FaultServer) -> None:
    async def huge(c: Connection) -> None:
        await c.say("x" * 3_000_000)

    assert len((await asked(gateway, server, "huge", huge)).reply.text) == 3_000_000


async def test_usage_is_what_the_server_reported_and_unknown_when_it_did_not(
    gateway: Gateway, server: FaultServer
) -> None:
    async def late(c: Connection) -> None:
        await c.say("x", usage=False, done=False)
        await c.raw(
            data(
                {
                    **chunk({}),
                    "choices": [],
                    "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 5}},
                }
            )
        )

    async def never(c: Connection) -> None:
        await c.say("x", usage=False)

    usage = (await asked(gateway, server, "late", late)).reply.usage
    assert (usage.prompt, usage.completion, usage.cached, usage.cost) == (7, 3, 5, None)
    usage = (await asked(gateway, server, "never", never)).reply.usage
    assert (usage.prompt, usage.completion, usage.cached, usage.cost) == (None, None, None, None)


async def test_a_known_price_is_reckoned(gateway: Gateway, server: FaultServer) -> None:
    async def answer(c: Connection) -> None:
        await c.say("x")

    usage = (await asked(gateway, server, "price", answer, "openai/gpt-4o")).reply.usage
    assert usage.cost is not None
    assert 0 < usage.cost < 0.01


async def test_reasoning_comes_apart_from_the_answer(gateway: Gateway, server: FaultServer) -> None:
    async def think(c: Connection) -> None:
        await c.say({"reasoning_content": "hmm"}, "answer")

    outcome = await asked(gateway, server, "think", think)
    assert outcome.parts[0] == ReasoningPart("hmm")
    assert (outcome.reply.text, outcome.reply.reasoning) == ("answer", "hmm")


def more(arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}


def old(**function: str) -> dict[str, Any]:
    return {"function_call": function}


CALLS: dict[str, list[dict[str, Any]]] = {
    "one": [call("readFile", '{"path":"x"}')],
    "without-id-and-index": [
        {"tool_calls": [{"function": {"name": "readFile", "arguments": '{"path":"x"}'}}]}
    ],
    "as-an-object": [call("readFile", {"path": "x"})],
    "in-pieces": [call("readFile", ""), more('{"path"'), more(':"x"}')],
    "repeated-names": [call("readFile", '{"path"'), call("readFile", ':"x"}')],
    "old-form": [old(name="readFile", arguments='{"path":'), old(arguments='"x"}')],
}


@pytest.mark.parametrize("deltas", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
async def test_calls_arrive_through_litellm_as_they_were_sent(
    gateway: Gateway, server: FaultServer, deltas: list[dict[str, Any]], finish: str
) -> None:
    async def answer(c: Connection) -> None:
        await c.say(*deltas, finish=finish)

    reply = (await asked(gateway, server, "calls", answer)).reply
    assert [(c.name, json.loads(c.arguments)) for c in reply.calls] == [("readFile", {"path": "x"})]
    assert reply.calls[0].id


async def test_two_calls_that_share_an_index_stay_two(gateway: Gateway, server: FaultServer) -> None:
    async def answer(c: Connection) -> None:
        await c.say(call("readFile", '{"path":"x"}'), call("listFiles", "{}", id="b"), finish="tool_calls")

    reply = (await asked(gateway, server, "shared", answer)).reply
    assert [(c.id, c.name) for c in reply.calls] == [("a", "readFile"), ("b", "listFiles")]


# What is sent


async def test_the_request_carries_the_messages_byte_for_byte_and_nothing_that_we_did_not_mean(
    gateway: Gateway, server: FaultServer
) -> None:
    async def answer(c: Connection) -> None:
        await c.say("x")

    messages = '[{"role":"system","content":"Grüße\\n"},{"role":"user","content":"{{not}} a <template>"}]'
    options = {
        "api_base": server.base("sent", answer),
        "api_key": KEY,
        "temperature": 0.5,
        "stream": False,
        "model": "evil",
        "n": 3,
    }
    async for _ in gateway.stream(ModelRequest("openai/x", messages, TOOLS, options)):
        pass
    body = json.loads(server.bodies["sent"][0])
    assert body["messages"] == json.loads(messages)
    assert body["model"] == "x"
    assert body["stream"] is True
    assert body["temperature"] == 0.5
    assert [tool["function"]["name"] for tool in body["tools"]] == ["readFile", "listFiles"]
    assert set(body) == {"messages", "model", "stream", "stream_options", "temperature", "tools"}
    assert server.headers["sent"][0]["authorization"] == f"Bearer {KEY}"
