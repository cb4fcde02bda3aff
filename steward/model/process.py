"""The worker as a child process: started, spoken to, watched, ended."""

from __future__ import annotations

import asyncio
import contextlib
import site
import sys
from collections import deque
from collections.abc import Mapping
from pathlib import Path

import steward
from steward.confine.outside import Outside, Program
from steward.conversation import JsonObject
from steward.model.protocol import Lines, decode, encode

# The child runs isolated (-I): no PYTHON* variable, no script folder and no current folder on its path. It gets this
# very copy of the package, by its folder, and nothing else from beside it; what the parent has in further places
# (a user's site-packages) comes last.
_BOOT = """
import importlib.util, runpy, sys
_, module, home, more, *sys.argv[1:] = sys.argv
spec = importlib.util.spec_from_file_location("steward", home + "/__init__.py", submodule_search_locations=[home])
sys.modules["steward"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["steward"])
sys.path.extend(path for path in more.splitlines() if path not in sys.path)
runpy.run_module(module, run_name="__main__")
"""
_STDERR_KEPT = 64 * 1024

# Set before litellm is imported: no price list from the network, no .env file, no log lines.
QUIET = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "CRITICAL",
    "LITELLM_TELEMETRY": "False",
    "PYTHON_DOTENV_DISABLED": "1",
    "DO_NOT_TRACK": "1",
    # It would call a hundred equal pieces (a ruled line, a column of noughts) an error of the server.
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000000",
    "PYTHONUTF8": "1",
}


CONFINE = "STEWARD_WORKER_CONFINE"
"""Tells the worker how to confine itself: ``off``, or the ports it may connect to (0: none); empty for every port."""
MODELS = "STEWARD_WORKER_MODELS"
"""Tells the worker which models it serves, between commas, and so which providers' credentials it goes on reading."""
KEYRING = "STEWARD_WORKER_KEYRING"
"""Set, where the worker may ask the system's keyring for keys."""


def command() -> list[str]:
    """How the worker is started."""
    return own_program("steward.model.worker")


def own_program(module: str) -> list[str]:
    """How a module of this package is started as a program; its arguments follow."""
    home = Path(steward.__file__).resolve().parent
    more = [str(home.parent)]
    if site.ENABLE_USER_SITE:
        more.append(site.getusersitepackages())
    return [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, module, str(home), "\n".join(more)]


class WorkerProcess:
    """One child. When it ends, ``ended`` is set and every open inbox receives ``None``."""

    def __init__(self, process: Program) -> None:
        self._process = process
        self._inboxes: dict[str, asyncio.Queue[JsonObject | None]] = {}
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._killed = False
        self.ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Holds the version of litellm once the worker is ready, or an ``OSError`` whose text says why not."""
        self.confined = ""
        """What the kernel holds the worker to, in a few words; empty for nothing. Known once it is ready."""
        self.keyring: tuple[str, ...] = ()
        """Names of the keys that it has from the system's keyring."""
        self.keyring_trouble = ""
        """A sentence, when it could not ask there."""
        self.ended = asyncio.Event()
        self._readers = [
            asyncio.create_task(self._read_events(), name="worker events"),
            asyncio.create_task(self._read_stderr(), name="worker stderr"),
        ]

    @classmethod
    async def spawn(
        cls,
        environment: Mapping[str, str],
        confine: str = "",
        models: str = "",
        outside: Outside | None = None,
    ) -> WorkerProcess:
        """Start a child; returns at once, long before it is ready.

        ``confine`` and ``models`` are as for ``CONFINE`` and ``MODELS``. Behind a helper the environment is the one
        of the start.
        """
        more = {CONFINE: confine, MODELS: models}
        start = (outside or Outside()).worker
        return cls(await start(command(), {**environment, **QUIET}, more))

    @property
    def pid(self) -> int:
        """Process id of the child."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it still runs and listens."""
        return not self._killed and not self.ended.is_set() and self._process.returncode is None

    @property
    def idle(self) -> bool:
        """Whether nobody waits for anything from it."""
        return not self._inboxes

    def open(self, id: str) -> asyncio.Queue[JsonObject | None]:
        """The inbox for what the worker says about ``id``; ``None`` in it means that the worker is gone."""
        inbox: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        self._inboxes[id] = inbox
        if not self.alive:
            inbox.put_nowait(None)
        return inbox

    def forget(self, id: str) -> None:
        """What still comes about ``id`` is dropped."""
        self._inboxes.pop(id, None)

    def post(self, message: JsonObject, written: Mapping[str, bytes | bytearray] | None = None) -> None:
        """Send a message without waiting for room in the pipe; a dead worker swallows it. See ``encode``."""
        stdin = self._process.stdin
        if stdin is not None and self.alive and not stdin.is_closing():
            stdin.write(encode(message, written))

    async def send(self, message: JsonObject, written: Mapping[str, bytes | bytearray] | None = None) -> None:
        """Send a message; a dead worker swallows it (its inboxes tell)."""
        self.post(message, written)
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(ConnectionError):
                await stdin.drain()

    def stderr(self) -> str:
        """The end of what the worker wrote outside the protocol."""
        return b"".join(self._stderr).decode("utf-8", "replace")

    def kill(self) -> None:
        """End it now; from here on it counts as dead."""
        self._killed = True
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self, patience: float = 1.0) -> None:
        """End it: by closing its input, and by force when it does not listen."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(patience):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._end()

    async def _read_events(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        lines = Lines()
        try:
            while data := await stdout.read(1 << 16):
                for line in lines.feed(data):
                    event = decode(line)
                    if event is not None:
                        self._deliver(event)
        finally:
            self._end()

    def _deliver(self, event: JsonObject) -> None:
        match event.get("type"):
            case "ready" if not self.ready.done():
                self.confined = str(event.get("confined", ""))
                self.keyring = tuple(map(str, event.get("keyring", ())))
                self.keyring_trouble = str(event.get("keyring_trouble", ""))
                self.ready.set_result(str(event.get("litellm", "")))
            case "broken" if not self.ready.done():
                self.ready.set_exception(OSError(str(event.get("sentence", ""))))
                self.ready.exception()
            case _:
                inbox = self._inboxes.get(str(event.get("id")))
                if inbox is not None:
                    inbox.put_nowait(event)

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while data := await stderr.read(1 << 14):
            self._stderr.append(data)
            self._stderr_size += len(data)
            while self._stderr_size > _STDERR_KEPT and len(self._stderr) > 1:
                self._stderr_size -= len(self._stderr.popleft())

    def _end(self) -> None:
        if self.ended.is_set():
            return
        self.ended.set()
        if not self.ready.done():
            self.ready.set_exception(OSError("it ended while it was starting"))
            self.ready.exception()
        for inbox in self._inboxes.values():
            inbox.put_nowait(None)
        self._inboxes.clear()
