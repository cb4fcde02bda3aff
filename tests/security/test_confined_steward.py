"""The process that reads the repository tries to break out of what the kernel holds it to; all else goes on working."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.ground import environment
from tests.support import plant

BREAKOUT = """
import ctypes, json, os, socket, sys, threading
from pathlib import Path
place, port, pid, how = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
home = Path(os.environ["HOME"])
from steward.config import Settings
from steward.service import House
from steward.service.confine import hold_steward
config = home / ".config/steward"
house = House(place / "repository", Settings(), state=home / "state", home=home, config_directory=config)
found = {}
def attempt(name, work):
    try:
        work()
        found[name] = "done"
    except OSError as error:
        found[name] = type(error).__name__
opened = os.open(home, os.O_RDONLY)
found["held"] = str(hold_steward(house, "offline/guide")) if how == "held" else ""
root = place / "repository"

# What must be closed
attempt("read the accounts of the system", lambda: Path("/etc/passwd").read_text())
attempt("read a private key", lambda: (home / ".ssh/id").read_text())
attempt("read it through an open descriptor", lambda: os.open(".ssh/id", os.O_RDONLY, dir_fd=opened))
attempt("read it by a link in the workspace", lambda: (root / "link").read_text())
attempt("list the home directory", lambda: os.listdir(home))
attempt("read beside the workspace", lambda: (place / "beside.txt").read_text())
attempt("read what another process was started with", lambda: Path(f"/proc/{pid}/environ").read_bytes())
attempt("write beside the workspace", lambda: (place / "written").write_text("x"))
attempt("write into the temporary folder", lambda: (place.parent / "written").write_text("x"))
attempt("write a start-up file of the shell", lambda: (home / ".bashrc").write_text("x"))
attempt("write into the steward itself", lambda: os.open(Path(sys.modules["steward"].__file__), os.O_WRONLY))
attempt("write the person's configuration", lambda: (home / ".config/steward/config.toml").write_text(""))
attempt("move a file out", lambda: os.rename(root / "moved", place / "moved"))
attempt("link a file into the workspace", lambda: os.link(place / "beside.txt", root / "linked"))
attempt("make a symbolic link", lambda: os.symlink("/etc", root / "etc"))
attempt("make a pipe", lambda: os.mkfifo(root / "pipe"))
attempt("truncate a file", lambda: os.truncate(place / "full", 0))
attempt("run a shell", lambda: os.posix_spawn("/bin/sh", ["sh", "-c", "exit 0"], {}))
attempt("run Python", lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}))
attempt("run a program of the repository", lambda: os.posix_spawn(root / "run.sh", ["run.sh"], {}))
def tcp():
    socket.create_connection(("127.0.0.1", port), 5).close()
attempt("connect", tcp)
attempt("listen", lambda: socket.create_server(("127.0.0.1", 0)).close())
def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", ("127.0.0.1", port))
attempt("send a datagram", udp)
def local():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(place / "socket"))
attempt("reach a socket in the file system", local)
def ring():
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.syscall(ctypes.c_long(425), ctypes.c_uint(8), ctypes.create_string_buffer(120))
    if made < 0 and ctypes.get_errno() == 13:
        raise PermissionError
attempt("reach the network by a ring", ring)
attempt("signal another process", lambda: os.kill(pid, 0))
thread = threading.Thread(target=lambda: attempt("read in a new thread", lambda: (home / ".ssh/id").read_text()))
thread.start(); thread.join()
child = os.fork()
if child == 0:
    try:
        (home / ".ssh/id").read_text(); os._exit(0)
    except OSError:
        os._exit(1)
found["read in a child"] = "done" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "PermissionError"

# What must stay open
from steward.proposals.exchange import exchange
attempt("read the workspace", lambda: (root / "code.py").read_text())
attempt("write the workspace", lambda: (root / "sub/new.py").write_text("x"))
def swap():
    one, other = os.open(root, os.O_RDONLY), os.open(root / "sub", os.O_RDONLY)
    exchange(one, "code.py", other, "other.py")
