"""What goes wrong below a reply: TLS, framing, compression, redirects, refusals; through the real litellm."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import zlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from steward.errors import ModelError
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest
from tests.model.conftest import KEY, OTHER_SECRET
from tests.model.server import Connection, FaultServer, Handler, event
from tests.model.test_faults import MESSAGES, STOP, asked

pytestmark = pytest.mark.asyncio(loop_scope="session")

DONE = b"data: [DONE]\n\n"
HELLO = event("Hel") + event("lo") + STOP + DONE
PEM = Path(__file__).parent / "tls" / "nobody.pem"


def raw(*pieces: bytes, head: bytes | None = None, **headers: str) -> Handler:
    """Sends these bytes after a head of an event stream, or after ``head`` as it stands."""

    async def handler(c: Connection) -> None:
        await (c.raw(head) if head is not None else c.head(**headers))
        for piece in pieces:
            await c.raw(piece)

    return handler


def refusal(status: str, body: str = "", content_type: str = "text/html", **headers: str) -> Handler:
    async def handler(c: Connection) -> None:
        await c.answer(status, body, content_type, **headers)

    return handler


def told(**error: object) -> str:
    return json.dumps({"error": error})


def bomb(megabytes: int) -> bytes:
    """A few hundred kilobytes that become so many megabytes without a line's end."""
    press = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(press.compress(b"x" * 1_000_000) for _ in range(megabytes)) + press.flush()


# Replies, however they are wrapped

