"""Runs an exported session again in a copy of its own: whether the recorded replies lead to the same requests."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from steward.config import Settings
from steward.conversation import Assistant, JsonObject, Message, System, ToolAnswer, Usage, User
from steward.errors import ConfigError, ModelError, StewardError
from steward.events import AnswerText, Event, FocusMoved, RoundStarted, ToolStarted
from steward.loop import Bounds
from steward.model.accumulate import Accumulator
from steward.model.gateway import Gateway
from steward.model.request import ModelRequest, Part
from steward.model.scriptfile import parse_script
from steward.proposals import Proposal
from steward.service import by_hand
from steward.service.earlier import changes_in
from steward.service.house import House
from steward.service.manner import in_that_manner, other_tools
from steward.service.recording import CHANGE, FILE, HEADER, digest, short_digest
from steward.service.talk import Talk
from steward.service.tree import Piece, pieces_in, plant

_ACT = re.compile(r"^The person (applied|discarded|undid) (change-\d+)(?:, saying: (.*))?[.:]")
_IDENTITY = re.compile(r"[0-9a-f]{16}")
_NAME = re.compile(r"(?!\.{1,2}$)[^/\0]{1,255}")
_MOST_NUMBER = 100_000
_FOR_EVER = 1e9
PREFIX = "steward-replay-"
MOST_BYTES = 256 * 1024 * 1024
"""Bytes of an exported session that are read."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One request to the model, against what was recorded of it."""

    number: int
    """From 1, over all questions."""
    bytes: int
    sha256: str
    """Of the messages as they would be sent, without what marks the steward's envelopes in one workspace alone."""
    same: bool | None
    """``None`` when nothing was recorded of it: a key was redacted, or instructions are recomposed each round."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay found."""

    requests: tuple[ModelRequest, ...]
    """What the model was sent, in order."""
    differences: tuple[str, ...]
    """Sentences about what was not as recorded, the first of them the one that matters."""
    compared: tuple[Compared, ...]
    entries: int
    """Replies that were recorded."""
    files: int
    """Files that the throw-away copy was made of."""


async def replay(
    text: str,
    pieces: Iterable[Piece] | None = None,
    settings: Settings | None = None,
    *,
    home: Path | None = None,
    config_directory: Path | None = None,
    secret: str = "",
    above: Path | None = None,
    earlier: Iterable[Proposal] = (),
) -> Replayed:
    """Ask in a throw-away copy what was asked in the exported session ``text``, with the recorded replies.

    The copy is made here, of the files that the recording holds or else of ``pieces``, and is gone at the end: where
    the person applied or undid a change, that is done in the copy, and nowhere else. ``settings``, ``home`` and
    ``config_directory`` are as for ``House``. ``secret`` is what marks the steward's envelopes in the workspace of the
    session; without it the requests differ in it, and are compared without it. ``earlier`` are the changes that were
    pending when the session began, where the recording does not hold them. The copy is made in ``above``, a
    directory that whoever gives it removes when the event loop has ended (a thread may outlive a replay that is
    interrupted), or else among the temporary files. Raises ``ConfigError`` for what is
    no export, and ``StorageError`` when the copy cannot be written.
    """
    header = parse_header(text)
    entries = parse_script("the recording", text)
    own = pieces_in(FILE, text)
    # What a thread still writes when this is interrupted, whoever gave ``above`` removes.
    with tempfile.TemporaryDirectory(
        prefix=PREFIX, dir=above, ignore_cleanup_errors=above is not None
    ) as place:
        root = Path(place, "copy", str(header["workspace"]))
        files = await asyncio.to_thread(plant, root, own or pieces or ())
        asked, profile = in_that_manner(settings or Settings(), header["manner"])
        house = House(
            root,
            asked,
            state=Path(place, "state"),
            home=home,
            config_directory=config_directory,
            profile=profile,
            trusted=bool(header.get("trusted", True)),
        )
        try:
            if secret:
                house.secret = secret
            house.workspace.identity = str(header["identity"])
            before = changes_in(CHANGE, text, house.workspace.identity) if own else tuple(earlier)
            await asyncio.to_thread(_put_before, house, int(header.get("first_change", 1)), before)
            return await _Replay(house, header, entries, files).run()
        finally:
            house.close()


