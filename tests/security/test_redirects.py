"""A model's host that sends the request on to a stranger: the key and the code in it stay where they were meant for."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from steward.errors import ModelError
from steward.model import process
from steward.model.clocks import Clocks
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Reply
from tests.security.ground import KEY, Listener, environment

UNDONE = """
import steward.model.worker.redirects as redirects
redirects.stay = lambda: None
import runpy; runpy.run_module("steward.model.worker", run_name="__main__")
"""
CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"x",'
    b'"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class Host(http.server.BaseHTTPRequestHandler):
    """A model's host whose answers begin with a redirect."""

    away = ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path.startswith("/away"):
            self._redirect(f"{self.away}/v1/chat/completions")
        elif self.path.startswith("/within/v1"):
            self._redirect("/moved/v1/chat/completions")
        else:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(CHUNK)))
            self.end_headers()
            self.wfile.write(CHUNK)

    def _redirect(self, where: str) -> None:
        self.send_response(307)
        self.send_header("location", where)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    """The host's address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


async def ask(gateway: Gateway, base: str) -> str:
    request = ModelRequest("openai/x", '[{"role":"user","content":"the code"}]', (), {"api_base": base})
    async for part in gateway.stream(request):
        if isinstance(part, Reply):
            return part.text
    return ""


async def test_a_redirect_to_another_host_is_not_followed_and_one_within_the_host_is(
    host: str, tmp_path: Any
) -> None:
    gateway = Gateway(environment(tmp_path), Clocks(retries=0))
    with Listener() as stranger:
        Host.away = stranger.url
        try:
            with pytest.raises(ModelError) as caught:
                await ask(gateway, f"{host}/away/v1")
            assert "307" in str(caught.value) and KEY not in str(caught.value)
            assert await ask(gateway, f"{host}/within/v1") == "hello"
        finally:
            await gateway.close()
        assert stranger.connections == 0


async def test_without_its_defence_the_redirect_carries_the_code_away(
    host: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "command", lambda: [sys.executable, "-c", UNDONE])
    gateway = Gateway(environment(tmp_path), Clocks(retries=0))
    with Listener() as stranger:
        Host.away = stranger.url
        try:
            with pytest.raises(ModelError):
                await ask(gateway, f"{host}/away/v1")
        finally:
            await gateway.close()
        assert b"POST /v1/chat/completions" in stranger.received
