"""A workspace full of traps, and the table of paths into it that must be refused."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

OUTSIDE = b"OUTSIDE-BYTES"
"""What every file outside of the workspace holds; no result and no sentence may."""


@dataclass(frozen=True, slots=True)
class Trap:
    """A path and the kind of refusal that reading it must meet; ``says`` must stand in the sentence."""

    path: str
    kind: str
    says: str = ""


def build(room: Path) -> Path:
    """Make ``room/ws`` with all traps, and around it what must stay out of reach; the workspace's root."""
    outside = room / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(OUTSIDE)
    twin = room / "ws-twin"
    twin.mkdir()
    (twin / "secret.txt").write_bytes(OUTSIDE)
    root = room / "ws"
    for directory in (
        "src",
        "sub/.git",
        ".git/info",
        "state",
        "config",
        "keys",
        "[id]",
        "%2e%2e",
        "~",
        "real/deep",
    ):
        (root / directory).mkdir(parents=True)
    for name in (
        "src/app.py",
        "sub/.git/config",
        ".git/config",
        ".git/HEAD",
        "state/steward.db",
        ".env",
        ".env.local",
        ".env.example",
        "config/.env.production",
        ".netrc",
        "id_rsa",
        "keys/id_ed25519",
        "server.pem",
        "main.tfstate",
        "[id]/page.tsx",
        "%2e%2e/file",
        "~/file",
        "real/deep/file",
        "with\nnewline",
        "with\x1b[2Jescape",
        "back\\slash",
        "-rf",
        "tag\U000e0041",
    ):
        (root / name).write_bytes(b"inside " + name.encode())
    descriptor = os.open(root, os.O_RDONLY)
    try:
        made = os.open(b"caf\xe9.txt", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=descriptor)
        os.close(made)
    finally:
        os.close(descriptor)
    links = {
        "abs-out": outside / "secret.txt",
        "abs-in": root / "src" / "app.py",
        "rel-out": Path("../outside/secret.txt"),
        "rel-in": Path("src/app.py"),
        "dir-out": Path("../outside"),
        "dir-in": Path("real"),
        "twin": Path("../ws-twin"),
        "dangling": Path("nowhere"),
        "dangling-out": Path("/nonexistent/place"),
        "loop": Path("loop"),
        "loop-a": Path("loop-b"),
        "loop-b": Path("loop-a"),
        "chain": Path("abs-out"),
        "up": Path(".."),
        "here": Path(),
        "to-git": Path(".git"),
        "to-env": Path(".env"),
        "proc-root": Path("/proc/self/root"),
        "proc-cwd": Path("/proc/self/cwd"),
        "proc-fd": Path("/proc/self/fd/0"),
        "to-null": Path("/dev/null"),
        "src/deep-link": Path("../real/deep"),
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        try:
            os.chdir(root)  # the path of a socket must be short
            listener.bind("socket")
        finally:
            os.chdir(here)
    with open(root / "giant", "wb") as giant:
        giant.truncate(40 * 1024**3)
    return root


ZWNJ, ZWJ, RLO, BOM = "\u200c", "\u200d", "\u202e", "\ufeff"

TRAPS: tuple[Trap, ...] = (
    Trap("", "empty"),
    Trap("/etc/passwd", "absolute"),
    Trap("//etc/passwd", "absolute"),
    Trap("/", "absolute"),
    Trap("/../etc/passwd", "absolute"),
    Trap("..", "escapes"),
    Trap("../", "escapes"),
    Trap("../outside/secret.txt", "escapes"),
    Trap("../ws-twin/secret.txt", "escapes"),
    Trap("../ws/src/app.py", "escapes"),
    Trap("./../outside/secret.txt", "escapes"),
    Trap("src/../../outside/secret.txt", "escapes"),
    Trap("src/./.././../outside/secret.txt", "escapes"),
    Trap("a/b/c/../../../../outside/secret.txt", "escapes"),
    Trap("../" * 40 + "etc/passwd", "escapes"),
    Trap("src/app.py\0", "nul"),
    Trap("src\0/../../outside/secret.txt", "nul"),
    Trap("\0", "nul"),
    Trap("n" * 256, "too-long"),
    Trap("é" * 128, "too-long"),
    Trap("/".join(["d" * 100] * 41), "too-long"),
    Trap("x/" * 50_000 + "y", "too-long"),
    Trap("src/\ud800.py", "not-text"),
    Trap("caf\udce9.txt", "not-text"),
    # Taken literally, these name nothing.
    Trap("~root/x", "missing"),
    Trap("$HOME/x", "missing"),
    Trap("..%2foutside%2fsecret.txt", "missing"),
    Trap("%2e%2e/%2e%2e/outside/secret.txt", "missing"),
    Trap("..\\outside\\secret.txt", "missing"),
    Trap("C:\\Windows\\win.ini", "missing"),
    Trap("C:/Windows/win.ini", "missing"),
    Trap("\\\\server\\share", "missing"),
    Trap("file:///etc/passwd", "missing"),
    Trap(".../secret.txt", "missing"),
    Trap(".. /outside/secret.txt", "missing"),
    Trap(f"..{ZWNJ}/outside/secret.txt", "missing"),
    Trap("．．/outside/secret.txt", "missing"),
    Trap("‥/outside/secret.txt", "missing"),
    Trap("src∕app.py", "missing"),
    Trap("ws-twin/secret.txt", "missing"),
    Trap("*", "missing"),
    Trap("no\x1b]52;c;eA==\x07thing", "missing"),
    # Git's own directory under every alias.
    Trap(".git", "protected"),
    Trap(".git/config", "protected"),
    Trap("./.git/config", "protected"),
    Trap("src/../.git/config", "protected"),
    Trap(".GIT/config", "protected"),
    Trap(".giT/HEAD", "protected"),
    Trap("git~1/config", "protected"),
    Trap("GIT~1", "protected"),
    Trap("git~4/config", "protected"),
    Trap(".git /config", "protected"),
    Trap(".git./config", "protected"),
    Trap(".git. . ./config", "protected"),
    Trap(".git::$INDEX_ALLOCATION/config", "protected"),
    Trap(".git:stream", "protected"),
    Trap("git~1 ::$DATA", "protected"),
    Trap(f".g{ZWNJ}it/config", "protected"),
    Trap(f".gi{ZWJ}t", "protected"),
    Trap(f"{BOM}.git/config", "protected"),
    Trap(f".git{RLO}/config", "protected"),
    Trap("\u206a.git\u206f/hooks/x", "protected"),
    Trap(".git\\config", "protected"),
    Trap("src\\.git\\hooks", "protected"),
    Trap("sub/.git/config", "protected"),
    Trap("sub/new/.GiT/x", "protected"),
    Trap("state/steward.db", "protected"),
    Trap("STATE/steward.db", "protected"),
    Trap("state./steward.db", "protected"),
    Trap("state", "protected"),
    # Secrets.
    Trap(".env", "secret"),
    Trap(".env.local", "secret"),
    Trap(".ENV", "secret"),
    Trap(".env ", "secret"),
    Trap(".env::$DATA", "secret"),
    Trap(f".e{ZWNJ}nv", "secret"),
    Trap("config/.env.production", "secret"),
    Trap("config\\.env", "secret"),
    Trap(".envrc", "secret"),
    Trap(".netrc", "secret"),
    Trap(".npmrc", "secret"),
    Trap("pkg/.pypirc", "secret"),
    Trap("id_rsa", "secret"),
    Trap("ID_RSA", "secret"),
    Trap("keys/id_ed25519", "secret"),
    Trap("server.pem", "secret"),
    Trap("tls/private.KEY", "secret"),
    Trap("cert.p12", "secret"),
    Trap("cert.pfx", "secret"),
    Trap("main.tfstate", "secret"),
    Trap("terraform.tfstate.backup", "secret"),
    # Links.
    Trap("abs-out", "link", "out of the workspace"),
    Trap("abs-in", "link", "src/app.py"),
    Trap("rel-out", "link", "out of the workspace"),
    Trap("rel-in", "link", "src/app.py"),
    Trap("dir-out/secret.txt", "link", "out of the workspace"),
    Trap("dir-in/deep/file", "link", "real/deep/file"),
    Trap("dir-in/", "link", "real"),
    Trap("src/deep-link/file", "link", "real/deep/file"),
    Trap("twin/secret.txt", "link", "out of the workspace"),
    Trap("dangling", "link", "nowhere"),
    Trap("dangling-out", "link", "out of the workspace"),
    Trap("loop", "link", "leads back"),
    Trap("loop/x", "link"),
    Trap("loop-a", "link", "loop-b"),
    Trap("chain", "link", "abs-out"),
    Trap("up/outside/secret.txt", "link", "out of the workspace"),
    Trap("here/here/here/src/app.py", "link"),
    Trap("to-git/config", "link"),
    Trap("to-env", "link"),
    Trap("proc-root/etc/passwd", "link", "out of the workspace"),
    Trap("proc-cwd/pyproject.toml", "link"),
    Trap("proc-fd", "link"),
    Trap("to-null", "link"),
    # Not regular files.
    Trap("pipe", "special", "pipe"),
    Trap("socket", "special", "socket"),
    Trap("giant", "too-large", "bytes"),
    Trap("src", "not-a-file"),
    Trap(".", "not-a-file"),
    Trap("src/app.py/..", "not-a-file"),
    Trap("src/app.py/x", "not-a-directory"),
    Trap("pipe/x", "not-a-directory"),
    Trap("socket/x", "not-a-directory"),
)

READABLE = (
    "[id]/page.tsx",
    "%2e%2e/file",
    "~/file",
    "with\nnewline",
    "with\x1b[2Jescape",
    "back\\slash",
    "-rf",
    "tag\U000e0041",
    ".env.example",
    "src//app.py",
    "./src/./app.py",
    "nowhere/../src/app.py",
    "src/app.py/",
    "link/../src/app.py",
)
"""Odd paths that are read like any other; each file holds ``inside`` and its plain path."""
