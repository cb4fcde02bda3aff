"""A small editor: it keeps what it is told, and refuses whatever an agent should not ask for."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import acp
from acp.schema import AgentMessageChunk, TextContentBlock, ToolCallProgress, ToolCallStart

from tests.cli.program import Program


class Editor:
    """The client's half of a connection."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.asked: list[str] = []
        """Requests of the agent that would let it read, write or run something."""

    async def session_update(self, session_id: str, update: Any, **others: Any) -> None:
        """Keep it."""
        self.updates.append(update)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "on_connect":
            raise AttributeError(name)

        async def refuse(*arguments: Any, **others: Any) -> Any:
            self.asked.append(name)
            raise acp.RequestError.method_not_found(name)

        return refuse

    @property
    def said(self) -> str:
        """The agent's message so far."""
        chunks = [u.content for u in self.updates if isinstance(u, AgentMessageChunk)]
        return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextContentBlock))

    @property
    def started(self) -> list[ToolCallStart]:
        """Tool calls as they began."""
        return [u for u in self.updates if isinstance(u, ToolCallStart)]

    def last(self, call: str) -> ToolCallProgress:
        """How a call stands, an update leaving out what has not changed."""
        merged: dict[str, Any] = {"session_update": "tool_call_update", "tool_call_id": call}
        for update in self.updates:
            if isinstance(update, ToolCallProgress) and update.tool_call_id == call:
                merged |= {k: v for k, v in update.model_dump().items() if v is not None}
        return ToolCallProgress.model_validate(merged)


@asynccontextmanager
async def connected(steward: Program, model: str) -> AsyncGenerator[tuple[acp.Agent, Editor]]:
    """A running ``steward acp`` and the editor that speaks to it."""
    editor = Editor()
    command = steward.command("acp", "--model", model)
    async with acp.spawn_agent_process(
        cast(acp.Client, editor), command[0], *command[1:], env=steward.environment, cwd=steward.directory
    ) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield cast(acp.Agent, agent), editor
