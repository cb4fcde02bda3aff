"""What single providers are known for: how they end a stream, refuse, and word it; through the real litellm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steward.errors import ModelError
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Reply, RetryNotice
from tests.model.conftest import KEY
from tests.model.server import Connection, FaultServer, Handler, chunk, data, event
from tests.model.test_faults import MESSAGES, TOOLS, Outcome, asked
from tests.model.test_thoughts import replies

pytestmark = pytest.mark.asyncio(loop_scope="session")

SMALL = {"promptTokenCount": 5, "totalTokenCount": 5}


def refusing(status: str, shape: Any) -> Handler:
    async def handler(c: Connection) -> None:
        await c.answer(status, json.dumps(shape))

    return handler


async def native(gateway: Gateway, server: FaultServer, name: str, handler: Handler, model: str) -> Outcome:
    """Ask a provider whose addresses do not begin with ``/v1``."""
    options = {"api_base": server.base(name, handler).removesuffix("/v1"), "api_key": KEY}
    outcome = Outcome([], None, 0)
    try:
        async for part in gateway.stream(ModelRequest(model, MESSAGES, TOOLS, options)):
            outcome.parts.append(part)
    except ModelError as error:
        outcome.error = error
    outcome.requests = server.requests[name]
    return outcome


# Ends that are none


def ended(reason: str, error: dict[str, Any] | None = None) -> bytes:
    last = chunk({"content": ""}, reason)
    if error is not None:
        last["choices"][0]["error"] = error
    return data(last) + b"data: [DONE]\n\n"


@pytest.mark.parametrize("model", ["openai/x", "openrouter/some/model"])
@pytest.mark.parametrize("reason", ["error", "network_error", "insufficient_system_resource", "abort"])
async def test_an_answer_whose_server_failed_is_not_taken_for_a_whole_one(
    gateway: Gateway, server: FaultServer, model: str, reason: str
) -> None:
    outcome = await asked(gateway, server, "failed", replies(event("Hel") + ended(reason)), model)
    assert outcome.text == "Hel"
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("interrupted-stream", 1)


@pytest.mark.parametrize("model", ["openai/x", "openrouter/some/model"])
async def test_an_error_in_a_choice_is_judged_by_its_code_and_said_in_the_servers_words(
    gateway: Gateway, server: FaultServer, model: str
) -> None:
    stream = ended("error", {"code": 429, "message": "upstream is busy"})
    outcome = await asked(gateway, server, "choice", replies(*[stream] * 4), model)
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("rate-limit", 4)
    assert str(outcome.error).endswith('"upstream is busy".')


def gemini(*candidates: dict[str, Any]) -> Handler:
    return replies(b"".join(data({"candidates": [one], "usageMetadata": SMALL}) for one in candidates))


@pytest.mark.parametrize("before", [[], [{"text": "I will read it."}]], ids=["alone", "after-text"])
async def test_a_call_that_gemini_could_not_read_is_no_answer(
    gateway: Gateway, server: FaultServer, before: list[dict[str, Any]]
) -> None:
    said = [{"index": 0, "content": {"role": "model", "parts": before}}] if before else []
    handler = gemini(*said, {"index": 0, "content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"})
    outcome = await native(gateway, server, "malformed", handler, "gemini/gemini-2.5-pro")
    assert "no tool call" in outcome.reply.told


async def test_a_call_that_gemini_could_not_read_is_no_answer_in_openais_form_either(
    gateway: Gateway, server: FaultServer
) -> None:
    stream = event("I will read it.") + event({}, "function_call_filter: MALFORMED_FUNCTION_CALL")
    outcome = await asked(gateway, server, "filter", replies(stream))
    assert "no tool call" in outcome.reply.told


GENERATION = '<function=readFile>{"path": "x"}</function>'
UNREAD = {"message": "Failed to call a function. See 'failed_generation'.", "code": "tool_use_failed"}


@pytest.mark.parametrize("within", [False, True], ids=["instead-of-a-stream", "in-the-stream"])
async def test_a_call_that_groq_could_not_read_is_the_reply_that_the_model_gave(
    gateway: Gateway, server: FaultServer, within: bool
) -> None:
    shape = {"error": UNREAD | {"failed_generation": GENERATION}}
    handler = replies(data(shape)) if within else refusing("400 Bad Request", shape)
    reply = (await asked(gateway, server, "unread", handler, "groq/llama")).reply
    assert (reply.text, reply.calls) == (GENERATION, ())
    assert "printed a tool call as text" in reply.told


@pytest.mark.parametrize("more", [{}, {"failed_generation": "Let me see"}], ids=["nothing", "something-else"])
async def test_what_groq_could_not_read_is_never_an_answer(
    gateway: Gateway, server: FaultServer, more: dict[str, str]
) -> None:
    handler = refusing("400 Bad Request", {"error": UNREAD | more})
    outcome = await asked(gateway, server, "unread", handler, "groq/llama")
    assert (outcome.requests, outcome.reply.calls) == (1, ())
    assert "no tool call" in outcome.reply.told


# Refusals, as they are worded


def anthropic(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def google(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": "X"}}


def relayed(**metadata: Any) -> dict[str, Any]:
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}


REFUSED: dict[str, tuple[str, str, Any, str, str]] = {
    "anthropic-credit": (
        "anthropic/claude-sonnet-4-5", "400 Bad Request", anthropic("Your credit balance is too low."),
        "bad-request", ': "Your credit balance is too low.".',
    ),
    "anthropic-overloaded": (
        "anthropic/claude-sonnet-4-5", "529 Overloaded", anthropic("Overloaded"), "server", ': "Overloaded".',
    ),
    "anthropic-no-room-for-the-reply": (
        "anthropic/claude-sonnet-4-5", "400 Bad Request",
        anthropic("input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"),
        "context-overflow", "no longer fits",
    ),
    "gemini-schema": (
        "gemini/gemini-2.5-pro", "400 Bad Request", google(400, "Unknown name \"x\" at 'tools[0]'\nmore"),
        "bad-request", ": \"Unknown name \"x\" at 'tools[0]' more\".",
    ),
    "gemini-overloaded": (
        "gemini/gemini-2.5-pro", "503 Service Unavailable", google(503, "The model is overloaded."),
        "server", '(503); try later: "The model is overloaded.".',
    ),
    "ollama-dies": (
        "ollama/x", "200 OK", {"error": "llama runner process has terminated"},
        "bad-request", ': "llama runner process has terminated".',
    ),
    "openrouter-no-tools": (
        "openrouter/a/b", "404 Not Found", {"error": {"message": "No endpoints found that support tool use."}},
        "refused", "without tools",
    ),
    "openrouter-moderation": (
        "openrouter/a/b", "403 Forbidden", {"error": {"message": "Input was flagged", "code": 403}},
        "refused", "Input was flagged",
    ),
    "openrouter-credits": (
        "openrouter/a/b", "402 Payment Required", {"error": {"message": "can only afford 1000", "code": 402}},
        "refused", "can only afford 1000",
    ),
    "openrouter-relays-json": (
        "openrouter/a/b", "400 Bad Request",
        relayed(raw='{"error": {"message": "ids must be short"}}', provider_name="Mistral"),
        "bad-request", ': "Mistral: ids must be short".',
    ),
    "openrouter-relays-words": (
        "openrouter/a/b", "400 Bad Request", relayed(raw="no such thing"), "bad-request", ': "no such thing".',
    ),
    "openrouter-relays-nothing": (
        "openrouter/a/b", "400 Bad Request", relayed(raw=None), "bad-request", ': "Provider returned error".',
    ),
    "xai-window": (
        "xai/grok-4", "400 Bad Request",
        {"code": "x", "error": "This model's maximum prompt length is 131072 but the request contains 200000 tokens."},
        "context-overflow", "no longer fits",
    ),
    "kimi-window": (
        "moonshot/kimi-k2", "400 Bad Request",
        {"error": {"message": "Invalid request: Your request exceeded model token limit: 131072"}},
        "context-overflow", "no longer fits",
    ),
    "qwen-window": (
        "openai/qwen", "400 Bad Request", {"error": {"message": "Range of input length should be [1, 129024]"}},
        "context-overflow", "no longer fits",
    ),
    "glm-window": (
        "openai/glm", "400 Bad Request", {"error": {"message": "Prompt exceeds max length", "code": "1261"}},
        "context-overflow", "no longer fits",
    ),
    "openai-larger-than-its-minute": (
        "openai/x", "429 Too Many Requests",
        {"error": {"message": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 60000."}},
        "context-overflow", "no longer fits",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "status", "shape", "kind", "says"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_is_said_in_the_words_of_the_server_that_refused(
    gateway: Gateway, server: FaultServer, model: str, status: str, shape: Any, kind: str, says: str
) -> None:
    ask = native if model.startswith(("anthropic/", "gemini/", "ollama/")) else asked
    outcome = await ask(gateway, server, "refused", refusing(status, shape), model)
    assert outcome.error is not None
    assert (outcome.error.kind, says in str(outcome.error)) == (kind, True), str(outcome.error)


@pytest.mark.parametrize("model", ["openai/x", "openrouter/a/b"])
async def test_a_relays_error_in_the_stream_is_said_in_the_words_of_who_failed(
    gateway: Gateway, server: FaultServer, model: str
) -> None:
    shape = relayed(raw="upstream died", provider_name="Z")
    shape["error"]["code"] = 502
    outcome = await asked(gateway, server, "relayed", replies(*[data(shape | {"choices": []})] * 4), model)
    assert outcome.error is not None
    assert str(outcome.error).endswith('(502); try later: "Z: upstream died".')


async def test_a_window_that_lm_studio_finds_full_in_the_stream_is_not_asked_for_again(
    gateway: Gateway, server: FaultServer
) -> None:
    words = "The number of tokens to keep from the initial prompt is greater than the context length."
    handler = replies(b"event: error\n" + data({"error": {"message": words}}))
    outcome = await asked(gateway, server, "full", handler, "lm_studio/x")
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.requests) == ("context-overflow", 1)


# How long to wait

QUOTA = "You exceeded your current quota, please check your plan and billing details."
WAITS: dict[str, tuple[str, list[Any], float | None, bool]] = {
    "seconds": (f"{QUOTA} Please retry in 0.02s.", [], 0.02, True),
    "minutes": ("Rate limit reached. Please try again in 6m1.5s.", [], 361.5, False),
    "hours": ("Your quota will reset; try again in 2h3m.", [], 7_380, False),
    "details": (
        QUOTA,
        [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.02s"}],
        0.02,
        True,
    ),
    "a-day": (f"{QUOTA} Please retry in 0.02s.", [{"quotaId": "RequestsPerDayPerProject"}], 0.02, False),
    "nothing": (QUOTA, [], None, False),
}


@pytest.mark.parametrize(("words", "details", "seconds", "again"), WAITS.values(), ids=WAITS)
async def test_a_wait_that_stands_in_the_words_is_kept(
    gateway: Gateway, server: FaultServer, words: str, details: list[Any], seconds: float | None, again: bool
) -> None:
    shape = google(429, words)
    shape["error"]["details"] = details
    handler = refusing("429 Too Many Requests", shape)
    outcome = await native(gateway, server, "wait", handler, "gemini/gemini-2.5-pro")
    assert outcome.error is not None
    assert outcome.error.retry_after == seconds
    assert [part.seconds for part in outcome.parts if isinstance(part, RetryNotice)] == [seconds] * (
        3 * again
    )
    assert not any(isinstance(part, Reply) for part in outcome.parts)
