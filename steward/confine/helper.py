"""The process that stays outside: forked before the door closes, it starts what the person asks for by hand.

It does four things and reads nothing else: start the worker as it was told before the fork; start a program of the
person's on the terminal or with pipes; make a new file under a name that the person gave; and pass on a signal to what
it has started. It is asked over a socket pair that nobody else holds, and ends with the steward.
"""

from __future__ import annotations

import array
import errno
import json
import os
import re
import select
import signal
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import subprocess

MOST = 180_000
"""Bytes of one request."""
_CONFINED = re.compile(r"[0-9,]*")


@dataclass(frozen=True, slots=True)
class Worker:
    """How the worker is started; nobody can ask for another way later."""

    argv: list[str]
    environment: Mapping[str, str]
    confine: str
    """The variable that tells it what it is held to; it and the models are all that a request may set."""
    models: str


def fork(worker: Callable[[], Worker], *, programs: bool) -> socket.socket:
    """Start the helper; the steward's end of the line to it. Call it while there is one thread and no event loop.

    Without ``programs`` it starts nothing but the worker, and makes no file. ``worker`` is asked in the helper.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        try:
            ours.close()
            Porter(theirs, worker, programs=programs).serve()
        finally:
            os._exit(0)
    theirs.close()
    return ours


class Porter:
    """Serves at the door, on the helper's side."""

    def __init__(self, door: socket.socket, worker: Callable[[], Worker], *, programs: bool) -> None:
        self._door = door
        self._worker = worker
        self._known: Worker | None = None
        self._programs = programs
        self._poll = select.poll()
        self._lines: dict[int, tuple[socket.socket, subprocess.Popen[bytes]]] = {}
        """By the descriptor of the line on which a request came, and on which its end is told."""
        self._ends: dict[int, int] = {}
        """By the descriptor that tells of a program's end: the line."""

    def serve(self) -> NoReturn:
        """Serve until the steward is gone."""
        # Ctrl-C is for what runs in front; what ends the steward lets it tidy up, which needs this. Handlers, unlike
        # ignoring, are not handed down to programs.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _let_pass)
        self._poll.register(self._door, select.POLLIN)
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor == self._door.fileno():
                    self._asked()
                elif descriptor in self._ends:
                    self._ended(descriptor)
                elif descriptor in self._lines:
                    self._told(descriptor)

    def _asked(self) -> None:
        try:
            data, descriptors = _received(self._door)
        except OSError:
            data, descriptors = b"", []
        if not data:
            self._leave()
        if not descriptors:
            return
        line = socket.socket(fileno=descriptors.pop(0))
        try:
            answer, given = self._do(json.loads(data), descriptors, line)
        except OSError as error:
            answer, given = {"error": error.errno or errno.EIO}, None
        except (ValueError, KeyError, TypeError):
            answer, given = {"error": errno.EINVAL}, None
        for descriptor in descriptors:
            os.close(descriptor)
        _say(line, answer, given)
        if given is not None:
            os.close(given)
        if "pid" not in answer:
            line.close()

    def _do(
        self, asked: dict[str, Any], descriptors: list[int], line: socket.socket
    ) -> tuple[dict[str, int], int | None]:
        match asked["do"]:
            case "worker":
                known = self._known = self._known or self._worker()
                more = {str(name): str(value) for name, value in asked["environment"].items()}
                confine = more.pop(known.confine)
                models = more.pop(known.models)
                if more or not _CONFINED.fullmatch(confine):
                    raise PermissionError(errno.EACCES, "refused")
                environment = {**known.environment, known.confine: confine, known.models: models}
                return self._start(line, known.argv, "/", environment, descriptors, apart=True), None
            case "program" if self._programs:
                argv = [os.fsencode(part) for part in asked["argv"]]
                return self._start(line, argv, asked["cwd"], None, descriptors, apart=bool(descriptors)), None
            case "create" if self._programs:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                return {"made": 1}, os.open(os.fsencode(asked["path"]), flags, 0o666)
            case _:
                raise PermissionError(errno.EACCES, "refused")

    def _start(
        self,
        line: socket.socket,
        argv: list[Any],
        cwd: str,
        environment: Mapping[str, str] | None,
        descriptors: list[int],
        *,
        apart: bool,
    ) -> dict[str, int]:
        import subprocess

        stdin, stdout, stderr = descriptors or (None, None, None)
        process = subprocess.Popen(
            argv, cwd=cwd, env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=apart
        )
        end = os.pidfd_open(process.pid)
        self._lines[line.fileno()] = (line, process)
        self._ends[end] = line.fileno()
        self._poll.register(line, select.POLLIN)
        self._poll.register(end, select.POLLIN)
        return {"pid": process.pid}

    def _leave(self) -> NoReturn:
        """The steward is gone: end what it has not ended, but for what has the terminal."""
        for _, process in self._lines.values():
            with suppress(OSError):
                if os.getsid(process.pid) == process.pid:
                    os.killpg(process.pid, signal.SIGTERM)
        os._exit(0)

    def _ended(self, end: int) -> None:
        line, process = self._lines.pop(self._ends.pop(end))
        self._poll.unregister(end)
        os.close(end)
        with suppress(KeyError):
            self._poll.unregister(line)
        _say(line, {"code": process.wait()})
        line.close()

    def _told(self, descriptor: int) -> None:
        line, process = self._lines[descriptor]
        try:
            told: Any = json.loads(line.recv(MOST) or b"null")
            (os.killpg if told["group"] else os.kill)(process.pid, int(told["signal"]))
        except (ProcessLookupError, PermissionError):
            pass
        except (OSError, ValueError, KeyError, TypeError):
            # Nobody listens there any more; the program's end is still waited for.
            self._poll.unregister(line)


def _let_pass(*_: object) -> None:
    pass


def _received(door: socket.socket) -> tuple[bytes, list[int]]:
    data, ancillary, _, _ = door.recvmsg(MOST, socket.CMSG_SPACE(8 * 4), socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    return data, list(descriptors)


def _say(line: socket.socket, shape: dict[str, int], descriptor: int | None = None) -> None:
    rights = array.array("i", [] if descriptor is None else [descriptor])
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if rights else []
    try:
        line.sendmsg([json.dumps(shape).encode()], ancillary, socket.MSG_NOSIGNAL)
    except OSError:
        pass  # Nobody listens there any more.