EVENT_STREAM = b"content-type: text/event-stream\r\n"
REPLIES: dict[str, Handler] = {
    "gzip": raw(gzip.compress(HELLO), content_encoding="gzip"),
    "deflate": raw(zlib.compress(HELLO), content_encoding="deflate"),
    "an-encoding-nobody-knows": raw(HELLO, content_encoding="zopfli"),
    "called-json": raw(HELLO, content_type="application/json"),
    "called-plain-text": raw(HELLO, content_type="text/plain"),
    "called-bytes": raw(HELLO, content_type="application/octet-stream"),
    "called-latin-1": raw(HELLO, content_type="text/event-stream; charset=latin-1"),
    "called-nothing": raw(HELLO, head=b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"),
    "http-1.0": raw(HELLO, head=b"HTTP/1.0 200 OK\r\n" + EVENT_STREAM + b"\r\n"),
    "201": raw(HELLO, head=b"HTTP/1.1 201 Created\r\nconnection: close\r\n" + EVENT_STREAM + b"\r\n"),
    "206": raw(HELLO, head=b"HTTP/1.1 206 Partial Content\r\nconnection: close\r\n" + EVENT_STREAM + b"\r\n"),
    "after-100": raw(
        HELLO,
        head=b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close\r\n" + EVENT_STREAM + b"\r\n",
    ),
    "after-103": raw(
        HELLO,
        head=b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close\r\n" + EVENT_STREAM + b"\r\n",
    ),
    "shorter-than-said": raw(HELLO, content_length=str(len(HELLO) + 30)),
    "without-a-last-chunk": raw(
        f"{len(HELLO):x}\r\n".encode() + HELLO + b"\r\n", transfer_encoding="chunked"
    ),
}  # fmt: skip


@pytest.mark.parametrize("handler", REPLIES.values(), ids=REPLIES)
async def test_a_reply_is_a_reply_however_it_is_wrapped(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "wrapped", handler)
    assert (outcome.reply.text, outcome.requests) == ("Hello", 1)


# What is no HTTP, or no reply

NOTHING: dict[str, Handler] = {
    "plain-called-gzip": raw(HELLO, content_encoding="gzip"),
    "a-length-below-nought": raw(HELLO, content_length="-5"),
    "two-lengths": raw(HELLO, head=b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 900\r\n\r\n"),
    "no-head": raw(HELLO, head=b""),
    "no-status": raw(head=b"HTTP/1.1 OK\r\n\r\n"),
    "a-head-of-300-kilobytes": raw(head=b"HTTP/1.1 200 OK\r\nx: " + b"y" * 300_000 + b"\r\n\r\n"),
    "a-head-of-2000-lines": raw(
        head=b"HTTP/1.1 200 OK\r\n" + b"".join(b"x%d: y\r\n" % n for n in range(2_000)) + b"\r\n"
    ),
    "a-head-without-colons": raw(HELLO, head=b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"),
}


@pytest.mark.parametrize("handler", NOTHING.values(), ids=NOTHING)
async def test_what_is_no_http_is_said_to_be_none(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "nothing", handler)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("connection", 4)
    assert "no answer in HTTP" in str(outcome.error) or "closed the connection" in str(outcome.error)


BROKEN_CHUNKS: dict[str, Handler] = {
    "no-number": raw(b"zz\r\n" + HELLO, transfer_encoding="chunked", connection="keep-alive"),
    "a-number-too-large": raw(
        b"f" * 17 + b"\r\n" + HELLO, transfer_encoding="chunked", connection="keep-alive"
    ),
}


@pytest.mark.parametrize("handler", BROKEN_CHUNKS.values(), ids=BROKEN_CHUNKS)
async def test_chunks_that_are_none_end_the_call(
    impatient: Callable[..., Gateway], server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(impatient(first_token=1.0), server, "chunks", handler)
    assert outcome.error is not None
    # The client sometimes waits for what will not come; our own clock ends that.
    assert outcome.error.kind in ("connection", "timeout", "interrupted-stream")


NO_REPLY: dict[str, Handler] = {
    "204": refusal("204 No Content"),
    "gzip-that-breaks-off": raw(gzip.compress(HELLO)[:20], content_encoding="gzip"),
    "a-gzip-bomb": raw(bomb(200), content_encoding="gzip"),
    "comments-and-an-end": raw(b": still here\n\n" * 20),
    "blank-lines": raw(b"\n" * 50),
    "done-and-no-more": raw(DONE),
    "done-before-the-reply": raw(DONE + HELLO),
    "a-whole-completion-at-once": refusal(
        "200 OK",
        json.dumps({"choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}),
        "application/json",
    ),
    "a-status-nobody-knows": raw(head=b"HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n"),
}


@pytest.mark.parametrize("handler", NO_REPLY.values(), ids=NO_REPLY)
async def test_an_answer_without_a_reply_is_not_asked_for_again(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "no-reply", handler)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("protocol", 1)
    assert "mozilla" not in str(outcome.error)


async def a_line_without_end(c: Connection) -> None:
    await c.head()
    await c.raw(b"data: ")
    while True:
        await c.raw(b"y" * 1_000_000)


async def text_without_end(c: Connection) -> None:
    await c.head()
    while True:
        await c.raw(event("x" * 500_000))


@pytest.mark.parametrize("handler", [a_line_without_end, text_without_end])
async def test_what_never_ends_is_stopped_before_the_memory_is_full(
    gateway: Gateway, server: FaultServer, handler: Handler
) -> None:
    outcome = await asked(gateway, server, "endless", handler)
    assert outcome.error is not None
    assert outcome.error.kind == "protocol"
    await asyncio.wait_for(server.ended["endless"].wait(), 60)


# Refusals

PAGE = f"<!DOCTYPE html><html><head><title>Attention Required!</title></head><body>{KEY}</body></html>"
REFUSALS: dict[str, tuple[Handler, str, int, str]] = {
    "a-page-for-401": (refusal("401 Unauthorized", PAGE), "authentication", 1, "OPENAI_API_KEY"),
    "a-page-for-403": (refusal("403 Forbidden", PAGE), "refused", 1, "another model"),
    "a-page-for-503": (refusal("503 Service Unavailable", PAGE), "server", 4, "try later"),
    "a-page-for-520": (refusal("520 Unknown", PAGE), "server", 4, "try later"),
    "a-page-of-megabytes": (refusal("400 Bad Request", "<p>" * 500_000), "bad-request", 1, "(400)"),
    "a-key-in-a-list": (
        refusal("401 Unauthorized", json.dumps([{"message": KEY}]), "application/json"),
        "authentication", 1, "key",
    ),
    "a-key-as-text": (refusal("401 Unauthorized", f"Bearer {KEY} is wrong", "text/plain"), "authentication", 1, "key"),
    "no-words": (refusal("401 Unauthorized"), "authentication", 1, "key"),
    "a-traceback": (
        refusal("400 Bad Request", json.dumps({"detail": 'Traceback (most recent call last):\n File "/srv/x.py"'})),
        "bad-request", 1, "(400)",
    ),
    "words-without-end": (refusal("400 Bad Request", told(message="x" * 100_000)), "bad-request", 1, "…"),
    "304": (refusal("304 Not Modified"), "bad-request", 1, "(304)"),
    "407": (refusal("407 Proxy Authentication Required"), "refused", 1, "HTTPS_PROXY"),
    "410": (refusal("410 Gone", "retired", "text/plain"), "bad-request", 1, "retired"),
    "451": (refusal("451 Unavailable For Legal Reasons", "not here", "text/plain"), "bad-request", 1, "not here"),
    "507": (refusal("507 Insufficient Storage"), "server", 4, "(507)"),
    "a-quota-used-up": (
        refusal("429 Too Many Requests", told(message="You exceeded your current quota", code="insufficient_quota")),
        "rate-limit", 1, "account",
    ),
    "wait-since-2015": (
        refusal("429 Too Many Requests", "{}", retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), "rate-limit", 4, "wait",
    ),
    "wait-until-soon": (refusal("429 Too Many Requests", "{}", retry_after="soon"), "rate-limit", 4, "wait"),
    "wait-backwards": (refusal("429 Too Many Requests", "{}", retry_after="-7"), "rate-limit", 4, "wait"),
    "wait-no-number": (refusal("429 Too Many Requests", "{}", retry_after="nan"), "rate-limit", 4, "wait"),
    "wait-for-ever": (refusal("429 Too Many Requests", "{}", retry_after="inf"), "rate-limit", 4, "wait"),
}  # fmt: skip


@pytest.mark.parametrize(("handler", "kind", "requests", "says"), REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_in_any_form_is_one_sentence_without_a_key(
    gateway: Gateway, server: FaultServer, handler: Handler, kind: str, requests: int, says: str
) -> None:
    outcome = await asked(gateway, server, "refused", handler)
    assert outcome.error is not None
    said = str(outcome.error)
    assert (outcome.error.kind, outcome.requests) == (kind, requests), said
    assert says in said and len(said) < 700 and "\n" not in said
    assert not any(word in said for word in (KEY, OTHER_SECRET, "<", "Traceback", "inf s"))


EVENTS: dict[str, tuple[bytes, str, int]] = {
    "401": (b"data: " + told(message=f"bad key {KEY}", code=401).encode() + b"\n\n", "authentication", 1),
    "429": (b"data: " + told(message="slow down", code="429").encode() + b"\n\n", "rate-limit", 4),
    "400": (b"data: " + told(message="maximum context is 10", code=400).encode() + b"\n\n", "context-overflow", 1),
    "named": (b'event: error\ndata: {"error": "overloaded"}\n\n', "server", 4),
    "words": (b'data: {"error": "boom"}\n\n', "server", 4),
}  # fmt: skip


@pytest.mark.parametrize(("stream", "kind", "requests"), EVENTS.values(), ids=EVENTS)
async def test_an_error_that_comes_as_an_event_is_judged_by_the_status_it_states(
    gateway: Gateway, server: FaultServer, stream: bytes, kind: str, requests: int
) -> None:
    outcome = await asked(gateway, server, "event", raw(stream))
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == (kind, requests), str(outcome.error)
    assert KEY not in str(outcome.error)


# Redirects


async def test_a_redirect_leads_nowhere_but_within_its_host(gateway: Gateway, server: FaultServer) -> None:
    elsewhere = await asyncio.start_server(lambda r, w: seen.append(w), "127.0.0.1", 0)
    seen: list[object] = []
    port = elsewhere.sockets[0].getsockname()[1]
    for status in ("301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"):
        for where in (f"http://127.0.0.1:{port}/v1", "file:///etc/passwd", "//[", ""):
            location = {"location": where} if where else {}
            outcome = await asked(gateway, server, "away", refusal(status, "", **location))
            assert outcome.error is not None
            assert outcome.error.kind in ("bad-request", "connection", "protocol"), (status, where)
            assert "/etc/passwd" not in str(outcome.error)
    assert seen == []
    elsewhere.close()


async def test_redirects_in_a_circle_end(gateway: Gateway, server: FaultServer) -> None:
    async def again(c: Connection) -> None:
        await c.answer("307 Temporary Redirect", "", location=c.path)

    outcome = await asked(gateway, server, "circle", again)
    assert outcome.error is not None
    assert outcome.requests <= 16


# TLS


async def _welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.close()


@pytest_asyncio.fixture(loop_scope="session")
async def nobody() -> AsyncGenerator[int]:
    """The port of a server whose certificate nobody has signed, and for another name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    listening = await asyncio.start_server(_welcome, "127.0.0.1", 0, ssl=context)
    yield listening.sockets[0].getsockname()[1]
    listening.close()


async def refused(gateway: Gateway, port: int) -> ModelError:
    base = f"https://127.0.0.1:{port}/v1"
    with pytest.raises(ModelError) as error:
        [
            part
            async for part in gateway.stream(
                ModelRequest("openai/x", MESSAGES, (), {"api_base": base, "api_key": KEY})
            )
        ]
    return error.value


async def test_a_certificate_that_nobody_signed_says_what_to_set(gateway: Gateway, nobody: int) -> None:
    error = await refused(gateway, nobody)
    assert error.kind == "connection" and "certificate" in str(error) and "SSL_CERT_FILE" in str(error)


async def _speak_nothing_of_it(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"\x15\x03\x01\x00\x02\x02\x28" if reader.at_eof() is False else b"")
    await writer.drain()
    writer.close()


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.transport.abort()


@pytest.mark.parametrize("welcome", [_speak_nothing_of_it, _hang_up])
async def test_a_handshake_that_fails_is_a_connection_that_fails(gateway: Gateway, welcome: Handler) -> None:
    listening = await asyncio.start_server(welcome, "127.0.0.1", 0)  # pyright: ignore[reportArgumentType]
    error = await refused(gateway, listening.sockets[0].getsockname()[1])
    assert error.kind == "connection", str(error)
    listening.close()
