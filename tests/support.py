"""A repository on disk, a steward in it, and a scripted model in this process, for tests of the loop and above."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any, cast

from steward.config import Settings
from steward.conversation import JsonObject, Usage
from steward.errors import ModelError
from steward.events import AnswerText, RoundStarted, TurnEnded
from steward.model.accumulate import Accumulator
from steward.model.choices import ModelChoice, ModelFacts
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part
from steward.service import House, Steward

TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Root rules\n",
    "README.md": "A small repository.\n",
    "src/AGENTS.md": "# Source rules\n",
    "src/app.py": "def answer():\n    return 41\n",
    "src/deep/AGENTS.md": "# Deep rules\n",
    "src/deep/inner.py": "VALUE = 1\n",
    "web/AGENTS.md": "# Web rules\n",
    "web/page.js": "let x = 1;\r\nlet y = 2;\r\n",
}


def plant(root: Path, tree: Mapping[str, str | bytes] = TREE) -> Path:
    """Write ``tree`` below ``root`` byte for byte; gives the root."""
    for name, content in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def call(name: str, **arguments: Any) -> JsonObject:
    """A tool call as a script writes it."""
    return {"name": name, "arguments": arguments}


def patch(path: str, old: str, new: str, **more: Any) -> JsonObject:
    """A proposePatch call."""
    return call("proposePatch", path=path, oldText=old, newText=new, **more)


class ScriptedGateway(Gateway):
    """Gives scripted replies through the real accumulator, without a worker; keeps each request it was given.

    A reply is a script's entry, or a callable that is awaited before the reply begins (to act in between).
    """

    def __init__(self, replies: list[Any]) -> None:
        super().__init__()
        self.replies: list[Any] = list(replies)
        self.requests: list[ModelRequest] = []
        self.pages: dict[str, bytes] = {}

    async def start(self) -> None:
        """There is nothing to start."""

    async def close(self) -> None:
        """There is nothing to close."""

    async def host(self, model: str, options: JsonObject | None = None) -> str:
        return "this machine"

    async def fetch(
        self, url: str, *, limit: int = 0, seconds: float = 5.0, allow_local: bool = False
    ) -> bytes:
        if url not in self.pages:
            raise ModelError("connection", "The host could not be reached.")
        return self.pages[url]

    async def window(self, model: str) -> int | None:
        return None

    async def about(self, model: str, options: JsonObject | None = None) -> ModelFacts:
        return ModelFacts(await self.host(model, options), window=await self.window(model))

    async def models(self, options: JsonObject | None = None) -> tuple[ModelChoice, ...]:
        return (ModelChoice("script/here", "this machine", found="built in"),)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        self.requests.append(request)
        while self.replies and callable(self.replies[0]):
            act = cast(Callable[[], Any], self.replies.pop(0))
            result = act()
            if asyncio.iscoroutine(result):
                await result
        if not self.replies:
            raise ModelError("protocol", "The script has no further reply.")
        entry = cast(JsonObject, self.replies.pop(0))
        if "error" in entry:
            raise ModelError(
                entry["error"].get("kind", "server"), entry["error"].get("message", "It failed.")
            )
        names = [tool["function"]["name"] for tool in request.tools]
        accumulator = Accumulator(names, {f"used{len(self.requests)}"})
        text = str(entry.get("text", ""))
        size = int(entry.get("chunk", 7))
        for start in range(0, len(text), size):
            for part in accumulator.feed({"content": text[start : start + size]}):
                yield part
            await asyncio.sleep(float(entry.get("delay", 0)))
        calls = [
            {
                "index": n,
                "id": f"r{len(self.requests)}c{n}",
                "function": {
                    "name": c["name"],
                    "arguments": c["arguments"]
                    if isinstance(c["arguments"], str)
                    else json.dumps(c["arguments"]),
                },
            }
            for n, c in enumerate(entry.get("calls", []))
        ]
        for delta in [*entry.get("deltas", []), *([{"tool_calls": calls}] if calls else [])]:
            for part in accumulator.feed(delta):
                yield part
        if entry.get("hang"):
            await asyncio.Event().wait()
        finish = entry.get("finish", "tool_calls" if calls else "stop")
        yield accumulator.finish(finish, Usage(**entry.get("usage", {})))

    def sent(self, number: int = -1) -> list[JsonObject]:
        """The messages of one request."""
        return cast(list[JsonObject], json.loads(self.requests[number].messages))


def steward_in(
    root: Path,
    replies: list[Any],
    *,
    settings: Settings | None = None,
    watch: bool = False,
    profile: str = "",
) -> tuple[Steward, ScriptedGateway]:
    """A steward for ``root`` with its state beside it, and the scripted model it asks."""
    gateway = ScriptedGateway(replies)
    house = House(root, settings or Settings(), state=root.parent / "state", profile=profile)
    return Steward(house, model="script/here", watch=watch, gateway=gateway), gateway


async def asked(steward: Steward, question: str) -> list[Any]:
    """All events of one turn."""
    return [event async for event in steward.ask(question)]


async def asked_beside(steward: Steward, profile: str, question: str) -> tuple[str, TurnEnded]:
    """The last round's answer of another profile, and how its turn ended."""
    events = [event async for event in steward.ask_beside(profile, question)]
    last = max(n for n, event in enumerate(events) if isinstance(event, RoundStarted))
    return "".join(event.text for event in only(events[last:], AnswerText)), only(events, TurnEnded)[0]


def only(events: list[Any], kind: type[Any]) -> list[Any]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]
