"""A whole session where there is only loopback, with every socket written down: only the model's server is met."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.ground import KEY, environment
from tests.support import plant

SESSION = """
import fcntl, http.server, json, os, socket, struct, subprocess, sys, threading
place, how = sys.argv[1:]
with socket.socket() as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
LOOK = {"index": 0, "id": "call-1", "function": {"name": "searchFiles", "arguments": '{"query": "41"}'}}
ANSWERS = [[{"tool_calls": [LOOK]}, {}], [{"content": "Hello."}, {}]]
class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        answer = ANSWERS.pop(0)
        chunks = [{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "x", "choices":
                   [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}]} for delta in answer]
        body = "".join("data: " + json.dumps(chunk) + "\\n\\n" for chunk in chunks) + "data: [DONE]\\n\\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(body.encode())
    def log_message(self, *a):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
watched = ["strace", "-f", "-qq", "-e", "trace=socket,connect,bind,listen,sendto,sendmsg", "-o", f"{place}/sockets",
           sys.executable, "-m", "steward"]
environment = {**os.environ, "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"}
def ask():
    done = subprocess.run([*watched, "ask", "Say hello.", "--model", "openai/x"], cwd=f"{place}/repository",
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr
def screen():
    from pathlib import Path
    from tests.pty_screen import PtyScreen
    environment["STEWARD_TRUST"] = "always"
    with PtyScreen([*watched, "--model", "openai/x"], cwd=Path(f"{place}/repository"), environment=environment) as s:
        s.wait_for("Enter sends", 60)
        steps = (("Say hello.", "Hello."), ("!true", "exit code 0"), ("/export talk.md", "written to talk.md"))
        for text, shown in steps:
            s.type(text)
            s.settle_for(1)
            s.press("enter")
            s.wait_for(shown, 60)
        s.press("ctrl+q")
        code = s.wait_end()
        return code, s.raw.decode("utf-8", "replace"), ""
print(json.dumps([server.server_port, *(ask() if how == "ask" else screen())]))
"""


@pytest.mark.parametrize("how", ["ask", "screen"])
def test_nothing_but_the_models_server_is_met(how: str, tmp_path: Path) -> None:
    plant(tmp_path / "repository")
    (tmp_path / "home").mkdir()
    flags = ["-n"] if os.geteuid() == 0 else ["-r", "-n"]
    done = subprocess.run(
        ["unshare", *flags, sys.executable, "-c", SESSION, str(tmp_path), how],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        timeout=150,
        check=True,
    )
    port, code, out, err = json.loads(done.stdout)
    assert (code, "Hello." in out) == (0, True), err
    assert KEY not in out + err
    calls = (tmp_path / "sockets").read_text().split("\n")
    met = [
        call
        for call in calls
        if re.search(r"\b(connect|bind|sendto|sendmsg)\(", call) and "sa_family=AF_INET" in call
    ]
    # urllib3 finds out in this way whether there is IPv6; nobody can reach a socket that does not listen.
    met = [call for call in met if not re.search(r'bind\(.*htons\(0\).*"::1"', call)]
    others = [call for call in met if f"sin_port=htons({port})" not in call or "bind(" in call]
    assert met and others == []
    assert not any("listen(" in call for call in calls)
    # Beside it there is only what looks names up, and pairs of ends within a process.
    families = set(re.findall(r"\bsocket\((AF_\w+)", "\n".join(calls)))
    assert families <= {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"}
    paths = set(re.findall(r'sun_path=@?"([^"]+)"', "\n".join(calls)))
    assert paths <= {"/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"}
