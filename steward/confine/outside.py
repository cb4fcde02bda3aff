"""Starting what is not held: directly, or through the helper once this process has given that up."""

from __future__ import annotations

import array
import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from steward.confine.helper import MOST, Worker, fork


class Program(Protocol):
    """A program that runs, with pipes; ``asyncio.subprocess.Process`` is one."""

    @property
    def pid(self) -> int:
        """Its process id, which is that of its session too."""
        ...

    @property
    def returncode(self) -> int | None:
        """``None`` while it runs, minus the signal when one has ended it."""
        ...

    stdin: asyncio.StreamWriter | None
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None

    async def wait(self) -> int:
        """Wait for its end."""
        ...

    def send_signal(self, signal: int) -> None:
        """Signal it; ``ProcessLookupError`` when it has ended."""
        ...

    def kill(self) -> None:
        """End it now."""
        ...


class Outside:
    """What the person's hand starts: the worker, programs, and files they name. With a helper it goes through that."""

    def __init__(self, door: socket.socket | None = None) -> None:
        self._door = door

    @classmethod
    def behind_helper(cls, worker: Callable[[], Worker], *, programs: bool) -> Outside:
        """Fork the helper; see ``helper.fork``."""
        return cls(fork(worker, programs=programs))

    @property
    def helped(self) -> bool:
        """Whether there is a helper."""
        return self._door is not None

    async def worker(
        self, argv: Sequence[str], environment: Mapping[str, str], more: Mapping[str, str]
    ) -> Program:
        """Start the worker with pipes, in a session of its own. A helper knows all but ``more`` from the beginning."""
        if self._door is None:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=Path(os.sep).absolute(),
                env={**environment, **more},
                # A Ctrl-C typed at the terminal is for the steward, which then tells the worker.
                start_new_session=os.name == "posix",
            )
        return await _Remote.start(self._door, {"do": "worker", "environment": dict(more)})

    async def program(self, argv: Sequence[str], cwd: Path) -> Program:
        """Start a program without a terminal, in a session of its own; both outputs come in one pipe."""
        if self._door is None:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                start_new_session=True,
            )
        return await _Remote.start(
            self._door, {"do": "program", "argv": list(argv), "cwd": os.fspath(cwd)}, merged=True
        )

    def on_terminal(self, argv: Sequence[str]) -> int:
        """Run a program on this terminal to its end, as an editor; its exit code. Raises ``OSError``."""
        if self._door is None:
            return subprocess.run(argv, check=False).returncode
        with _line(self._door, {"do": "program", "argv": list(argv), "cwd": "."}) as line:
            _answered(line.recv(MOST))
            return int(_answered(line.recv(MOST))["code"])

    def new_file(self, path: Path) -> int:
        """A descriptor to write a file that the person named and that must not exist. Raises ``OSError``."""
        if self._door is None:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with _line(self._door, {"do": "create", "path": os.fspath(path.absolute())}) as line:
            data, ancillary, _, _ = line.recvmsg(MOST, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
            _answered(data)
            return array.array("i", ancillary[0][2][:4])[0]

    @staticmethod
    def end(program: Program, number: int) -> None:
        """Send a signal to all that a program has started in its session."""
        with suppress(ProcessLookupError, PermissionError):
            if isinstance(program, _Remote):
                program.tell(number, group=True)
            else:
                os.killpg(program.pid, number)


class _Remote:
    """A program that the helper has started: its pipes are ours, its end comes over a line of its own."""

    def __init__(self, line: socket.socket, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self._line = line
        self._ended = asyncio.create_task(self._end(), name="end of a program")

    @classmethod
    async def start(cls, door: socket.socket, request: dict[str, Any], *, merged: bool = False) -> _Remote:
        """Ask the helper for it; raises ``OSError``. ``merged``: no input, and both outputs in one pipe."""
        loop = asyncio.get_running_loop()
        pairs = [os.pipe() for _ in range(1 if merged else 3)]
        if merged:
            nothing = os.open(os.devnull, os.O_RDONLY)
            theirs, ours = [nothing, pairs[0][1], pairs[0][1]], [pairs[0][0]]
        else:
            theirs = [pairs[0][0], pairs[1][1], pairs[2][1]]
            ours = [pairs[0][1], pairs[1][0], pairs[2][0]]
        try:
            line = _line(door, request, theirs)
            line.setblocking(False)
            pid = int(_answered(await loop.sock_recv(line, MOST))["pid"])
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in set(theirs):
                os.close(descriptor)
        program = cls(line, pid)
        program.stdout = await _reader(ours[0] if merged else ours[1])
        if not merged:
            program.stderr = await _reader(ours[2])
            protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
            transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(ours[0], "wb", 0))
            program.stdin = asyncio.StreamWriter(transport, protocol, None, loop)
        return program

    async def wait(self) -> int:
        """Wait for its end."""
        return await asyncio.shield(self._ended)

    def send_signal(self, signal: int) -> None:
        """Signal it."""
        self.tell(signal, group=False)

    def kill(self) -> None:
        """End it now."""
        self.tell(signal.SIGKILL, group=False)

    def tell(self, number: int, *, group: bool) -> None:
        """Have the helper signal it; ``ProcessLookupError`` when it has ended."""
        if self.returncode is not None:
            raise ProcessLookupError
        with suppress(OSError):
            self._line.send(json.dumps({"signal": int(number), "group": group}).encode())

    async def _end(self) -> int:
        try:
            code = int(_answered(await asyncio.get_running_loop().sock_recv(self._line, MOST))["code"])
        except OSError:
            code = 255  # The helper is gone, and nobody knows.
        self._line.close()
        self.returncode = code
        return code


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(descriptor, "rb", 0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


def _line(door: socket.socket, request: dict[str, Any], descriptors: Sequence[int] = ()) -> socket.socket:
    """Ask for something; the line on which the answer comes."""
    data = json.dumps(request).encode()
    if len(data) > MOST:
        raise OSError(errno.E2BIG, os.strerror(errno.E2BIG))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        rights = array.array("i", [theirs.fileno(), *descriptors])
        door.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    return ours


def _answered(data: bytes) -> dict[str, Any]:
    if not data:
        raise OSError(errno.EIO, "the helper has ended")
    answer: dict[str, Any] = json.loads(data)
    if "error" in answer:
        raise OSError(answer["error"], os.strerror(answer["error"]))
    return answer
