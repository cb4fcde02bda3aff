"""The gateway and its worker process: scripts, cancelling, dying, silence on the terminal."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from steward.conversation import Assistant, Conversation, ToolAnswer, User
from steward.errors import ConfigError, ModelError, NoSuchThing
from steward.model.clocks import Clocks
from steward.model.gateway import Gateway
from steward.model.request import (
    ModelRequest,
    Part,
    ReasoningPart,
    Reply,
    RetryNotice,
    TextPart,
    WorkerNotice,
)
from tests.model.conftest import KEY, PATIENT
from tests.model.server import Connection, FaultServer, event

pytestmark = pytest.mark.asyncio(loop_scope="session")

TOOLS = ({"type": "function", "function": {"name": "readFile", "parameters": {"type": "object"}}},)
MESSAGES = '[{"role":"user","content":"hi"}]'
ROOT = Path(__file__).parents[2]

Script = Callable[..., str]


def request(model: str, messages: str = MESSAGES, **options: object) -> ModelRequest:
    return ModelRequest(model, messages, TOOLS, options)


async def parts_of(gateway: Gateway, asked: ModelRequest) -> list[Part]:
    return [part async for part in gateway.stream(asked)]


async def reply_of(gateway: Gateway, asked: ModelRequest) -> Reply:
    reply = (await parts_of(gateway, asked))[-1]
    assert isinstance(reply, Reply)
    return reply


async def words_for_ever(c: Connection) -> None:
    await c.head()
    number = 0
    while True:
        await c.raw(event(f"w{number} "))
        number += 1
        await asyncio.sleep(0.002)


# Scripts


async def test_a_script_replies_round_after_round_and_then_says_that_it_is_over(
    gateway: Gateway, script: Script
) -> None:
    model = script(
        '{"text": "Let me look.", "chunk": 5, "calls": [{"name": "readFile", "arguments": {"path": "ü"}}],'
        ' "usage": {"prompt": 10, "completion": 4, "cached": 6, "cost": 0.25}}',
        "# a comment, and a blank line",
        "",
        '{"text": "Done.", "reasoning": "hm"}',
    )
    parts = await parts_of(gateway, request(model))
    assert "".join(part.text for part in parts if isinstance(part, TextPart)) == "Let me look."
    first = parts[-1]
    assert isinstance(first, Reply)
    assert [(c.name, json.loads(c.arguments)) for c in first.calls] == [("readFile", {"path": "ü"})]
    assert first.finish == "tool_calls"
    assert (first.usage.prompt, first.usage.completion, first.usage.cached, first.usage.cost) == (
        10,
        4,
        6,
        0.25,
    )
    parts = await parts_of(gateway, request(model))
    assert parts[0] == ReasoningPart("hm")
    assert isinstance(parts[-1], Reply)
    assert (parts[-1].text, parts[-1].finish) == ("Done.", "stop")
    with pytest.raises(ModelError, match="no further reply"):
        await parts_of(gateway, request(model))


async def test_a_scripts_errors_come_by_kind_and_a_retry_uses_up_a_line(
    gateway: Gateway, script: Script
) -> None:
    model = script(
        '{"error": {"status": 429, "retry_after": 0.01, "message": "slow"}}',
        '{"text": "after the retry"}',
        '{"error": {"kind": "authentication", "message": "no"}}',
        '{"error": {"kind": "context-overflow", "message": "Too long."}}',
        '{"text": "half", "error": {"status": 500, "after": true}}',
        '{"text": "half", "finish": null}',
        '{"text": "next"}',
    )
    parts = await parts_of(gateway, request(model))
    assert isinstance(parts[0], RetryNotice)
    assert isinstance(parts[-1], Reply)
    assert parts[-1].text == "after the retry"
    for kind in ("authentication", "context-overflow", "interrupted-stream", "interrupted-stream"):
        with pytest.raises(ModelError) as error:
            await parts_of(gateway, request(model))
        assert error.value.kind == kind
    assert (await reply_of(gateway, request(model))).text == "next"


async def test_raw_deltas_of_a_script_reach_the_accumulator_untouched(
    gateway: Gateway, script: Script
) -> None:
    deltas = [
        {"content": [{"type": "text", "text": "listed"}]},
        {"tool_calls": [{"function": {"name": "readFile", "arguments": '{"path": "a\nb"}'}}]},
    ]
    reply = await reply_of(gateway, request(script(json.dumps({"deltas": deltas, "finish": "tool_calls"}))))
    assert reply.text == "listed"
    assert json.loads(reply.calls[0].arguments) == {"path": "a\nb"}


async def test_a_script_that_is_missing_or_wrong_is_told_before_anything_is_sent(
    gateway: Gateway, script: Script
) -> None:
    with pytest.raises(NoSuchThing):
        await parts_of(gateway, request("script/nowhere.jsonl"))
    with pytest.raises(ConfigError, match="Line 2"):
        await parts_of(gateway, request(script('{"text": "x"}', "{")))


async def test_a_cancelled_reply_of_a_script_is_used_up(gateway: Gateway, script: Script) -> None:
    model = script('{"text": "slow", "chunk": 1, "delay": 60}', '{"text": "next"}')
    stream = gateway.stream(request(model))
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await stream.aclose()
    assert (await reply_of(gateway, request(model))).text == "next"


async def test_calls_without_ids_get_ids_that_are_new_to_the_conversation(
    gateway: Gateway, script: Script
) -> None:
    line = '{"calls": [{"name": "readFile"}, {"name": "readFile", "arguments": {"path": "b"}}]}'
    model = script(line, line)
    first = await reply_of(gateway, request(model))
    conversation = Conversation()
    conversation.append(User('a quoted "tool_call_id":"call00003" in text'))
    conversation.append(Assistant("", first.calls))
    for call in first.calls:
        conversation.append(ToolAnswer(call.id, call.name, "text"))
    second = await reply_of(gateway, request(model, conversation.wire()))
    assert [call.id for call in (*first.calls, *second.calls)] == [
        "call00001",
        "call00002",
        "call00003",
        "call00004",
    ]


async def test_several_calls_run_side_by_side(gateway: Gateway, script: Script) -> None:
    slow = script('{"text": "abcdefgh", "chunk": 1, "delay": 0.01}')
    replies = await asyncio.gather(
        reply_of(gateway, request(slow)), *(reply_of(gateway, request("offline/guide")) for _ in range(4))
    )
    assert replies[0].text == "abcdefgh"
    assert len({reply.text for reply in replies[1:]}) == 1


async def test_the_offline_guide_answers_through_the_worker(gateway: Gateway) -> None:
    reply = await reply_of(gateway, request("offline/guide", '[{"role":"user","content":"hello"}]'))
    assert "not a language model" in reply.text


async def test_a_model_without_a_provider_or_without_a_key_says_what_to_do(gateway: Gateway) -> None:
    with pytest.raises(ModelError, match="provider/model") as error:
        await parts_of(gateway, request("no-such-model"))
    assert error.value.kind == "unknown-model"
    for model, variable in (
        ("openai/gpt-4o", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
    ):
        with pytest.raises(ModelError, match=variable) as error:
            await parts_of(gateway, request(model))
        assert error.value.kind == "authentication"


async def test_hosts_are_named_as_they_will_be_reached(gateway: Gateway, server: FaultServer) -> None:
    async def host(model: str, **options: str) -> str:
        return (await gateway.about(model, dict(options))).host

    assert await host("openai/gpt-4o") == "api.openai.com"
    assert await host("anthropic/claude-sonnet-4-5") == "api.anthropic.com"
    assert await host("openai/x", api_base="https://user:pw@llm.example:8443/v1") == "llm.example:8443"
    assert await host("ollama/qwen3") == f"127.0.0.1:{server.port} (this machine)"
    assert await host("offline/guide") == "this machine"


@pytest.mark.parametrize(
    ("model", "window"),
    [("gpt-4o", 128_000), ("openai/nobody-knows", None), ("script/x", None), ("offline/guide", None)],
)
async def test_windows_are_known_or_unknown_and_never_guessed(
    gateway: Gateway, model: str, window: int | None
) -> None:
    assert (await gateway.about(model)).window == window


# Cancelling


async def test_cancelling_at_any_moment_closes_the_connection_and_leaves_the_gateway_usable(
    gateway: Gateway, server: FaultServer
) -> None:
    chance = random.Random(20)
    closed: list[asyncio.Event] = []

    async def late_head(c: Connection) -> None:
        await asyncio.sleep(0.02)
        await words_for_ever(c)

    for number in range(120):
        name = f"cancel{number}"
        base = server.base(name, chance.choice([words_for_ever, late_head]))
        stream = gateway.stream(request("openai/x", api_base=base, api_key=KEY))

        async def use(stream: AsyncGenerator[Part] = stream) -> None:
            async with aclosing(stream):
                async for _ in stream:
                    pass

        task = asyncio.create_task(use())
        await asyncio.sleep(chance.uniform(0, 0.05))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if server.requests[name]:
            closed.append(server.ended[name])
    assert len(closed) > 20
    async with asyncio.timeout(30):
        await asyncio.gather(*(ended.wait() for ended in closed))
    assert "language model" in (await reply_of(gateway, request("offline/guide"))).text


async def test_closing_after_the_first_part_ends_the_call_in_the_worker(
    gateway: Gateway, server: FaultServer
) -> None:
    base = server.base("first", words_for_ever)
    async with aclosing(gateway.stream(request("openai/x", api_base=base, api_key=KEY))) as stream:
        async for part in stream:
            assert isinstance(part, TextPart)
            break
    async with asyncio.timeout(30):
        await server.ended["first"].wait()


async def test_cancelling_while_a_retry_waits_ends_at_once(
    impatient: Callable[..., Gateway], script: Script
) -> None:
    gateway = impatient()
    model = script('{"error": {"status": 429, "retry_after": 50}}', '{"text": "never"}')
    async with asyncio.timeout(30):
        async with aclosing(gateway.stream(request(model))) as stream:
            async for part in stream:
                assert isinstance(part, RetryNotice)
                break
        assert "language model" in (await reply_of(gateway, request("offline/guide"))).text


# Dying


async def test_a_worker_killed_in_the_middle_is_an_error_and_the_next_call_says_that_it_was_started_again(
    gateway: Gateway, server: FaultServer
) -> None:
    base = server.base("kill", words_for_ever)
    seen: list[Part] = []
    await gateway.ready()
    worker = gateway.pid
    assert worker is not None
    with pytest.raises(ModelError) as error:
        async with aclosing(gateway.stream(request("openai/x", api_base=base, api_key=KEY))) as stream:
            async for part in stream:
                if not seen:
                    os.kill(worker, signal.SIGKILL)
                seen.append(part)
                assert not isinstance(part, WorkerNotice)
    assert error.value.kind == "worker-died"
    parts = await parts_of(gateway, request("offline/guide"))
    assert isinstance(parts[0], WorkerNotice)
    assert isinstance(parts[-1], Reply)
    assert not isinstance((await parts_of(gateway, request("offline/guide")))[0], WorkerNotice)


async def test_a_worker_killed_before_anything_came_is_started_again_once(
    gateway: Gateway, server: FaultServer
) -> None:
    async def kill_at_first(c: Connection) -> None:
        if c.number == 1:
            os.kill(gateway.pid or 0, signal.SIGKILL)
            await c.hang()
        else:
            await c.say("ok")

    base = server.base("kill-once", kill_at_first)
    parts = await parts_of(gateway, request("openai/x", api_base=base, api_key=KEY))
    assert isinstance(parts[0], WorkerNotice)
    assert isinstance(parts[-1], Reply)
    assert parts[-1].text == "ok"


async def test_a_worker_that_died_between_two_calls_is_started_again_and_that_is_said(
    gateway: Gateway,
) -> None:
    await gateway.ready()
    worker = gateway.pid
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    async with asyncio.timeout(60):
        while gateway.pid is not None:
            await asyncio.sleep(0.01)
    assert (await gateway.about("gpt-4o")).window == 128_000
    assert gateway.pid not in {None, worker}
    parts = await parts_of(gateway, request("offline/guide"))
    assert [type(part) for part in parts].count(WorkerNotice) == 1


async def test_a_worker_that_cannot_start_is_an_error_and_never_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway({}, PATIENT)
    monkeypatch.setattr(
        "steward.model.process.command", lambda: [sys.executable, "-c", "raise SystemExit(3)"]
    )
    with pytest.raises(ModelError) as error:
        await parts_of(gateway, request("offline/guide"))
    assert error.value.kind == "worker-died"
    with pytest.raises(ModelError):
        await gateway.about("gpt-4o")
    monkeypatch.setattr("steward.model.process.command", lambda: [str(tmp_path / "missing")])
    with pytest.raises(ModelError) as error:
        await parts_of(gateway, request("offline/guide"))
    assert error.value.kind == "worker-died"
    await gateway.close()


async def test_a_worker_that_never_gets_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "steward.model.process.command", lambda: [sys.executable, "-c", "import time; time.sleep(600)"]
    )
    gateway = Gateway({}, Clocks(start=0.3))
    with pytest.raises(ModelError, match="not ready after"):
        await parts_of(gateway, request("offline/guide"))
    await gateway.close()


async def test_a_worker_that_stops_answering_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = 'import sys,time; print(\'{"type":"ready"}\', flush=True); time.sleep(600)'
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", deaf])
    monkeypatch.setattr("steward.model.gateway._GRACE", 0.1)
    gateway = Gateway({}, Clocks(first_token=0.1, gap=0.1, local_factor=1))
    with pytest.raises(ModelError, match="stopped answering") as error:
        await parts_of(gateway, request("offline/guide"))
    assert error.value.kind == "worker-died"
    await gateway.close()


async def test_a_closed_gateway_refuses_and_can_be_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    echo = 'import sys; print(\'{"type":"ready"}\', flush=True); sys.stdin.read()'
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", echo])
    gateway = Gateway({})
    await gateway.start()
    pid = gateway.pid
    assert pid is not None
    await gateway.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ModelError):
        await parts_of(gateway, request("offline/guide"))
    await gateway.start()
    assert gateway.pid is not None
    await gateway.close()
    await gateway.close()


# Apart from the rest of the house


SESSION = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from steward.model.gateway import Gateway
    from steward.model.request import ModelRequest

    async def main():
        gateway = Gateway(folder=Path(sys.argv[1]))
        await gateway.start()
        for model in ("script/noisy.jsonl", "offline/guide", "openai/gpt-4o", "ollama/none", "nonsense"):
            try:
                async for _ in gateway.stream(ModelRequest(model, '[{"role":"user","content":"hi"}]')):
                    pass
            except Exception as error:
                kinds.append(getattr(error, "kind", repr(error)))
        await gateway.models()
        pid = gateway.pid
        if sys.argv[2] == "close":
            await gateway.close()
        loaded = {"litellm", "httpx", "openai", "aiohttp", "dotenv"} & set(sys.modules)
        Path(sys.argv[1], "result").write_text(f"{pid} {sorted(loaded)} {kinds}")
        if sys.argv[2] == "die":
            os._exit(9)

    kinds = []
    asyncio.run(main())
    """
)


