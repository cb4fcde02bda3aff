"""Ollama's context is known as it is, and what it cuts from a conversation is said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part, Reply, WorkerNotice
from tests.model.server import Connection, FaultServer

pytestmark = pytest.mark.asyncio(loop_scope="session")


def ollama(
    name: str, loaded: Any = None, parameters: str | None = None, pieces: tuple[str, ...] = ("Hello",)
) -> Any:
    """A server that answers in ``pieces``; ``loaded`` is what ``/api/ps`` says of the model's context."""

    async def handler(c: Connection) -> None:
        if c.path.endswith("/api/ps"):
            models = [
                {"name": f"{name}:latest", "context_length": loaded},
                {"name": "other", "context_length": 1},
            ]
            await c.answer("200 OK", json.dumps({"models": models if loaded else models[1:]}))
        elif c.path.endswith("/api/show"):
            shown = {"model_info": {"qwen3.context_length": 40_960}, "parameters": parameters}
            await c.answer("200 OK", json.dumps(shown))
        else:
            await c.head(content_type="application/x-ndjson")
            shape: dict[str, Any] = {}
            for piece in pieces:
                shape = {"model": name, "message": {"role": "assistant", "content": piece}, "done": False}
                await c.raw(json.dumps(shape).encode() + b"\n")
            await c.raw(json.dumps(shape | {"message": {"content": ""}, "done": True}).encode() + b"\n")

    return handler


def at(server: FaultServer, name: str, handler: Any) -> dict[str, Any]:
    return {"api_base": server.base(name, handler).removesuffix("/v1")}


async def asked(gateway: Gateway, name: str, options: dict[str, Any], characters: int) -> list[Part]:
    messages = json.dumps([{"role": "user", "content": "x" * characters}])
    parts = [part async for part in gateway.stream(ModelRequest(f"ollama/{name}", messages, (), options))]
    assert isinstance(parts[-1], Reply) and parts[-1].text == "Hello"
    return parts


def said(parts: list[Part]) -> list[str]:
    return [part.sentence for part in parts if isinstance(part, WorkerNotice)]


async def test_what_is_longer_than_the_loaded_context_is_said_to_be_cut_and_said_once(
    gateway: Gateway, server: FaultServer
) -> None:
    options = at(server, "cutting", ollama("cutting", 4_096))
    assert said(await asked(gateway, "cutting", options, 8_000)) == []
    (sentence,) = said(await asked(gateway, "cutting", options, 20_000))
    assert "4,096 tokens" in sentence and "num_ctx" in sentence
    assert said(await asked(gateway, "cutting", options, 30_000)) == []


@pytest.mark.parametrize("loaded", [None, "many", 0, 40_960])
async def test_nothing_is_said_to_be_cut_that_was_not_or_may_not_have_been(
    gateway: Gateway, server: FaultServer, loaded: Any
) -> None:
    options = at(server, "whole", ollama("whole", loaded))
    assert said(await asked(gateway, "whole", options, 20_000)) == []


@pytest.mark.parametrize(
    "pieces", [("<think>", "hm", "</think>", "Hello"), ("<think>h", "m</th", "ink>\n\nHello")]
)
async def test_thoughts_between_tags_are_not_made_part_of_the_answer(
    gateway: Gateway, server: FaultServer, pieces: tuple[str, ...]
) -> None:
    parts = await asked(gateway, "tagged", at(server, "tagged", ollama("tagged", pieces=pieces)), 10)
    reply = parts[-1]
    assert isinstance(reply, Reply)
    assert reply.reasoning == "hm"


async def test_the_context_that_is_asked_for_is_sent(gateway: Gateway, server: FaultServer) -> None:
    options = at(server, "sized", ollama("sized")) | {"num_ctx": 16_384}
    await asked(gateway, "sized", options, 10)
    assert any(
        json.loads(body or b"{}").get("options") == {"num_ctx": 16_384} for body in server.bodies["sized"]
    )


@pytest.mark.parametrize(
    ("loaded", "parameters", "more", "window"),
    [
        (None, None, {}, 40_960),
        (4_096, None, {}, 4_096),
        (None, 'stop "<|end|>"\nnum_ctx                        8192\n', {}, 8_192),
        (4_096, None, {"num_ctx": 16_384}, 16_384),
    ],
    ids=["the-models", "as-loaded", "as-made", "as-asked-for"],
)
async def test_the_window_is_the_one_that_ollama_gives(
    gateway: Gateway,
    server: FaultServer,
    loaded: int | None,
    parameters: str | None,
    more: dict[str, Any],
    window: int,
) -> None:
    options = at(server, "window", ollama("window", loaded, parameters)) | more
    assert (await gateway.about("ollama/window", options)).window == window
