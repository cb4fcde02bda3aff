"""The agent that an editor speaks to: one ``Steward`` for each of its sessions."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import acp
from acp.schema import (
    AgentCapabilities,
    EmbeddedResourceContentBlock,
    Implementation,
    PromptCapabilities,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from steward import __version__
from steward.acp.updates import STOPS, Updates
from steward.errors import StewardError
from steward.events import TurnEnded
from steward.service import Steward

Opened = Callable[[Path], Steward]


class EditorAgent:
    """What the protocol's connection calls. It never asks the editor to read, write or run anything."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._sessions: dict[str, Steward] = {}
        self._turns = 0
        self._editor: acp.Client | None = None

    def on_connect(self, conn: acp.Client) -> None:
        """The editor is there."""
        self._editor = conn

    async def initialize(self, protocol_version: int, **others: Any) -> acp.InitializeResponse:
        """Say who this is and what it takes: text, and text that the editor embeds."""
        return acp.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_info=Implementation(name="steward", title="Repository steward", version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=False, prompt_capabilities=PromptCapabilities(embedded_context=True)
            ),
        )

    async def new_session(self, cwd: str, **others: Any) -> acp.NewSessionResponse:
        """Open the repository that holds ``cwd``; other servers the editor names are not used."""
        try:
            steward = self._opened(Path(cwd))
            await steward.start()
        except StewardError as error:
            raise acp.RequestError.invalid_params({"details": str(error)}) from None
        session = secrets.token_hex(8)
        self._sessions[session] = steward
        return acp.NewSessionResponse(session_id=session)

    async def prompt(self, session_id: str, prompt: list[Any], **others: Any) -> acp.PromptResponse:
        """One turn, told as it happens."""
        steward = self._session(session_id)
        editor = self._editor
        assert editor is not None
        self._turns += 1
        updates = Updates(steward.root, self._turns)
        end: TurnEnded | None = None
        try:
            async for event in steward.ask(_question(prompt)):
                for update in updates.of(event):
                    await editor.session_update(session_id=session_id, update=update)
                if isinstance(event, TurnEnded):
                    end = event
        except StewardError as error:
            raise acp.RequestError.invalid_request({"details": str(error)}) from None
        if end is None or end.reason == "failed":
            raise acp.RequestError.internal_error({"details": end.error if end else "The turn broke off."})
        return acp.PromptResponse(stop_reason=STOPS[end.reason])

    async def cancel(self, session_id: str, **others: Any) -> None:
        """End the running turn."""
        self._session(session_id).interrupt()

    async def close(self) -> None:
        """Close every session; the editor has gone."""
        for steward in self._sessions.values():
            await steward.close()
        self._sessions.clear()

    def _session(self, session: str) -> Steward:
        try:
            return self._sessions[session]
        except KeyError:
            raise acp.RequestError.invalid_params({"details": "There is no such session."}) from None


def serve(opened: Opened) -> None:
    """Speak to the editor until it goes. ``opened`` makes the ``Steward`` for a directory."""

    async def whole() -> None:
        agent = EditorAgent(opened)
        try:
            await acp.run_agent(cast(acp.Agent, agent))
        finally:
            await agent.close()

    asyncio.run(whole())


def _question(blocks: list[Any]) -> str:
    """The text of a prompt; what the editor embeds stands in fences below it."""
    words: list[str] = []
    beside: list[str] = []
    for block in blocks:
        match block:
            case TextContentBlock():
                words.append(block.text)
            case ResourceContentBlock():
                words.append(block.uri)
            case EmbeddedResourceContentBlock() if isinstance(block.resource, TextResourceContents):
                beside.append(f"From {block.resource.uri}:\n```\n{block.resource.text}\n```")
            case _:
                raise acp.RequestError.invalid_params({"details": "Only text can be taken."})
    return "\n\n".join(["".join(words).strip(), *beside]).strip()