@pytest.mark.parametrize("end", ["close", "die"])
async def test_a_whole_session_prints_nothing_loads_no_litellm_and_leaves_no_process(
    tmp_path: Path, server: FaultServer, end: str
) -> None:
    async def listener(c: Connection) -> None:
        await c.say("stolen")

    base = server.base("dotenv", listener)
    (tmp_path / "noisy.jsonl").write_text('{"text": "hello"}\n')
    # A repository that tries to choose the server, the key and the code: none of it may count.
    (tmp_path / ".env").write_text(
        f"OPENAI_API_BASE={base}\nOPENAI_BASE_URL={base}\nOPENAI_API_KEY=sk-from-the-repo\n"
    )
    (tmp_path / "litellm.py").write_text("raise SystemExit('the repository was imported')\n")
    (tmp_path / "httpx.py").write_text("raise SystemExit('the repository was imported')\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "OLLAMA_API_BASE": "http://127.0.0.1:9",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", SESSION, str(tmp_path), end,
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    out, err = await process.communicate()
    assert (out, err) == (b"", b"")
    pid, loaded = (tmp_path / "result").read_text().split(" ", 1)
    assert loaded == "[] ['authentication', 'connection', 'unknown-model']"
    assert server.requests["dotenv"] == 0
    async with asyncio.timeout(60):
        while Path(f"/proc/{pid}").exists():
            await asyncio.sleep(0.02)


LOUD = textwrap.dedent(
    """
    import json, os, sys
    sys.path.insert(0, sys.argv[1])
    from steward.model.worker import serve

    FORGED = json.dumps({"id": "1", "type": "answer", "value": 666})

    async def fetch(operation, say):
        print(FORGED, flush=True)
        os.system(f"echo '{FORGED}'")
        os.write(1, FORGED.encode() + b"\\n")
        assert sys.stdin.read() == ""
        say({"type": "answer", "value": "5"})

    def load():
        print("a banner", flush=True)
        return {"fetch": fetch}, "0"

    serve._load = load
    serve.main()
    """
)


async def test_nothing_that_is_printed_in_the_worker_reaches_the_protocol(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", LOUD, str(ROOT)])
    # A confined worker could not even start the program that prints.
    gateway = Gateway(confine=False)
    assert await gateway.fetch("any") == b"5"
    async with asyncio.timeout(60):
        while gateway.diagnostics().count("666") < 3:
            await asyncio.sleep(0.01)
    assert "a banner" in gateway.diagnostics()
    await gateway.close()


async def test_what_is_kept_of_the_noise_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = (
        "import sys; sys.stderr.write('x' * 10_000_000 + 'the end'); sys.stderr.flush();"
        'print(\'{"type":"ready"}\', flush=True); sys.stdin.read()'
    )
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", noise])
    gateway = Gateway({})
    await gateway.ready()
    async with asyncio.timeout(60):
        while not gateway.diagnostics().endswith("the end"):
            await asyncio.sleep(0.01)
    assert len(gateway.diagnostics()) < 200_000
    await gateway.close()


async def test_a_worker_that_ends_at_once_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", "pass"])
    gateway = Gateway({})
    for ask in (gateway.ready, gateway.models):
        with pytest.raises(ModelError, match="ended unexpectedly while it was starting"):
            await ask()
    await gateway.close()


SLOW = textwrap.dedent(
    """
    import json, pathlib, sys, time
    while not pathlib.Path(sys.argv[1]).exists():
        time.sleep(0.01)
    print('{"type": "ready"}', flush=True)
    for line in sys.stdin:
        print(json.dumps({"id": json.loads(line)["id"], "type": "answer", "value": []}), flush=True)
    """
)


async def test_a_worker_that_is_asked_while_it_starts_is_not_replaced_before_it_has_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    monkeypatch.setattr("steward.model.process.command", lambda: [sys.executable, "-c", SLOW, str(gate)])
    gateway = Gateway({})
    asking = asyncio.create_task(gateway.models())
    async with asyncio.timeout(60):
        while gateway.pid is None:
            await asyncio.sleep(0.01)
        before = gateway.pid
        gateway.hold_to([443])
        await gateway.start()
        gate.touch()
        assert await asking == () and gateway.pid == before
        assert await gateway.models() == () and gateway.pid != before
    await gateway.close()


async def test_the_worker_has_no_descriptor_of_ours_and_stands_in_a_neutral_folder(gateway: Gateway) -> None:
    await gateway.ready()
    process = Path(f"/proc/{gateway.pid}")
    assert process.joinpath("cwd").readlink() == Path("/")
    opened = {str(link.readlink()) for link in process.joinpath("fd").iterdir()}
    assert not any(path.startswith(str(ROOT)) for path in opened)
