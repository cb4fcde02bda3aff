"""A repository that attacks, a listener that counts what reaches it, and the steward run in between."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tests.monorepo import PROJECT

KEY = "sk-the-persons-own-key-0123456789"


class Listener:
    """A port on loopback that answers nothing sensible and keeps every byte it is sent."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.received = b""
        self.connections = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(5)
            try:
                while data := connection.recv(1 << 16):
                    with self._lock:
                        self.received += data
                    if b"\r\n\r\n" in self.received or data.startswith(b"beacon"):
                        connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno")
                        return
            except OSError:
                return


def beacon(port: int) -> str:
    """Python code that reports to a listener and ends the process: proof that a repository's code has run."""
    return (
        "import os, socket\n"
        f"s = socket.create_connection(('127.0.0.1', {port}), 5)\n"
        "s.sendall(b'beacon')\ns.recv(100)\ns.close()\nos._exit(9)\n"
    )


def shell_beacon(port: int) -> str:
    """The same as a shell script."""
    return f"#!/bin/sh\n{sys.executable} -I - <<'E'\n{beacon(port)}E\n"


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person who has a key, and nothing of that of the tests."""
    return {
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        "HOME": str(home),
        "PYTHONPATH": str(PROJECT),
        "STEWARD_STATE_DIR": str(home / "state"),
        "LANG": "C.UTF-8",
        "LLAMAFILE_API_KEY": KEY,
        "OPENAI_API_KEY": KEY,
        **more,
    }


def run(
    arguments: list[str],
    *,
    folder: Path,
    home: Path,
    python: str = sys.executable,
    isolated: bool = False,
    **more: str,
) -> subprocess.CompletedProcess[str]:
    """Run Python in ``folder`` as that person, to its end."""
    return subprocess.run(
        [python, *(["-I"] if isolated else []), *arguments],
        cwd=folder,
        env=environment(home, **more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )


def own_environment(repository: Path) -> str:
    """A virtual environment inside the repository that holds everything the steward needs; gives its Python.

    Its packages are links to those of this environment, so that code finds itself below the repository.
    """
    folder = repository / ".venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(folder)], check=True, timeout=60
    )
    (packages,) = folder.glob("lib/python*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        target = packages / entry.name
        if entry.name == "litellm":
            # A real folder: what looks for files "above itself" must find itself below the repository.
            target.mkdir()
            for piece in entry.iterdir():
                (target / piece.name).symlink_to(piece)
        elif not target.exists():
            target.symlink_to(entry)
    return str(folder / "bin" / "python")


def plant(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, made executable, below ``folder``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
