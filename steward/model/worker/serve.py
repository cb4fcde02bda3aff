"""The worker's loop: reads operations from its input, runs them as tasks, writes events to its output."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn

from steward.conversation import JsonObject
from steward.model.process import CONFINE, KEYRING, MODELS
from steward.model.protocol import Lines, decode, encode

Say = Callable[[JsonObject], None]
Operation = Callable[[JsonObject, Say], Awaitable[None]]
Operations = Mapping[str, Operation]


class Pipe:
    """Both ends of the protocol. A thread reads, so that the end of the input ends the process at any moment."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._writing = threading.Lock()
        self._arriving = threading.Lock()
        self._early: list[JsonObject] = []
        self._receive: Callable[[JsonObject], None] | None = None
        self._asked, self._ask = os.pipe()
        self._errand: Callable[[], None] | None = None
        self._done = threading.Event()
        threading.Thread(target=self._read, name="operations", daemon=True).start()

    def say(self, event: JsonObject) -> None:
        """Write one event."""
        data = memoryview(encode(event))
        with self._writing:
            while data:
                try:
                    data = data[os.write(self._sink, data) :]
                except OSError:
                    leave()

    def listen(self, receive: Callable[[JsonObject], None]) -> None:
        """From now on hand each operation, also those that came before, to ``receive`` in the reading thread."""
        with self._arriving:
            self._receive = receive
            for operation in self._early:
                receive(operation)
            self._early.clear()

    def run_in_reader(self, errand: Callable[[], None]) -> None:
        """Run something in the thread that reads, and wait for its end; it must not raise. Where there is ``poll``."""
        self._errand = errand
        os.write(self._ask, b"!")
        self._done.wait()

    def _arrived(self) -> bytes:
        """What comes next, empty at the end; an errand is run meanwhile."""
        if not hasattr(select, "poll"):
            return os.read(self._source, 1 << 16)
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._asked, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._asked in ready and self._errand is not None:
                os.read(self._asked, 1)
                errand, self._errand = self._errand, None
                errand()
                self._done.set()
            if self._source in ready:
                return os.read(self._source, 1 << 16)

    def _read(self) -> None:
        lines = Lines()
        try:
            while data := self._arrived():
                for line in lines.feed(data):
                    operation = decode(line)
                    if operation is not None:
                        self._hand_on(operation)
        finally:
            leave()

    def _hand_on(self, operation: JsonObject) -> None:
        with self._arriving:
            if self._receive is None:
                self._early.append(operation)
            else:
                self._receive(operation)


def leave() -> NoReturn:
    """End at once: the steward is gone, and litellm would take more than a second to tidy up."""
    os._exit(0)


class Server:
    """Runs operations; each has an id, and ``cancel`` ends the one of that id."""

    def __init__(self, pipe: Pipe, operations: Operations) -> None:
        self._pipe = pipe
        self._operations = operations
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def serve(self) -> NoReturn:
        """Run until the input ends."""
        loop = asyncio.get_running_loop()

        def receive(operation: JsonObject) -> None:
            loop.call_soon_threadsafe(self._dispatch, operation)

        self._pipe.listen(receive)
        await asyncio.Event().wait()
        leave()

    def _dispatch(self, operation: JsonObject) -> None:
        id = str(operation.get("id", ""))
        if operation.get("op") == "cancel":
            task = self._tasks.get(id)
            if task is not None:
                task.cancel()
            return
        run = self._operations.get(str(operation.get("op")))
        if run is None:
            sentence = "The worker does not know this operation."
            self._pipe.say({"id": id, "type": "error", "error": {"kind": "protocol", "sentence": sentence}})
            return
        task = asyncio.create_task(self._run(id, run, operation))
        self._tasks[id] = task
        task.add_done_callback(lambda _: self._tasks.pop(id, None))

    async def _run(self, id: str, run: Operation, operation: JsonObject) -> None:
        task = asyncio.current_task()

        def say(event: JsonObject) -> None:
            # A cancelled operation has nothing more to say, also while it tidies up.
            if task is not None and not task.cancelling():
                self._pipe.say({"id": id, **event})

        try:
            await run(operation, say)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever litellm raises, the steward is told and the worker lives on
            say({"type": "error", "error": _described(error)})


