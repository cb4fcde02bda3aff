"""The worker tries to break out of what the kernel holds it to; on this kernel it must be held."""

from __future__ import annotations

import http.server
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from steward.confine.landlock import abi
from steward.model.gateway import Gateway
from tests.security.ground import environment

BREAKOUT = """
import ctypes, json, os, socket, sys, threading
from pathlib import Path
from steward.confine.landlock import Ruleset
from steward.confine.worker import worker_grants
place, free, held, pid, confined = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
found = {}
def attempt(name, work):
    try:
        work()
        found[name] = "done"
    except OSError as error:
        found[name] = type(error).__name__
def connect(port):
    socket.create_connection(("127.0.0.1", port), 5).close()
def abstract():
    s = socket.socket(socket.AF_UNIX)
    s.connect("\\0" + place.name)
opened = os.open(place, os.O_RDONLY)
if confined == "yes":
    rules = Ruleset(worker_grants(os.environ), [free])
    rules.restrict()
    rules.close()
attempt("read a file of the repository", lambda: (place / "code.py").read_text())
attempt("list the repository", lambda: os.listdir(place))
attempt("read the home directory", lambda: os.listdir(os.environ["HOME"]))
attempt("read it by a link in an allowed place", lambda: Path(f"/proc/self/root/{place}/code.py").read_text())
attempt("read through an open descriptor", lambda: os.open("code.py", os.O_RDONLY, dir_fd=opened))
attempt("read the accounts of the system", lambda: Path("/etc/passwd").read_text())
attempt("list the system's settings", lambda: os.listdir("/etc"))
attempt("write a file", lambda: (place / "new").write_text("x"))
package = Path(__import__("steward").__file__).parent
attempt("write into the steward itself", lambda: os.open(package / "__init__.py", os.O_WRONLY))
attempt("make a folder in the temporary one", lambda: os.mkdir(place.parent / "folder"))
attempt("remove a file", lambda: os.unlink(place / "doomed"))
attempt("rename a file", lambda: os.rename(place / "code.py", place / "other.py"))
attempt("link a file", lambda: os.link(place / "code.py", place / "linked.py"))
attempt("truncate a file", lambda: os.truncate(place / "full", 0))
attempt("run a program", lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "exit 0"], {}))
attempt("connect to another port", lambda: connect(held))
attempt("listen", lambda: socket.create_server(("127.0.0.1", 0)).close())
attempt("reach an abstract socket", abstract)
attempt("signal the steward", lambda: os.kill(pid, 0))
def threaded():
    work = lambda: attempt("read in a new thread", lambda: (place / "code.py").read_text())
    thread = threading.Thread(target=work)
    thread.start(); thread.join()
threaded()
child = os.fork()
if child == 0:
    try:
        (place / "code.py").read_text(); os._exit(0)
    except OSError:
        os._exit(1)
found["read in a child"] = "done" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "PermissionError"
attempt("connect to the model", lambda: connect(free))
attempt("read certificates and names", lambda: Path("/etc/hosts").read_text())
attempt("read a module", lambda: Path(json.__file__).read_text())
attempt("import one more module", lambda: __import__("sqlite3"))
attempt("use the null device", lambda: Path("/dev/null").write_text("x"))
print(json.dumps(found))
"""
ALLOWED = {
    "connect to the model", "read certificates and names", "read a module", "import one more module",
    "use the null device",
}  # fmt: skip


def attempts(tmp_path: Path, confined: str) -> dict[str, str]:
    place = tmp_path / "repository"
    place.mkdir(exist_ok=True)
    for name in ("code.py", "doomed", "full"):
        (place / name).write_text("text\n")
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    with (
        socket.create_server(("127.0.0.1", 0)) as free,
        socket.create_server(("127.0.0.1", 0)) as held,
        socket.socket(socket.AF_UNIX) as abstract,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
    ):
        abstract.bind("\0" + place.name)
        abstract.listen()
        ports = [str(free.getsockname()[1]), str(held.getsockname()[1])]
        done = subprocess.run(
            [sys.executable, "-c", BREAKOUT, str(place), *ports, str(other.pid), confined],
            env=environment(home), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        other.kill()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_way_out_is_closed_and_what_the_worker_needs_is_open(tmp_path: Path) -> None:
    assert abi() >= 6, "these tests need a kernel with Landlock ABI 6"
    found = attempts(tmp_path, "yes")
    assert {name for name, result in found.items() if result == "done"} == ALLOWED
    assert (tmp_path / "repository/full").read_text() == "text\n" and (
        tmp_path / "repository/doomed"
    ).exists()


def test_without_confinement_every_way_out_is_open(tmp_path: Path) -> None:
    found = attempts(tmp_path, "no")
    # Removing what the attempt before it renamed fails for another reason.
    assert {name for name, result in found.items() if result != "done"} <= {
        "link a file", "read in a new thread", "read in a child"
    }  # fmt: skip


@pytest.mark.parametrize("ports", [None, [443, 8080]])
async def test_the_real_worker_is_confined_and_says_to_what(ports: list[int] | None, tmp_path: Path) -> None:
    gateway = Gateway(environment(tmp_path), ports=ports)
    await gateway.start()
    try:
        await gateway.ready()
        assert gateway.confined == ("files" if ports is None else "files and ports 443, 8080")
        assert _threads_unconfined(gateway.pid or 0) == 0
        assert (await gateway.about("openai/gpt-4o")).window is not None
        assert await gateway.models()
    finally:
        await gateway.close()


async def test_a_switch_turns_it_off(tmp_path: Path) -> None:
    gateway = Gateway(environment(tmp_path), confine=False)
    await gateway.start()
    try:
        await gateway.ready()
        assert gateway.confined == "" and _threads_unconfined(gateway.pid or 0) > 0
    finally:
        await gateway.close()


def _threads_unconfined(pid: int) -> int:
    """Threads that may still gain privileges; what confines a thread takes that away from it first."""
    texts = [(task / "status").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return sum("NoNewPrivs:\t1" not in text for text in texts)


async def test_another_model_is_spoken_to_by_another_worker_and_no_call_is_cut_off(tmp_path: Path) -> None:
    gateway = Gateway(environment(tmp_path), ports=[443])
    try:
        await gateway.ready()
        first = gateway.pid
        gateway.hold_to([443])
        await gateway.ready()
        assert gateway.pid == first
        gateway.hold_to([8080])
        await gateway.ready()
        assert gateway.pid != first and gateway.confined == "files and ports 8080"
        gateway.hold_to([])
        await gateway.ready()
        assert gateway.confined == "files and no port"
    finally:
        await gateway.close()


async def test_models_on_this_machine_are_looked_for_by_a_worker_that_does_nothing_else(
    tmp_path: Path,
) -> None:
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"data": [{"id": "found-here"}]}'
            self.send_response(200 if self.path == "/v1/models" else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = {"LLAMAFILE_API_BASE": f"http://127.0.0.1:{server.server_port}/v1"}
    narrow = Gateway(environment(tmp_path, **here), ports=[443])
    seeking = Gateway(environment(tmp_path, **here), ports=[443], seeks=[server.server_port])
    try:
        assert "llamafile/found-here" not in [choice.name for choice in await narrow.models()]
        assert "llamafile/found-here" in [choice.name for choice in await seeking.models()]
        await seeking.ready()
        assert seeking.confined == "files and ports 443"
    finally:
        await narrow.close()
        await seeking.close()
        server.shutdown()
        server.server_close()
