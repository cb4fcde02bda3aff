"""Which models are within reach, and documents from the network."""

from __future__ import annotations

import json
from typing import Any

import pytest

from steward.errors import ModelError
from steward.model.choices import ModelChoice, ModelFacts
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest
from tests.model.server import Connection, FaultServer

pytestmark = pytest.mark.asyncio(loop_scope="session")


def serve(server: FaultServer, name: str, pages: dict[str, Any]) -> None:
    async def answer(c: Connection) -> None:
        page = next((body for path, body in pages.items() if c.path.endswith(path)), None)
        if page is None:
            await c.error("404 Not Found", "no")
        else:
            await c.answer("200 OK", json.dumps(page))

    server.base(name, answer)


async def test_models_are_found_on_local_servers_and_by_keys(gateway: Gateway, server: FaultServer) -> None:
    serve(
        server,
        "ollama",
        {
            "/api/tags": {"models": [{"name": "qwen3:8b"}]},
            "/api/show": {
                "model_info": {"qwen3.context_length": 40960},
                "capabilities": ["completion", "tools"],
            },
        },
    )
    serve(
        server,
        "llamacpp",
        {
            "/models": {"data": [{"id": "smol", "meta": {"n_ctx": 1}}]},
            "/props": {
                "chat_template_caps": {"supports_tools": False},
                "default_generation_settings": {"n_ctx": 4096},
            },
        },
    )
    serve(server, "lmstudio", {"/models": {"data": [{"id": "gemma"}, {"id": "text-embedding-x"}]}})
    here = f"127.0.0.1:{server.port}"
    found = {choice.name: choice for choice in await gateway.models()}
    assert found["ollama/qwen3:8b"] == ModelChoice("ollama/qwen3:8b", here, 40960, tools=True, found="Ollama")
    assert found["llamafile/smol"] == ModelChoice(
        "llamafile/smol", here, 4096, tools=False, found="llama.cpp"
    )
    assert found["lm_studio/gemma"] == ModelChoice("lm_studio/gemma", here, found="LM Studio")
    assert "lm_studio/text-embedding-x" not in found
    assert found["offline/guide"].where == "this machine"
    groq = [choice for choice in found.values() if choice.found == "GROQ_API_KEY"]
    assert groq
    assert all(choice.name.startswith("groq/") for choice in groq)
    assert all(choice.where == "api.groq.com" for choice in groq)
    assert any(choice.price_in for choice in groq)
    assert not any(choice.name.startswith(("openai/", "anthropic/")) for choice in found.values())


async def test_servers_that_talk_nonsense_are_passed_over(gateway: Gateway, server: FaultServer) -> None:
    serve(server, "ollama", {"/api/tags": ["what"]})
    serve(server, "lmstudio", {"/models": {"data": "what"}})

    async def garbage(c: Connection) -> None:
        await c.raw(b"\xff\xfe garbage")

    server.base("llamacpp", garbage)
    assert [
        choice for choice in await gateway.models() if choice.found in {"Ollama", "LM Studio", "llama.cpp"}
    ] == []


async def fetched(gateway: Gateway, url: str, **options: Any) -> bytes:
    return await gateway.fetch(url, allow_local=True, **options)


async def test_a_document_is_fetched_byte_for_byte(gateway: Gateway, server: FaultServer) -> None:
    async def page(c: Connection) -> None:
        await c.answer("200 OK", "# Grüße\r\n", "text/markdown")

    assert await fetched(gateway, server.base("page", page)) == "# Grüße\r\n".encode()


async def test_documents_too_large_too_slow_missing_or_redirected_in_circles_are_refused(
    gateway: Gateway, server: FaultServer
) -> None:
    async def large(c: Connection) -> None:
        await c.head()
        while True:
            await c.raw(b"x" * 10_000)

    async def slow(c: Connection) -> None:
        await c.hang()

    async def missing(c: Connection) -> None:
        await c.error("404 Not Found", "no")

    async def circle(c: Connection) -> None:
        await c.answer("302 Found", "", location=server.base("circle"))

    for name, handler, kind, says in (
        ("large", large, "refused", "larger than 5,000 bytes"),
        ("slow", slow, "timeout", "within 0.3 s"),
        ("missing", missing, "not-found", "404"),
        ("circle", circle, "refused", "redirects too often"),
    ):
        seconds = 0.3 if name == "slow" else 60
        with pytest.raises(ModelError, match=says) as error:
            await fetched(gateway, server.base(name, handler), limit=5000, seconds=seconds)
        assert error.value.kind == kind


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://example.org/x", "http://", "https://me:pw@example.org/", "gopher://x"],
)
async def test_only_plain_web_addresses_are_fetched(gateway: Gateway, url: str) -> None:
    with pytest.raises(ModelError) as error:
        await gateway.fetch(url)
    assert error.value.kind == "refused"
    assert "pw" not in str(error.value)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "0.0.0.0", "192.168.1.1"]
)
async def test_this_machine_and_private_networks_are_refused(
    gateway: Gateway, server: FaultServer, host: str
) -> None:
    with pytest.raises(ModelError) as error:
        await gateway.fetch(f"http://{host}:{server.port}/private/")
    assert error.value.kind == "refused"
    assert server.requests["private"] == 0


