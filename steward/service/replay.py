"""Runs an exported session again: the same questions, the recorded replies, and whether the model is sent the same."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from steward.conversation import JsonObject, Usage
from steward.errors import ConfigError, ModelError, StewardError
from steward.events import AnswerText, Event, FocusMoved, RoundStarted, ToolStarted
from steward.loop import Bounds
from steward.model.accumulate import Accumulator
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part
from steward.model.scriptfile import parse_script
from steward.proposals import Proposal
from steward.service.house import House
from steward.service.recording import HEADER, digest
from steward.service.talk import Talk

_ACT = re.compile(r"^The person (applied|discarded|undid) (change-\d+)(?:, saying: (.*))?[.:]")
_FOR_EVER = 1e9


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found."""

    requests: tuple[ModelRequest, ...]
    """What the model was sent, in order."""
    differences: tuple[str, ...]
    """Sentences about what was not as recorded, the first of them the one that matters."""
    compared: int
    """How many requests could be compared with what was recorded of them."""


async def replay(house: House, text: str, *, name: str = "the session") -> Replayed:
    """Ask in ``house`` what was asked in the exported session ``text``, with the recorded replies.

    The house must be a copy of the workspace as it was when the session began, with an empty state of its own:
    changes are applied in it where the person applied them, and their stamps are made as in the original. Raises
    ``ConfigError`` for what is no export.
    """
    header = parse_header(text)
    house.workspace.identity = str(header.get("identity", house.workspace.identity))
    return await _Replay(house, header, parse_script(name, text)).run()


def parse_header(text: str) -> JsonObject:
    """What the first line of an export says."""
    first = text.split("\n", 1)[0]
    try:
        header: object = json.loads(first.removeprefix(HEADER)) if first.startswith(HEADER) else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or cast(JsonObject, header).get("version") != 1:
        raise ConfigError("This is no exported session; its first line says nothing of one.")
    return cast(JsonObject, header)


