"""The one door to language models: requests go to the worker process, parts of replies come back."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from steward.confine.outside import Outside
from steward.confine.worker import names_stamp
from steward.conversation import JsonObject, Usage
from steward.errors import ModelError
from steward.model.accumulate import Accumulator
from steward.model.choices import ModelChoice, ModelFacts
from steward.model.clocks import Clocks
from steward.model.process import WorkerProcess
from steward.model.protocol import Growing
from steward.model.request import CallPart, ModelRequest, Part, RetryNotice, TextPart, WorkerNotice
from steward.model.scriptfile import Script, read_script

# An id that stands in the wire text of a conversation: quotes inside contents are escaped there, these are not.
_ANSWERED = re.compile(r'"tool_call_id":"([^"\\]*)"')
_DIED = "The model worker process ended unexpectedly"
_GRACE = 30.0
_SOUGHT = 30.0
"""Seconds for which the models that were found by a worker of their own are not looked for again."""


class Gateway:
    """Holds the worker process and speaks to it. Nothing here imports litellm or opens a connection.

    ``environment`` is what the worker sees (keys, base URLs, proxies); by default that of this process.
    Unless ``confine`` is off, the kernel holds the worker to what it needs, where it can: the files it imports,
    ``ports`` to connect to (every port for ``None``), and the credentials of the providers of ``models``. Where those
    ports do not cover ``seeks``, a worker of its own that is held to these looks for models. ``outside`` starts workers
    where this process cannot. All methods belong to one event loop.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        clocks: Clocks | None = None,
        folder: Path | None = None,
        *,
        confine: bool = True,
        ports: Iterable[int] | None = None,
        models: Iterable[str] = (),
        seeks: Iterable[int] | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.clocks = clocks or Clocks()
        self._environment = dict(os.environ if environment is None else environment)
        self.folder = folder
        self._confined = confine
        self._outside = outside
        self.hold_to(ports, models)
        self._seeks = None if seeks is None or not confine else frozenset(seeks)
        self._sought: tuple[float, JsonObject, object] | None = None
        self._seeking = asyncio.Lock()
        self._troubled = ""
        """What the person was told about their keyring."""
        self._held: object = None
        """What the running worker was held to when it was started."""
        self._worker: WorkerProcess | None = None
        self._starting = asyncio.Lock()
        self._closed = False
        self._replaced = False
        self._count = 0
        self._scripts: dict[str, Script] = {}
        self._positions: dict[str, int] = {}
        self._growing = Growing()

    def hold_to(self, ports: Iterable[int] | None, models: Iterable[str] = ()) -> None:
        """From now on let the worker connect to these ports; one that is held to others is replaced once it is idle."""
        named = None if ports is None else ",".join(map(str, sorted(ports))) or "0"
        self._ports = None if ports is None else frozenset(ports)
        self._wanted = ("off" if not self._confined else named or "", ",".join(models))

    async def start(self) -> None:
        """Start the worker; returns at once, seconds before it is ready. Requests made meanwhile wait."""
        self._closed = False
        await self._running()

    async def ready(self) -> str:
        """Wait until the worker is ready; returns litellm's version. ``ModelError`` when it can't be."""
        try:
            return await self._ready(await self._running())
        except _WorkerGone as gone:
            raise ModelError("worker-died", f"{_DIED}{gone}; try again.") from None

    async def close(self) -> None:
        """End the worker and every call in it."""
        self._closed = True
        async with self._starting:
            worker, self._worker = self._worker, None
        if worker is not None:
            await worker.close()

    @property
    def pid(self) -> int | None:
        """Process id of the running worker."""
        return self._worker.pid if self._worker is not None and self._worker.alive else None

    @property
    def confined(self) -> str:
        """What the kernel holds the worker to, in a few words; empty for nothing, or before it is ready."""
        return self._worker.confined if self._worker is not None else ""

    @property
    def keyring(self) -> tuple[str, ...]:
        """Names of the keys that the worker has from the system's keyring; none before it is ready."""
        return self._worker.keyring if self._worker is not None else ()

    @property
    def keyring_trouble(self) -> str:
        """Why the keyring could not be asked, as a sentence."""
        return self._worker.keyring_trouble if self._worker is not None else ""

    def diagnostics(self) -> str:
        """The end of what the worker wrote outside the protocol, for ``doctor``; not masked, never for logs."""
        return self._worker.stderr() if self._worker is not None else ""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        """The parts of one reply; the last is a ``Reply``. Closing the generator cancels the call.

        Raises ``ModelError``; ``ConfigError`` or ``NoSuchThing`` for a script that cannot be read.
        """
        entries = self._entries(request.model)
        operation: JsonObject = {
            "op": "call",
            "model": request.model,
            "tools": list(request.tools),
            "options": request.options,
            "clocks": self.clocks.to_json(),
            "script": entries,
        }
        restarted = False
        while True:
            worker = await self._running()
            if self._replaced:
                self._replaced = False
                yield WorkerNotice(f"{_DIED} and was started again.")
            call = _Call(worker, self._next_id(), operation, Accumulator(_names(request), _taken(request)))
            try:
                await self._ready(worker)
                if worker.keyring_trouble not in ("", self._troubled):
                    self._troubled = worker.keyring_trouble
                    yield WorkerNotice(self._troubled)
                written = {"messages": self._growing.written(request.messages)}
                await worker.send({**operation, "id": call.id}, written)
                async with aclosing(call.parts(self.clocks.longest + _GRACE)) as parts:
                    async for part in parts:
                        if entries is not None and isinstance(part, RetryNotice):
                            self._positions[request.model] += 1
                        yield part
                return
            except _WorkerGone as gone:
                if call.started or restarted:
                    raise ModelError("worker-died", f"{_DIED}{gone}; ask again.") from None
                restarted = True
            finally:
                call.close()

    async def about(self, model: str, options: JsonObject | None = None) -> ModelFacts:
        """What is known of a model under the person's options; a server on this machine is asked."""
        facts = cast(
            JsonObject, await self._ask({"op": "about", "model": model, "options": options or {}}, 20)
        )
        facts["ignored"] = tuple(facts["ignored"])
        return ModelFacts(**facts)

    async def models(self, options: JsonObject | None = None) -> tuple[ModelChoice, ...]:
        """What can be used here: models of providers whose keys are set, and of local servers on loopback."""
        operation: JsonObject = {"op": "models", "options": options or {}}
        covered = self._seeks is None or self._ports is None or self._seeks <= self._ports
        rows = await (self._ask(operation, 30) if covered else self._seek(operation))
        return tuple(ModelChoice(**row) for row in cast(list[dict[str, Any]], rows or []))

    async def fetch(
        self, url: str, *, limit: int = 64 * 1024, seconds: float = 5.0, allow_local: bool = False
    ) -> bytes:
        """The body behind an http(s) URL. ``ModelError`` says why not (too large, too slow, refused, …)."""
        operation = {
            "op": "fetch",
            "url": url,
            "limit": limit,
            "seconds": seconds,
            "allow_local": allow_local,
        }
        return str(await self._ask(operation, seconds + 15)).encode("latin-1")

    def rewind(self, model: str) -> None:
        """Let ``script/FILE`` begin again at its first reply, and read the file anew."""
        self._scripts.pop(model, None)
        self._positions.pop(model, None)

    def _entries(self, model: str) -> list[JsonObject] | None:
        """The script's replies from its current position on, as many as attempts could use up."""
        if not model.startswith("script/"):
            return None
        if model not in self._scripts:
            self._scripts[model] = read_script((self.folder or Path.cwd()) / model.removeprefix("script/"))
            self._positions[model] = 0
        position = self._positions[model]
        self._positions[model] += 1
        return self._scripts[model].entries[position : position + self.clocks.retries + 1]

    async def _seek(self, operation: JsonObject) -> object:
        """What a worker answers that may look at servers on this machine, and does nothing else; good for a while."""
        loop = asyncio.get_running_loop()
        async with self._seeking:
            if self._sought is not None and self._sought[1] == operation and loop.time() < self._sought[0]:
                return self._sought[2]
            ports = ",".join(map(str, sorted(self._seeks or ())))
            try:
                worker = await WorkerProcess.spawn(self._environment, ports, self._wanted[1], self._outside)
            except OSError as error:
                raise ModelError(
                    "worker-died", f"The model worker cannot start: {error.strerror}."
                ) from error
            try:
                found = await self._ask(operation, 30, worker)
            finally:
                await worker.close()
            self._sought = (loop.time() + _SOUGHT, operation, found)
            return found

    async def _running(self) -> WorkerProcess:
        async with self._starting:
            if self._closed:
                raise ModelError("worker-died", "The model gateway is closed.")
            # A file of name look-up that was replaced cannot be read by a worker that is held to the old one.
            held = self._wanted if self._wanted[0] == "off" else (*self._wanted, names_stamp())
            outgrown = self._worker is not None and self._held != held and self._worker.idle
            if self._worker is None or not self._worker.alive or outgrown:
                if self._worker is not None:
                    self._replaced = not outgrown
                    await self._worker.close(0.0)
                try:
                    self._worker = await WorkerProcess.spawn(self._environment, *self._wanted, self._outside)
                    self._held = held
                except OSError as error:
                    raise ModelError(
                        "worker-died", f"The model worker cannot start: {error.strerror}."
                    ) from error
            return self._worker

    async def _ready(self, worker: WorkerProcess) -> str:
        try:
            async with asyncio.timeout(self.clocks.start):
                return await asyncio.shield(worker.ready)
        except TimeoutError:
            worker.kill()
            raise ModelError(
                "worker-died",
                f"The model worker was not ready after {self.clocks.start:g} s; see `steward doctor`.",
            ) from None
        except OSError as error:
            if str(error) == "it ended while it was starting":
                raise _WorkerGone(" while it was starting") from None
            raise ModelError("worker-died", f"The model worker cannot start: {error}") from None

    async def _ask(
        self, operation: JsonObject, seconds: float, worker: WorkerProcess | None = None
    ) -> object:
        try:
            worker = worker or await self._running()
            id = self._next_id()
            inbox = worker.open(id)
            try:
                await self._ready(worker)
                await worker.send({**operation, "id": id})
                async with asyncio.timeout(seconds):
                    event = await inbox.get()
            finally:
                worker.forget(id)
                worker.post({"op": "cancel", "id": id})
        except TimeoutError:
            raise ModelError("timeout", "The model worker gave no answer in time.") from None
        except _WorkerGone as gone:
            raise ModelError("worker-died", f"{_DIED}{gone}; try again.") from None
        if event is None:
            raise ModelError("worker-died", f"{_DIED}; try again.")
        if event["type"] == "error":
            raise _error(event)
        return event.get("value")

    def _next_id(self) -> str:
        self._count += 1
        return str(self._count)