async def test_a_redirect_to_this_machine_is_refused(gateway: Gateway, server: FaultServer) -> None:
    """A redirect is judged like a first address, so that a page outside can't point inside."""

    async def away(c: Connection) -> None:
        await c.answer("302 Found", "", location="file:///etc/passwd")

    with pytest.raises(ModelError, match="Only http") as error:
        await fetched(gateway, server.base("away", away))
    assert error.value.kind == "refused"


# What is known of one model


async def test_what_llama_cpp_says_of_its_template_and_window_is_known(
    gateway: Gateway, server: FaultServer
) -> None:
    for supported in (True, False):
        serve(
            server,
            "about",
            {
                "/v1/models": {"data": [{"id": "some.gguf", "meta": {"n_ctx": 1}}]},
                "/about/props": {
                    "chat_template_caps": {"supports_tools": supported},
                    "default_generation_settings": {"n_ctx": 8192},
                },
            },
        )
        facts = await gateway.about("openai/local", {"api_base": server.base("about")})
        assert facts == ModelFacts(f"127.0.0.1:{server.port} (this machine)", True, 8192, supported)
    assert (await gateway.about("llamafile/x")).local


async def test_a_server_that_only_lists_its_models_is_taken_at_that(
    gateway: Gateway, server: FaultServer
) -> None:
    serve(server, "vllm", {"/models": {"data": [{"id": "a", "max_model_len": 4096}, {"id": "b"}]}})
    options = {"api_base": server.base("vllm")}
    assert (await gateway.about("openai/a", options)).window == 4096
    assert (await gateway.about("openai/b", options)).window is None
    assert (await gateway.about("openai/c", options)).tools is None


@pytest.mark.parametrize(
    "props",
    [
        {"chat_template_caps": [], "default_generation_settings": "big"},
        {"chat_template_caps": {"supports_tools": "yes"}, "default_generation_settings": {"n_ctx": "8k"}},
        {},
        [1],
        "no",
    ],
)
async def test_what_a_server_says_in_another_shape_is_unknown(
    gateway: Gateway, server: FaultServer, props: object
) -> None:
    serve(server, "shapes", {"/models": {"data": "none"}, "/props": props})
    facts = await gateway.about("openai/local", {"api_base": server.base("shapes")})
    assert (facts.window, facts.tools) == (None, None)


async def test_unknown_is_unknown(gateway: Gateway) -> None:
    assert await gateway.about("openai/nobody-knows") == ModelFacts("api.openai.com")
    assert await gateway.about("offline/guide") == ModelFacts("this machine")
    assert (await gateway.about("no-such-model")).tools is None
    known = await gateway.about("openai/gpt-4o")
    assert (known.host, known.local, known.window, known.tools) == ("api.openai.com", False, 128_000, True)


async def test_the_address_of_the_persons_own_options_is_asked_for_its_models(
    gateway: Gateway, server: FaultServer
) -> None:
    serve(server, "own", {"/own/v1/models": {"data": [{"id": "mine"}]}})
    found = {c.name: c for c in await gateway.models({"api_base": server.base("own")})}
    assert found["openai/mine"] == ModelChoice(
        "openai/mine", f"127.0.0.1:{server.port}", found="your api_base"
    )
    assert "openai/mine" not in {c.name for c in await gateway.models({"api_base": "https://api.example/v1"})}


async def test_reasoning_effort_is_sent_where_the_model_has_it(gateway: Gateway, server: FaultServer) -> None:
    async def answer(c: Connection) -> None:
        await c.say("x")

    options = {"api_base": server.base("effort", answer), "api_key": "k", "reasoning_effort": "low"}
    for model in ("openai/gpt-5", "openai/gpt-4o"):
        async for _ in gateway.stream(ModelRequest(model, '[{"role":"user","content":"hi"}]', (), options)):
            pass
    sent = [json.loads(body).get("reasoning_effort") for body in server.bodies["effort"]]
    assert sent == ["low", None]
    assert (await gateway.about("openai/gpt-5", options)).ignored == ()
    assert (await gateway.about("openai/gpt-4o", options)).ignored == ("reasoning_effort",)


async def test_lm_studio_tells_window_and_tools_and_what_holds_no_conversation_is_left_out(
    gateway: Gateway, server: FaultServer
) -> None:
    models: list[dict[str, object]] = [
        {"id": "coder", "type": "llm", "max_context_length": 32768, "capabilities": ["tool_use"]},
        {
            "id": "chatter",
            "type": "llm",
            "max_context_length": 8192,
            "loaded_context_length": 4096,
            "capabilities": [],
        },
    ]
    pages: dict[str, object] = {
        "/api/v0/models": {"data": models},
        "/v1/models": {"data": [{"id": "coder"}, {"id": "chatter"}]},
    }
    serve(server, "lmstudio", pages)
    serve(
        server,
        "ollama",
        {
            "/api/tags": {"models": [{"name": "nomic"}]},
            "/api/show": {"model_info": {}, "capabilities": ["embedding"]},
        },
    )
    found = {choice.name: choice for choice in await gateway.models()}
    assert (found["lm_studio/coder"].window, found["lm_studio/coder"].tools) == (32768, True)
    assert (found["lm_studio/chatter"].window, found["lm_studio/chatter"].tools) == (4096, False)
    assert "ollama/nomic" not in found
    assert not any("audio" in name or "whisper" in name for name in found)
    facts = await gateway.about("lm_studio/coder")
    assert (facts.window, facts.tools) == (32768, True)
