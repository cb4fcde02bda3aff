"""Keys from the system's keyring: asked for late, by the worker alone, and never shown by any command."""

from __future__ import annotations

import http.server
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.security.ground import own_environment
from tests.support import plant

KEY = "sk-keyring-0123456789abcdef0123456789"
KEYRING = f"""
import json, os, sys
def get_password(service, name):
    with open(os.environ["ASKED"], "a") as file:
        file.write(json.dumps([service, name, "litellm" in sys.modules]) + "\\n")
    if os.environ.get("LOCKED"):
        raise RuntimeError("the keyring is locked")
    return {{"OPENAI_API_KEY": "{KEY}"}}.get(name)
"""
CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"x",'
    b'"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class Server(http.server.BaseHTTPRequestHandler):
    """A model's server that keeps what it was told of the key."""

    keys: list[str]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.keys.append(self.headers["authorization"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(CHUNK)))
        self.end_headers()
        self.wfile.write(CHUNK)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    """Its address."""
    Server.keys = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def steward(tmp_path: Path, server: str) -> Program:
    """The program, whose configuration names the server, and no key anywhere."""
    plant(tmp_path / "repository", {".git/HEAD": "ref: refs/heads/main\n", "code.py": "x = 1\n"})
    config = f'keyring = true\nmodel = "openai/x"\n[options]\napi_base = "{server}"\n'
    plant(tmp_path / "home", {".config/steward/config.toml": config})
    return Program(tmp_path / "repository", tmp_path / "home")


def own_python(place: Path) -> tuple[str, Path]:
    """A Python with all packages that are here but for a keyring, and where its packages are."""
    program = own_environment(place)
    (packages,) = place.glob(".venv/lib/python*/site-packages")
    (packages / "keyring").unlink(missing_ok=True)
    return program, packages


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One that has a keyring of the person's."""
    program, packages = own_python(tmp_path_factory.mktemp("python"))
    plant(packages, {"keyring/__init__.py": KEYRING})
    return program


@pytest.fixture
def installed(steward: Program, python: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the keyring needs; from here on the program runs where one is installed."""
    monkeypatch.setattr(sys, "executable", python)
    return {"ASKED": str(steward.home / "asked")}


def asked(steward: Program) -> list[str]:
    file = steward.home / "asked"
    return file.read_text().splitlines() if file.exists() else []


def test_the_worker_takes_a_missing_key_from_the_keyring_and_nobody_shows_it(
    steward: Program, installed: dict[str, str]
) -> None:
    done = steward("ask", "Well?", "--json", **installed)
    assert done.code == 0 and "hello" in done.out, done.err
    assert Server.keys == [f"Bearer {KEY}"]
    assert asked(steward) == ['["steward", "OPENAI_API_KEY", true]']
    told = steward("doctor", "--model-too", **installed)
    assert "Keys from the keyring (not shown): OPENAI_API_KEY." in told.out
    kept = [path.read_bytes() for path in steward.home.rglob("*") if path.is_file()]
    assert KEY not in done.out + done.err + told.out + told.err
    assert not any(KEY.encode() in data for data in kept)


def test_a_key_in_the_environment_is_not_asked_for_and_without_the_setting_none_is(
    steward: Program, installed: dict[str, str]
) -> None:
    assert steward("ask", "Well?", OPENAI_API_KEY="sk-mine", **installed).code == 0
    steward("ask", "Well?", STEWARD_KEYRING="false", **installed)
    assert Server.keys[0] == "Bearer sk-mine" and f"Bearer {KEY}" not in Server.keys
    assert asked(steward) == []


def test_a_keyring_that_fails_is_said_in_one_sentence(steward: Program, installed: dict[str, str]) -> None:
    assert "not installed" not in steward("doctor", **installed).out
    locked = steward("ask", "Well?", "--json", LOCKED="1", **installed)
    assert "The system's keyring could not be asked (RuntimeError)." in locked.json["warnings"]


def test_without_the_package_one_sentence_says_what_to_do(
    steward: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", own_python(tmp_path / "own")[0])
    missing = steward("doctor")
    assert "keyring is on in your settings, but its package is not installed." in missing.out
    assert missing.code == 1 and "Traceback" not in missing.err
    asking = steward("ask", "Well?")
    assert "The keyring package is not installed; pip install" in asking.err and "Traceback" not in asking.err