class _WorkerGone(Exception):
    """The worker ended before the call did."""


class _Call:
    """One call in one worker: what it said, as parts."""

    def __init__(
        self, worker: WorkerProcess, id: str, operation: JsonObject, accumulator: Accumulator
    ) -> None:
        self.id = id
        self.started = False
        self._worker = worker
        self._inbox = worker.open(id)
        self._accumulator = accumulator
        self._over = False

    def close(self) -> None:
        """Forget the call; in the worker it is cancelled when it still runs."""
        self._worker.forget(self.id)
        if not self._over:
            self._worker.post({"op": "cancel", "id": self.id})
            self._over = True

    async def parts(self, silence: float) -> AsyncGenerator[Part]:
        """Parts until the reply; a worker that says nothing for ``silence`` seconds is ended."""
        while True:
            try:
                async with asyncio.timeout(silence):
                    event = await self._inbox.get()
            except TimeoutError:
                self._worker.kill()
                raise _WorkerGone(", because it stopped answering,") from None
            events = [event]
            while not self._inbox.empty():
                events.append(self._inbox.get_nowait())
            # What has come meanwhile is handed on in one go, and an error only after it.
            pending: list[Part] = []
            failure: Exception | None = None
            for event in events:
                try:
                    pending = _merged(pending, self._parts(event))
                except (ModelError, _WorkerGone) as error:
                    failure = error
                if self._over:
                    break
            for part in pending:
                yield part
            if failure is not None:
                raise failure
            if self._over:
                return

    def _parts(self, event: JsonObject | None) -> list[Part]:
        if event is None:
            self._over = True
            raise _WorkerGone
        match event.get("type"):
            case "delta":
                self.started = True
                return self._accumulator.feed(cast(JsonObject, event["delta"]))
            case "retry":
                return [RetryNotice(int(event["attempt"]), float(event["seconds"]), str(event["reason"]))]
            case "notice":
                return [WorkerNotice(str(event["sentence"]))]
            case "finish":
                self._over = True
                rest = self._accumulator.rest()
                return [*rest, self._accumulator.finish(event.get("reason"), _usage(event.get("usage")))]
            case "error":
                self._over = True
                raise _error(event)
            case _:
                return []


def _merged(parts: list[Part], more: list[Part]) -> list[Part]:
    for part in more:
        last = parts[-1] if parts else None
        if isinstance(part, TextPart) and isinstance(last, TextPart):
            parts[-1] = TextPart(last.text + part.text)
        elif isinstance(part, CallPart) and isinstance(last, CallPart) and part.index == last.index:
            parts[-1] = part
        else:
            parts.append(part)
    return parts


def _error(event: JsonObject) -> ModelError:
    shape = cast(JsonObject, event["error"])
    return ModelError(
        str(shape["kind"]),
        str(shape["sentence"]),
        status=shape.get("status"),
        retry_after=shape.get("retry_after"),
        retryable=bool(shape.get("retryable")),
    )


def _usage(shape: JsonObject | None) -> Usage:
    return Usage(**shape) if shape else Usage()


def _names(request: ModelRequest) -> tuple[str, ...]:
    return tuple(str(tool["function"]["name"]) for tool in request.tools)


def _taken(request: ModelRequest) -> frozenset[str]:
    return frozenset(_ANSWERED.findall(request.messages))