def parse_header(text: str) -> JsonObject:
    """What the first line of an export says."""
    first = text.split("\n", 1)[0]
    try:
        header: object = json.loads(first.removeprefix(HEADER)) if first.startswith(HEADER) else None
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or cast(JsonObject, header).get("version") != 1:
        raise ConfigError("This is no exported session; its first line says nothing of one.")
    shape = cast(JsonObject, header)
    # Both become part of a path.
    if not _IDENTITY.fullmatch(str(shape.get("identity"))) or not _NAME.fullmatch(
        str(shape.get("workspace"))
    ):
        raise ConfigError("This exported session does not name its workspace as one is named.")
    for key in ("first_change", "rounds"):
        if not isinstance(shape.get(key, 1), int) or not 0 <= shape.get(key, 1) <= _MOST_NUMBER:
            raise ConfigError(f"This exported session has no proper number of {key.replace('_', ' ')}.")
    manner: object = shape.get("manner")
    shape["manner"] = manner if isinstance(manner, dict) else {}
    for key in ("pending", "lost"):
        ids: object = shape.get(key)
        shape[key] = [str(one) for one in cast(list[object], ids)] if isinstance(ids, list) else []
    return shape


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
    def __init__(self, house: House, header: JsonObject, entries: list[JsonObject], files: int) -> None:
        self._house = house
        self._files = files
        self._header = header
        self._gateway = _Recorded(entries)
        self._talk = Talk(house, str(header.get("model") or "recorded"), _nobody)
        self._differences: list[str] = []
        self._compared: list[Compared] = []
        self._sent: list[str] = []
        self._told: tuple[str, ...] = ()

    async def run(self) -> Replayed:
        if others := other_tools(self._header["manner"], self._talk.toolbox.specs):
            self._differ(f"the model is offered other tools than was recorded ({', '.join(others)})")
        while (entry := self._gateway.next) is not None and not self._differences:
            if "question" not in entry:
                self._differ("the turn ended before the recorded reply was asked for")
                break
            await self._turn(entry)
        return Replayed(
            tuple(self._gateway.requests),
            tuple(self._differences),
            tuple(self._compared),
            len(self._gateway.entries),
            self._files,
        )

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
        wire, secret, tag = self._talk.conversation.wire(), self._house.secret, self._talk.briefing.tag
        found = digest(wire, secret, tag)
        same = None if wanted is None else found == wanted
        number = len(self._compared) + 1
        self._compared.append(Compared(number, len(wire.encode("utf-8", "surrogatepass")), found, same))
        self._sent += [str(one) for one in cast(list[object], entry.get("sent", []))]
        if same is False:
            self._differ(f"the model is sent something else than was recorded{self._where(secret, tag)}")

    def _where(self, secret: str, tag: str) -> str:
        """Which message is the first that differs, as far as that was recorded."""
        messages = self._talk.messages
        for number, message in enumerate(messages, 1):
            if number > len(self._sent):
                return f": message {number}, {_called(message)}, is one too many"
            if short_digest(message, secret, tag) != self._sent[number - 1]:
                return f": message {number}, {_called(message)}"
        return f": message {len(messages) + 1} is missing" if len(messages) < len(self._sent) else ""

    def _break_off(self, stopped: JsonObject) -> bool:
        self._talk.closing = f"[{stopped['sentence']}]"
        return True

    async def _act(self, told: str) -> None:
        """Do what the person did, as the model was told it; the telling comes from the recording."""
        told, skills = by_hand.split(told)
        for name in skills:
            try:
                await self._talk.load_skill(name)
            except StewardError as error:
                self._differ(f"the skill {name} cannot be loaded again ({error})")
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


def _put_before(house: House, first: int, earlier: Iterable[Proposal]) -> None:
    """Use up the numbers of changes that were there before the session, and put there what was pending of them."""
    store, pending = house.changes.store, {proposal.id: proposal for proposal in earlier}
    for _ in range(first - 1):
        change = store.next_id()
        if change in pending:
            store.put(pending[change])


def _called(message: Message) -> str:
    """What a person would call the message."""
    match message:
        case System():
            return "the system message"
        case User():
            return "what was asked"
        case Assistant():
            return "what the model said"
        case ToolAnswer(_, name):
            return f"the result of {name}"


def _nobody(proposal: Proposal) -> None:
    """Nobody is told of a change that is made again."""