def _described(error: Exception) -> JsonObject:
    """The error in words; where finding them fails too, at least that it happened, so that nobody waits."""
    from steward.model.worker.faults import describe

    try:
        return describe(error)
    except Exception as fault:
        sentence = (
            f"The call failed with {type(error).__name__}, which could not be read ({type(fault).__name__})."
        )
        return {"kind": "protocol", "sentence": sentence}


def main() -> NoReturn:
    """Take over the pipes, import litellm, serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.dup(0), os.dup(1)
    # From here on nothing that anybody prints or reads can touch the protocol.
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    pipe = Pipe(source, sink)
    try:
        operations, version = _load()
    except BaseException as error:
        import traceback

        traceback.print_exc()
        pipe.say({"type": "broken", "sentence": f"litellm could not be loaded ({type(error).__name__})."})
        leave()
    models = os.environ.pop(MODELS, "")
    from steward.model.worker.from_keyring import take

    # Before the door closes: a keyring is reached over a socket of the session.
    found, trouble = take(models) if os.environ.pop(KEYRING, "") else ([], "")
    ready: JsonObject = {"type": "ready", "litellm": version, "pid": os.getpid(), "keyring": found}
    pipe.say({**ready, "keyring_trouble": trouble, "confined": confined(pipe, models)})
    asyncio.run(Server(pipe, operations).serve())
    leave()


def confined(pipe: Pipe, models: str) -> str:
    """Give up files and ports for good, in every thread; what holds now, in a few words, empty for nothing.

    This comes after the import: what is imported for the first time is compiled and kept on the disk.
    """
    wanted = os.environ.pop(CONFINE, "")
    if wanted == "off":
        return ""
    _compile()
    from steward.confine.landlock import Ruleset, threads
    from steward.confine.worker import worker_grants

    try:
        ports = [port for port in map(int, wanted.split(",")) if port] if wanted else None
        rules = Ruleset(worker_grants(os.environ, models), ports)
    except OSError:
        return ""
    failed: list[OSError] = []

    def restrict() -> None:
        try:
            rules.restrict()
        except OSError as error:
            failed.append(error)

    pipe.run_in_reader(restrict)
    restrict()
    rules.close()
    if failed:
        return ""
    named = ", ".join(map(str, rules.ports or ()))
    what = "files" if rules.ports is None else f"files and ports {named}" if named else "files and no port"
    more = threads() - 2
    return f"{what}, but for {more} threads of libraries" if more > 0 else what


def _compile() -> None:
    """Compile the steward's modules when its installer has not: a confined steward could not keep what it compiles."""
    from importlib.util import cache_from_source
    from pathlib import Path

    import steward

    home = Path(steward.__file__).parent
    late = home / "tui" / "review" / "screen.py"
    if not Path(cache_from_source(str(late))).exists() and os.access(home, os.W_OK):
        import compileall

        compileall.compile_dir(home, quiet=2)


def _load() -> tuple[Operations, str]:
    from importlib.metadata import version

    from steward.model.worker import quiet

    litellm: Any = quiet.load()
    from steward.model.worker import bounded, call, fetch, lookup, plain, providers, redirects, thinking

    redirects.stay()
    bounded.bound()
    plain.keep_reasons()
    thinking.keep_on()
    litellm.custom_provider_map = [
        {"provider": "script", "custom_handler": providers.ScriptProvider()},
        {"provider": "offline", "custom_handler": providers.OfflineProvider()},
    ]
    operations: Operations = {
        "call": call.run,
        "fetch": fetch.run,
        "about": lookup.about,
        "models": lookup.models,
    }
    return operations, version("litellm")
