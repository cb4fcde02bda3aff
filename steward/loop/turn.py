"""A turn reads as it runs: take the question, ask the model, run its calls, until it rests or a bound is met."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never

from steward.conversation import Assistant, Conversation, ToolAnswer, ToolCall, Usage, User
from steward.errors import ModelError, StewardError
from steward.events import (
    AnswerText,
    CallForming,
    EndReason,
    Event,
    FocusMoved,
    Notice,
    ReasoningText,
    Retrying,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from steward.loop.briefed import Briefed
from steward.loop.budget import SHARE, Budget, Spending
from steward.loop.prose import ids
from steward.loop.recovery import recovered, texts_given
from steward.loop.repeats import Babble, Repeats, without_repetition
from steward.loop.unproposed import unproposed
from steward.model.gateway import Gateway
from steward.model.request import (
    CallPart,
    ModelRequest,
    Part,
    ReasoningPart,
    Reply,
    RetryNotice,
    TextPart,
    WorkerNotice,
)
from steward.prompts import note
from steward.tools import ToolBox

CHARACTERS_PER_TOKEN = 3.5
NUDGES = 2
"""How often in a row an unusable reply is answered with what is wrong with it."""

FEWEST_ROUNDS = 5
"""From this many rounds on, a turn is told when few of them are left."""

INTERRUPTED = "[Interrupted by the person.]"
FAILED = "[The model could not answer.]"
BROKEN_OFF = {
    "length": "The answer breaks off: the model reached the most it may write at once.",
    "content_filter": "The answer breaks off: the provider's content filter stopped it.",
}
"""What the person is told of an answer with such a finish reason."""
EMPTY = "[Empty reply.]"
"""Stands for a reply that held nothing, since servers refuse an empty message."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a turn stops by itself: model calls, seconds, and what it may cost.

    A model on this machine gets ``local_factor`` times the seconds.
    """

    rounds: int = 25
    seconds: float = 600.0
    budget: Budget = field(default_factory=Budget)
    local_factor: float = 4.0


@dataclass(slots=True)
class Desk:
    """What a turn works with; it belongs to the service and outlives the turn."""

    conversation: Conversation
    gateway: Gateway
    toolbox: ToolBox
    briefed: Briefed
    request: Callable[[], ModelRequest]
    """The next request, from the conversation as it stands."""
    news: Callable[[], tuple[str, ...]]
    """Sentences the model must be told now (what the person did); each is given once."""
    secret: str
    refusal: Callable[[str, tuple[str, ...]], str | None]
    """Why a tool may not be used on these paths at the moment (a skill's lock), ``None`` when it may."""
    announce: Callable[..., Awaitable[str]]
    """What else belongs at the head of the result of a tool that touched these paths (skills that are found there)."""
    ids: Callable[[], Mapping[str, str]]
    """The status of every change there is, by id; blocks for a moment."""
    window: int | None = None
    spent: Usage = field(default_factory=Usage)
    """What earlier turns of the session used."""
    local: Callable[[], bool] = lambda: False
    """Whether the model is on this machine, as far as that is known by now."""
    closing: Callable[[], str] = lambda: INTERRUPTED
    """What a turn that is broken off leaves in the history."""
    room: Callable[[bool], AsyncGenerator[Event]] | None = None
    """Makes room in the conversation when that is due, or (true) since the model's window is full."""

    def context(self, usage: Usage | None = None) -> int:
        """Tokens the window holds: as reported, else estimated from characters."""
        if usage is not None and usage.prompt:
            return usage.prompt + (usage.completion or 0)
        return tokens_of(self.conversation.characters() + self.toolbox.characters)


def tokens(text: str) -> int:
    """An estimate of the tokens of ``text``."""
    return tokens_of(len(text))


def tokens_of(characters: int) -> int:
    """An estimate of the tokens of so many characters."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


async def run_turn(question: str, desk: Desk, bounds: Bounds) -> AsyncGenerator[Event]:
    """Everything from the question to the model's rest, as events; the last is ``TurnEnded``.

    Cancelling it, or closing it, leaves a history that the next request can begin with.
    """
    turn = _Turn(desk, bounds)
    desk.conversation.append(User(note(desk.secret, desk.news()) + question))
    try:
        yield TurnStarted(question)
        async with aclosing(turn.run()) as events:
            async for event in events:
                yield event
    except StewardError as error:
        turn.close(FAILED)
        yield turn.ended("failed", str(error))
    except BaseException:
        turn.close(desk.closing())
        raise


class _Turn:
    def __init__(self, desk: Desk, bounds: Bounds) -> None:
        self.desk = desk
        self.bounds = bounds
        self.began = time.monotonic()
        self.usage = Usage()
        self.round = 0
        self.nudges = 0
        self.repeats = Repeats()
        self.spending = Spending(bounds.budget, desk.spent)
        self.hints: tuple[str, ...] = ()
        self.refused = 0
        self.partial = ""
        self.squeezed = False
        self.said: list[str] = []
        self.proposed = False
        self.spoken_of = frozenset[str]().union(*(ids(m.text) for m in desk.conversation.messages))
        self.stop: tuple[EndReason, str] | None = None

    async def run(self) -> AsyncGenerator[Event]:
        while self.stop is None:
            if self.round == self.bounds.rounds:
                self.stop = ("round-limit", f"Stopped after {self.round} rounds, the limit of one turn.")
                break
            if over := self.spending.over():
                self.stop = ("budget", over)
                break
            self.round += 1
            async with aclosing(self.fitting_round()) as events:
                async for event in events:
                    yield event
        reason, sentence = self.stop or ("answered", "")
        if reason != "answered":
            self.close(f"[{sentence}]")
        for claim in await asyncio.to_thread(self.claims):
            yield Notice(claim, "warning")
        if (missing := await asyncio.to_thread(self.unproposed, reason)) is not None:
            yield missing
        yield self.ended(reason, sentence)

    async def fitting_round(self) -> AsyncGenerator[Event]:
        """One round for which room was made before; when the window is full all the same, once more with more room."""
        async for event in self.room(overflow=False):
            yield event
        try:
            async with aclosing(self.query()) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            before = self.desk.conversation
            if error.kind != "context-overflow" or self.squeezed or self.partial:
                raise
            self.squeezed = True
            async for event in self.room(overflow=True):
                yield event
            if self.desk.conversation is before:
                raise
            async with aclosing(self.query()) as events:
                async for event in events:
                    yield event

    async def room(self, *, overflow: bool) -> AsyncGenerator[Event]:
        """What making room tells, when any is made."""
        if self.desk.room is not None:
            async with aclosing(self.desk.room(overflow)) as events:
                async for event in events:
                    yield event

    async def query(self) -> AsyncGenerator[Event]:
        """One round: the model's reply as it streams, then what its calls do."""
        yield RoundStarted(self.round)
        reply: Reply | None = None
        self.partial = ""
        said, thought = Babble(), Babble()
        async with (
            aclosing(self.desk.gateway.stream(self.desk.request())) as stream,
            aclosing(self.in_time(stream)) as parts,
        ):
            async for part in parts:
                stuck = False
                match part:
                    case TextPart(text):
                        self.partial += text
                        stuck = said.feed(text)
                        yield AnswerText(text)
                    case ReasoningPart(text):
                        stuck = thought.feed(text)
                        yield ReasoningText(text)
                    case CallPart(_, name, characters):
                        yield CallForming(name, characters)
                    case RetryNotice(attempt, seconds, reason):
                        yield Retrying(attempt, seconds, reason)
                    case WorkerNotice(sentence):
                        yield Notice(sentence, "warning")
                    case Reply():
                        reply = part
                    case _:
                        assert_never(part)
                if stuck:
                    self.partial = without_repetition(self.partial)
                    self.stop = ("loop", "Stopped: the model kept repeating the same words.")
                    return
        if reply is None:
            self.stop = self.out_of_time()
            return
        self.partial = ""
        self.usage += reply.usage
        self.spending.add(reply.usage, self.desk.context() + tokens(reply.text + reply.reasoning))
        yield RoundEnded(self.round, reply.usage, self.desk.context(reply.usage), self.desk.window)
        for warning in (*self.spending.warnings(), *self.few_rounds(reply)):
            yield Notice(warning, "warning")
        async for event in self.step(reply):
            yield event

    async def step(self, reply: Reply) -> AsyncGenerator[Event]:
        """Put the reply into the conversation and answer all it asks for."""
        if reply.told and (read := recovered(reply, self.desk.conversation, self.desk.toolbox)) is not None:
            reply = read
            named = ", ".join(dict.fromkeys(call.name for call in read.calls))
            yield Notice(
                f"The model wrote a call of {named} as text; it only reads, so it was run.", "warning"
            )
        self.said.append(reply.text)
        self.repeats.begin_round()
        rejected = {call.id: sentence for call, sentence in reply.rejected}
        calls = (*reply.calls, *(call for call, _ in reply.rejected))
        said = reply.text if reply.text.strip() or calls else EMPTY
        self.desk.conversation.append(Assistant(said, calls, reply.reasoning))
        for call in calls:
            if self.stop is not None:
                return
            if call.id in rejected:
                yield ToolStarted(call.id, call.name, call.arguments)
                for event in self.finish(
                    call, "", rejected[call.id], ok=False, summary="refused: not a valid call"
                ):
                    yield event
            else:
                async for event in self.execute(call):
                    yield event
        if reply.told and not calls:
            yield Notice(f"The reply was not usable: {reply.told}", "warning")
            self.nudges += 1
            if self.nudges > NUDGES:
                self.stop = ("failed", reply.told)
            else:
                self.desk.conversation.append(User(note(self.desk.secret, (reply.told,)).strip(), note=True))
            return
        self.nudges = 0
        if not calls:
            if (reason := reply.finish) in BROKEN_OFF:
                yield Notice(BROKEN_OFF[reason], "warning")
            self.stop = ("answered", "")
        elif self.left() <= 0:
            self.stop = self.out_of_time()

    async def execute(self, call: ToolCall) -> AsyncGenerator[Event]:
        """Run one call; what governs the paths it touches travels at the head of its result."""
        yield ToolStarted(call.id, call.name, call.arguments)
        briefed = self.desk.briefed
        targets = tuple(path.text for path in self.desk.toolbox.targets(call.arguments))
        refusal = self.desk.refusal(call.name, targets)
        if refusal is not None:
            for event in self.finish(call, "", refusal, ok=False, summary="refused: locked by a skill"):
                yield event
            return
        if call.name == "proposePatch" and (unread := briefed.unread(targets)) is not None:
            # What counts as delivered must stand in the conversation before anything can end the turn.
            finished = self.answer(call, unread.text, ok=False, summary="instructions come first")
            for event in (*unread.events, finished, FocusMoved(targets[-1])):
                yield event
            return
        try:
            async with asyncio.timeout(max(0.0, self.left())):
                result = await self.desk.toolbox.run(call.name, call.arguments)
        except TimeoutError:
            self.stop = self.out_of_time()
            yield self.answer(call, f"[{self.stop[1]}]", ok=False, summary="stopped: out of time")
            return
        self.proposed = self.proposed or (call.name == "proposePatch" and result.ok)
        announced = await self.desk.announce(*(path.text for path in result.touched))
        # What counts as told from here on must stand in the conversation before anything is awaited.
        delivery = briefed.touch(*(path.text for path in result.touched))
        head = note(self.desk.secret, self.desk.news()) + delivery.text + announced
        text = briefed.guard(result.text)
        facts = self.finish(call, head, text, ok=result.ok, summary=result.summary)
        focus = (FocusMoved(result.touched[-1].text),) if result.touched else ()
        for event in (*delivery.events, *facts, *focus):
            yield event

    def finish(self, call: ToolCall, head: str, text: str, *, ok: bool, summary: str) -> tuple[Event, ...]:
        """Answer a call, and point out when the model goes round in circles."""
        if call.name == "proposePatch" and not ok:
            self.refused += 1
        circle = self.repeats.note(call.name, call.arguments, text, ok=ok)
        hints, self.hints = self.hints, ()
        if circle is not None:
            hints = (*hints, circle.model)
            if circle.end:
                self.stop = ("loop", f"Stopped: {circle.person}.")
        answered = self.answer(call, head + note(self.desk.secret, hints) + text, ok=ok, summary=summary)
        if circle is None or circle.end:
            return (answered,)
        said = f"The model goes round in circles: {circle.person}; it was told."
        return (Notice(said, "warning"), answered)

    def answer(self, call: ToolCall, text: str, *, ok: bool, summary: str) -> ToolFinished:
        self.desk.conversation.append(ToolAnswer(call.id, call.name, text, ok))
        return ToolFinished(call.id, call.name, ok, text, summary)

    def claims(self) -> tuple[str, ...]:
        """What the answers of this turn claim and what is not so."""
        if not any(self.said):
            return ()
        from steward.loop.claims import Facts, claims  # here: its patterns take a while to be made

        facts = Facts(self.desk.ids(), self.proposed, self.spoken_of)
        return claims("\n".join(self.said), facts)

    def unproposed(self, reason: EndReason) -> Notice | None:
        """What to say of an answer that goes with no proposal."""
        if reason != "answered" or self.proposed or "proposePatch" not in self.desk.toolbox.names:
            return None
        return unproposed(self.said[-1], self.refused, texts_given(self.desk.conversation))

    async def in_time(self, stream: AsyncGenerator[Part]) -> AsyncGenerator[Part]:
        """The parts of a reply, as long as there is time for them."""
        while True:
            try:
                async with asyncio.timeout(max(0.0, self.left())):
                    part = await anext(stream)
            except (StopAsyncIteration, TimeoutError):
                return
            yield part

    @property
    def seconds(self) -> float:
        """How long the turn may take."""
        return self.bounds.seconds * (self.bounds.local_factor if self.desk.local() else 1)

    def left(self) -> float:
        """Seconds that are left."""
        return self.began + self.seconds - time.monotonic()

    def out_of_time(self) -> tuple[EndReason, str]:
        return ("budget", f"Stopped after {self.seconds:g} seconds, the limit of one turn.")

    def few_rounds(self, reply: Reply) -> tuple[str, ...]:
        """A word to both sides, once, when a turn goes on and few of its rounds are left."""
        rounds = self.bounds.rounds
        if self.round != math.ceil(SHARE * rounds) or rounds < FEWEST_ROUNDS or not reply.calls:
            return ()
        left = rounds - self.round
        self.hints = (f"You can reply {left} more times in this turn; come to an end.",)
        return (f"{self.round} of {rounds} rounds of this turn are used.",)

    def close(self, sentence: str) -> None:
        """Keep what had arrived of an answer, and leave every call answered."""
        if self.partial:
            self.desk.conversation.append(Assistant(f"{self.partial}\n\n{sentence}"))
            self.partial = ""
        self.desk.conversation.close(sentence)

    def ended(self, reason: EndReason, sentence: str = "") -> TurnEnded:
        return TurnEnded(reason, self.round, self.usage, time.monotonic() - self.began, sentence)