class _Recorded(Gateway):
    """Gives the recorded replies, without a worker."""

    def __init__(self, entries: list[JsonObject]) -> None:
        super().__init__({})
        self.entries = entries
        self.position = 0
        self.requests: list[ModelRequest] = []

    @property
    def next(self) -> JsonObject | None:
        return self.entries[self.position] if self.position < len(self.entries) else None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Part]:
        self.requests.append(request)
        entry = self.next
        if entry is None:
            raise ModelError("protocol", "The recording has no further reply.")
        self.position += 1
        accumulator = Accumulator([str(tool["function"]["name"]) for tool in request.tools])
        for part in accumulator.feed(
            {"reasoning_content": entry.get("reasoning", ""), "content": entry.get("text", "")}
        ):
            yield part
        if "error" in entry:
            raise ModelError("protocol", str(entry["error"].get("message", "")))
        calls = [
            {
                "index": n,
                "id": call.get("id"),
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for n, call in enumerate(cast(list[JsonObject], entry.get("calls", [])))
        ]
        for part in accumulator.feed({"tool_calls": calls}):
            yield part
        yield accumulator.finish(entry.get("finish") or ("tool_calls" if calls else "stop"), Usage())


class _Replay:
    def __init__(self, house: House, header: JsonObject, entries: list[JsonObject]) -> None:
        self._house = house
        self._header = header
        self._gateway = _Recorded(entries)
        self._talk = Talk(house, str(header.get("model") or "recorded"), _nobody)
        self._differences: list[str] = []
        self._compared = 0
        self._told: tuple[str, ...] = ()

    async def run(self) -> Replayed:
        if self._house.workspace.name != self._header.get("workspace"):
            wanted = self._header.get("workspace")
            self._differences.append(f"The directory must be called {wanted}, since the model was told so.")
        await asyncio.to_thread(self._reserve, int(self._header.get("first_change", 1)))
        while (entry := self._gateway.next) is not None and not self._differences:
            if "question" not in entry:
                self._differ("the turn ended before the recorded reply was asked for")
                break
            await self._turn(entry)
        return Replayed(tuple(self._gateway.requests), tuple(self._differences), self._compared)

    async def _turn(self, entry: JsonObject) -> None:
        """One question with all its replies."""
        await self._act(str(entry.get("told", "")))
        bounds = Bounds(int(self._header.get("rounds", 25)), _FOR_EVER)
        turn = self._talk.turn(str(entry["question"]), self._gateway, bounds, self._news)
        begun = self._gateway.position
        async with aclosing(turn) as events:
            cut = await self._follow(events)
        self._talk.settle()
        rest = self._gateway.next
        if not cut and rest is not None and "stopped" in rest and not rest.get("text"):
            # The turn ended by itself where the recorded one did.
            said = self._talk.messages[-1]
            if getattr(said, "text", "") == f"[{rest['stopped']['sentence']}]":
                self._gateway.position += 1
        if self._gateway.position == begun:
            self._differ("the recorded reply was not asked for")

    async def _follow(self, events: AsyncGenerator[Event]) -> bool:
        """Go through a turn; true when it was broken off where the recorded one was."""
        said, call, current = "", 0, {}
        async for event in events:
            match event:
                case RoundStarted():
                    said, call = "", 0
                    current = self._gateway.next or {}
                    stopped = current.get("stopped")
                    if stopped and not stopped["at"] and not current.get("text") and "error" not in current:
                        self._gateway.position += 1
                        return self._break_off(stopped)
                    self._expect(current)
                case AnswerText(text):
                    said += text
                    stopped = current.get("stopped")
                    if stopped and not stopped["at"] and said == current["text"] and "error" not in current:
                        return self._break_off(stopped)
                case ToolStarted():
                    call += 1
                    stopped = current.get("stopped")
                    if stopped and stopped["at"] == call:
                        return self._break_off(stopped)
                    await self._act(str(current.get("acts", {}).get(str(call), "")))
                case FocusMoved(path):
                    self._talk.focus = path
                case _:
                    pass
        return False

    def _expect(self, entry: JsonObject) -> None:
        """Hold what the model is about to be sent against what is recorded."""
        wanted = entry.get("request")
        if wanted is None:
            return
        self._compared += 1
        wire = self._talk.conversation.wire()
        if digest(wire, self._house.secret, self._talk.briefing.tag) != wanted:
            self._differ("the model is sent something else than was recorded")

    def _break_off(self, stopped: JsonObject) -> bool:
        self._talk.closing = f"[{stopped['sentence']}]"
        return True

    async def _act(self, told: str) -> None:
        """Do what the person did, as the model was told it; the telling comes from the recording."""
        for sentence in told.split("\n"):
            if (match := _ACT.match(sentence)) is not None:
                try:
                    await asyncio.to_thread(self._do, match[1], match[2], match[3] or "")
                except StewardError as error:
                    self._differ(f"the person's hand cannot be repeated ({error})")
        self._house.changes.news()
        self._told = (told,) if told else ()

    def _do(self, verb: str, change: str, reason: str) -> None:
        changes = self._house.changes
        match verb:
            case "applied":
                proposal = changes.review(change).proposal
                changes.shown(proposal)
                changes.apply(change, proposal.stamp)
            case "discarded":
                changes.discard(change, reason)
            case _:
                changes.undo(change)

    def _news(self) -> tuple[str, ...]:
        told, self._told = self._told, ()
        self._house.changes.news()
        return told

    def _differ(self, what: str) -> None:
        at = self._gateway.position + 1
        self._differences.append(f"At reply {at} {what}.")

    def _reserve(self, first: int) -> None:
        """Use up the numbers of changes that were there before the session."""
        for _ in range(first - 1):
            self._house.changes.store.next_id()


def _nobody(proposal: Proposal) -> None:
    """Nobody is told of a change that is made again."""


def read_export(path: Path) -> str:
    """The text of an exported session. ``ConfigError`` when it cannot be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{path.name} cannot be read as an exported session.") from None