attempt("swap files of two folders", swap)
attempt("make and remove a folder", lambda: ((root / "folder").mkdir(), (root / "folder").rmdir()))
attempt("write the state", lambda: house.prompts.remember("a question"))
def searched():
    from steward.tools.search_engine import Ripgrep
    from steward.confine.programs import find_program
    from steward.workspace import RepoPath
    run = Ripgrep(find_program(root), house.workspace, RepoPath(), "x =", fixed=True)
    run.wait(30)
    names = run.named(); run.close()
    if names != {"sub/": {"other.py"}}:
        raise OSError(str(names))
attempt("search with ripgrep", searched)
attempt("read the person's documents", lambda: (home / ".config/steward/AGENTS.md").read_text())
attempt("read the person's skills", lambda: os.listdir(home / ".agents/skills"))
def ignored():
    from steward.workspace import RepoPath
    if not house.workspace.ignored(RepoPath.parse("thing.mine")):
        raise OSError("not ignored")
attempt("read the person's ignore file", ignored)
attempt("import one more module", lambda: (__import__("mailbox"), __import__("watchdog.observers")))
attempt("use the null device", lambda: Path("/dev/null").write_text("x"))
attempt("signal itself", lambda: os.kill(os.getpid(), 0))
def pair():
    one, other = socket.socketpair()
    one.close(); other.close()
attempt("make a pair of ends", pair)
def watched():
    import queue
    from steward.watch import Watcher
    seen = queue.Queue()
    watcher = Watcher(seen.put, print)
    watcher.watch({root})
    (root / "watched").write_text("x")
    seen.get(timeout=20)
    watcher.close()
attempt("watch the workspace", watched)
print(json.dumps(found))
"""
STAYS_OPEN = {
    "read the workspace", "write the workspace", "swap files of two folders", "make and remove a folder",
    "write the state", "search with ripgrep", "read the person's documents", "read the person's skills",
    "read the person's ignore file", "import one more module", "use the null device", "signal itself",
    "make a pair of ends", "watch the workspace",
}  # fmt: skip


def ground(tmp_path: Path) -> Path:
    """A repository, files beside it, and a home with a key and the person's own texts."""
    place, home = tmp_path / "place", tmp_path / "home"
    plant(
        place,
        {
            "repository/.git/HEAD": "ref: refs/heads/main\n",
            "repository/code.py": "x = 1\n",
            "repository/sub/other.py": "y = 1\n",
            "repository/moved": "m\n",
            "repository/run.sh": "#!/bin/sh\n",
            "repository/thing.mine": "t\n",
            "beside.txt": "beside\n",
            "full": "full\n",
        },
    )
    (place / "repository/run.sh").chmod(0o755)
    (place / "repository/link").symlink_to(home / ".ssh/id")
    plant(
        home,
        {
            ".ssh/id": "private\n",
            ".config/steward/AGENTS.md": "# Mine\n",
            ".config/steward/config.toml": "",
            ".agents/skills/one/SKILL.md": "---\nname: one\ndescription: d\n---\n",
            ".gitconfig": "[core]\n\texcludesFile = ~/ignored-by-me\n",
            "ignored-by-me": "*.mine\n",
        },
    )
    return place


def attempts(tmp_path: Path, how: str) -> dict[str, str]:
    place = ground(tmp_path)
    (tmp_path / "outside").mkdir()
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
    ):
        os.chdir(place)
        local.bind("socket")
        local.listen()
        done = subprocess.run(
            [sys.executable, "-c", BREAKOUT, str(place), str(listener.getsockname()[1]), str(other.pid), how],
            env=environment(tmp_path / "home"),
            cwd=place,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        other.kill()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_way_out_is_closed_and_what_the_steward_needs_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = attempts(tmp_path, "held")
    assert found.pop("held") == "its own files and no socket"
    assert {name for name, result in found.items() if result == "done"} == STAYS_OPEN
    # A file cannot be moved over a border that only one side may cross: the kernel calls it another device.
    assert {result for result in found.values() if result != "done"} <= {"PermissionError", "OSError"}


def test_without_confinement_every_way_out_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = attempts(tmp_path, "free")
    del found["held"]
    assert {name for name, result in found.items() if result != "done"} == set[str]()
