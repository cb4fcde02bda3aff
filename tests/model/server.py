"""A real HTTP server on loopback that speaks OpenAI's stream, byte by byte, with every fault a case asks for."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
Handler = Callable[["Connection"], Awaitable[None]]


class Connection:
    """One request and the means to answer it wrongly."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        number: int,
        headers: dict[str, str],
        body: bytes,
        path: str,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.number = number
        """Which request of its case this is, from 1."""
        self.headers = headers
        self.body = body
        self.path = path

    @property
    def request(self) -> dict[str, Any]:
        return json.loads(self.body)

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: str = "200 OK", **headers: str) -> None:
        """Start an answer whose body goes on until the connection closes."""
        given = {"content-type": "text/event-stream", "connection": "close"} | {
            key.replace("_", "-"): value for key, value in headers.items()
        }
        lines = "".join(f"{key}: {value}\r\n" for key, value in given.items())
        await self.raw(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode())

    async def chunked(self) -> None:
        """Start an answer in which a break differs from an end."""
        await self.head(transfer_encoding="chunked", connection="keep-alive")

    async def piece(self, data: bytes) -> None:
        await self.raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def answer(
        self, status: str, body: str, content_type: str = "application/json", **headers: str
    ) -> None:
        data = body.encode()
        await self.head(status, content_type=content_type, content_length=str(len(data)), **headers)
        await self.raw(data)

    async def error(self, status: str, message: str, **headers: str) -> None:
        await self.answer(
            status, json.dumps({"error": {"message": message, "type": "error", "code": None}}), **headers
        )

    async def say(
        self,
        *deltas: dict[str, Any] | str,
        finish: str | None = "stop",
        usage: bool = True,
        done: bool = True,
    ) -> None:
        """A whole proper stream of deltas."""
        await self.head()
        for delta in deltas:
            await self.raw(event(delta))
        if finish:
            await self.raw(event({}, finish))
        if usage:
            await self.raw(data({**chunk({}), "choices": [], "usage": USAGE}))
        if done:
            await self.raw(b"data: [DONE]\n\n")

    async def hang(self) -> None:
        """Say nothing until the other side goes away."""
        await self.reader.read()

    def break_off(self) -> None:
        """End the connection with a reset."""
        transport: Any = self.writer.transport
        transport.abort()


def chunk(delta: dict[str, Any] | str, finish: str | None = None, index: int = 0) -> dict[str, Any]:
    shape = {"content": delta} if isinstance(delta, str) else delta
    return {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "x",
        "choices": [{"index": index, "delta": shape, "finish_reason": finish}],
    }


def data(shape: Any) -> bytes:
    return b"data: " + json.dumps(shape).encode() + b"\n\n"


def event(delta: dict[str, Any] | str, finish: str | None = None, index: int = 0) -> bytes:
    return data(chunk(delta, finish, index))


class FaultServer:
    """Serves cases by name under ``/NAME/v1``; counts requests and remembers which clients went away."""

    def __init__(self) -> None:
        self.cases: dict[str, Handler] = {}
        self.requests: Counter[str] = Counter()
        self.bodies: dict[str, list[bytes]] = {}
        self.headers: dict[str, list[dict[str, str]]] = {}
        self.ended: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def base(self, name: str, handler: Handler | None = None) -> str:
        """The base URL of a case; its counts begin anew when a handler is given."""
        if handler is not None:
            self.cases[name] = handler
            self.requests[name] = 0
            self.bodies[name] = []
            self.headers[name] = []
            self.ended[name] = asyncio.Event()
        return f"http://127.0.0.1:{self.port}/{name}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        name = ""
        try:
            first = await reader.readexactly(1)
            if first == b"\x16":  # a TLS client
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                return
            head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            path = head[0].split(" ")[1]
            name = path.split("/")[1]
            self.requests[name] += 1
            self.bodies.setdefault(name, []).append(body)
            self.headers.setdefault(name, []).append(headers)
            await self.cases[name](Connection(reader, writer, self.requests[name], headers, body, path))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            with contextlib.suppress(ConnectionError, OSError):
                writer.close()
                await writer.wait_closed()
            if name in self.ended:
                self.ended[name].set()
