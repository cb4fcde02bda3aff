"""One worker and one fault server for all tests of a process: starting a worker takes seconds."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from steward.model.clocks import Clocks
from steward.model.gateway import Gateway
from tests.model.server import FaultServer

PATIENT = Clocks(first_token=60, gap=60, retry_base=0.01, local_factor=1)
"""No test passes or fails because a machine is busy."""
KEY = "sk-verysecretkey1234567890"
OTHER_SECRET = "wT9-plainly-not-a-shape"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncGenerator[FaultServer]:
    server = FaultServer()
    await server.start()
    yield server
    await server.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def _gateway(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Gateway]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_BASE", "_BASE_URL"))
    }
    environment = {
        **kept,
        "GROQ_API_KEY": OTHER_SECRET,
        "OLLAMA_API_BASE": f"http://127.0.0.1:{server.port}/ollama",
        "LLAMAFILE_API_BASE": f"http://127.0.0.1:{server.port}/llamacpp/v1",
        "LM_STUDIO_API_BASE": f"http://127.0.0.1:{server.port}/lmstudio/v1",
        "HOSTED_VLLM_API_BASE": "http://127.0.0.1:9/v1",
    }
    gateway = Gateway(environment, PATIENT, folder=tmp_path_factory.mktemp("scripts"))
    await gateway.start()
    yield gateway
    await gateway.close()


@pytest.fixture
def gateway(_gateway: Gateway) -> Iterator[Gateway]:
    """The shared gateway; what a test changes of its clocks is put back."""
    yield _gateway
    _gateway.clocks = PATIENT


@pytest.fixture
def impatient(gateway: Gateway) -> Callable[..., Gateway]:
    """Let the shared gateway wait less: ``impatient(gap=0.2)``."""

    def less(**clocks: float) -> Gateway:
        gateway.clocks = replace(PATIENT, **clocks)
        return gateway

    return less


@pytest.fixture
def script(gateway: Gateway, _gateway: Gateway, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Write a script; gives the model's name."""
    folder = gateway.folder
    assert isinstance(folder, Path)

    def write(*lines: str) -> str:
        name = f"{request.node.name.replace('/', '_')[:80]}.jsonl"
        (folder / name).write_text("\n".join(lines), "utf-8")
        gateway.rewind(f"script/{name}")
        return f"script/{name}"

    return write
