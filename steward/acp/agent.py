"""The agent that an editor speaks to: one ``Steward`` for each of its sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import acp
from acp.schema import (
    AgentCapabilities,
    EmbeddedResourceContentBlock,
    Implementation,
    ListSessionsResponse,
    PromptCapabilities,
    ResourceContentBlock,
    SessionCapabilities,
    SessionInfo,
    SessionListCapabilities,
    TextContentBlock,
    TextResourceContents,
)

from steward import __version__
from steward.acp.replay import Replay
from steward.acp.updates import STOPS, Updates
from steward.errors import NoSuchThing, StewardError
from steward.events import TurnEnded
from steward.service import Steward
from steward.visible import line

PAGE = 100
"""Sessions in one answer; an editor asks for the next ones."""

Opened = Callable[[Path], Steward]


class EditorAgent:
    """What the protocol's connection calls. It never asks the editor to read, write or run anything.

    The protocol's sessions are the steward's stored ones, under the same ids.
    """

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
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
            ),
        )

    async def new_session(self, cwd: str, **others: Any) -> acp.NewSessionResponse:
        """Open the repository that holds ``cwd``; other servers the editor names are not used."""
        steward = await self._start(cwd)
        try:
            session = await steward.keep_session()
        except StewardError as error:
            await steward.close()
            raise acp.RequestError.internal_error({"details": str(error)}) from None
        self._sessions[session] = steward
        return acp.NewSessionResponse(session_id=session)

    async def load_session(self, cwd: str, session_id: str, **others: Any) -> acp.LoadSessionResponse:
        """Go on with a stored session of the repository that holds ``cwd``, telling the editor all of it first."""
        editor = self._editor
        assert editor is not None
        steward = self._sessions.get(session_id) or await self._resume(cwd, session_id)
        try:
            messages = await steward.stored(session_id)
        except StewardError as error:
            raise acp.RequestError.invalid_params({"details": str(error)}) from None
        replay = Replay(steward.root, self._turns)
        for message in messages:
            for update in replay.of(message):
                await editor.session_update(session_id=session_id, update=update)
        self._turns = replay.turns
        return acp.LoadSessionResponse()

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **others: Any
    ) -> ListSessionsResponse:
        """The stored sessions of the repository that holds ``cwd``; without it, of those that are open here."""
        found: dict[str, SessionInfo] = {}
        for place, steward in self._places(cwd):
            try:
                views = await steward.sessions()
            except StewardError as error:
                raise acp.RequestError.internal_error({"details": str(error)}) from None
            finally:
                if cwd is not None:
                    await steward.close()
            for view in views:
                found[view.id] = SessionInfo(
                    session_id=view.id, cwd=place, title=line(view.title), updated_at=view.updated
                )
        rows = sorted(found.values(), key=lambda row: row.updated_at or "", reverse=True)
        begin = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else 0
        more = str(begin + PAGE) if len(rows) > begin + PAGE else None
        return ListSessionsResponse(sessions=rows[begin : begin + PAGE], next_cursor=more)

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

    def _places(self, cwd: str | None) -> list[tuple[str, Steward]]:
        """The repositories to look for sessions in, each with the path that the editor knows it by."""
        if cwd is None:
            return list({str(one.root): (str(one.root), one) for one in self._sessions.values()}.values())
        return [(cwd, self._open(cwd))]

    def _open(self, cwd: str) -> Steward:
        try:
            return self._opened(Path(cwd))
        except StewardError as error:
            raise acp.RequestError.invalid_params({"details": str(error)}) from None

    async def _start(self, cwd: str) -> Steward:
        steward = self._open(cwd)
        try:
            await steward.start()
        except StewardError as error:
            await steward.close()
            raise acp.RequestError.invalid_params({"details": str(error)}) from None
        return steward

    async def _resume(self, cwd: str, session: str) -> Steward:
        """A started steward that holds the stored session; its whole id is needed."""
        steward = await self._start(cwd)
        try:
            await steward.resume(session)
            if steward.session_id != session:
                raise NoSuchThing("session", session)
        except StewardError as error:
            await steward.close()
            raise acp.RequestError.invalid_params({"details": str(error)}) from None
        self._sessions[session] = steward
        return steward

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
