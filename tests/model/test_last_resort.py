"""An error that cannot even be read still ends its operation: nobody waits for an answer that does not come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from steward.conversation import JsonObject
from steward.model.worker.serve import Server


class Unreadable(Exception):
    """An error without words."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Pipe:
    """Both ends of a pipe in one process."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[JsonObject] = asyncio.Queue()
        self.say = self.said.put_nowait
        self.receive: Callable[[JsonObject], None] | None = None

    def listen(self, receive: Callable[[JsonObject], None]) -> None:
        self.receive = receive


async def test_an_error_that_cannot_be_read_is_told_all_the_same() -> None:
    async def fails(operation: JsonObject, say: object) -> None:
        raise Unreadable

    pipe = Pipe()
    serving = asyncio.create_task(Server(cast(Any, pipe), {"call": fails}).serve())
    while pipe.receive is None:
        await asyncio.sleep(0)
    pipe.receive({"id": "7", "op": "call"})
    event = await asyncio.wait_for(pipe.said.get(), 30)
    serving.cancel()
    assert (event["id"], event["type"]) == ("7", "error")
    assert event["error"]["sentence"] == (
        "The call failed with Unreadable, which could not be read (ValueError)."
    )
