"""Keeps a conversation within its model's window: folds older results first, then has it summarised."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, assert_never

from steward.conversation import Assistant, Conversation, Message, System, User
from steward.errors import ModelError, NothingYet, StewardError
from steward.events import Event, Notice, Retrying
from steward.loop.turn import CHARACTERS_PER_TOKEN
from steward.model.choices import GUIDE
from steward.model.request import (
    CallPart,
    ModelRequest,
    ReasoningPart,
    Reply,
    RetryNotice,
    TextPart,
    WorkerNotice,
)
from steward.service import compaction

if TYPE_CHECKING:
    from steward.model.gateway import Gateway
    from steward.service.talk import Talk

KEPT_RESULTS = (4, 2)
"""How many of the last results are not folded: so many when that makes enough room, else so many."""

ENOUGH = 0.75
"""Of the share at which room is made: folding alone does when it comes down to that."""

WORTH = 0.2
"""Of the whole that folding must save when nobody knows the window."""

LONGEST = 0.85
"""Of the conversation's characters that a summary may have which nobody reads before it is taken."""

AGAIN = 0.1
"""Of the window that must have been filled anew before room is made once more."""

UNKNOWN_ROOM = 200_000
"""Characters given to the one who summarises when the window is not known."""


class Fitting:
    """Makes room in one conversation. The messages that go stay in the stored session."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._floor = 0
        self._gave_up = False

    def new_turn(self) -> None:
        """What failed in the last turn may be tried again."""
        self._gave_up = False

    async def room(self, gateway: Gateway, overflow: bool) -> AsyncGenerator[Event]:
        """Before a round: make room when the set share is reached, or (``overflow``) the server said it is full.

        Nothing happens while a call waits for its result. What is done is told; nothing is told when nothing was.
        """
        talk = self._talk
        total, window = talk.context().total, talk.window
        if talk.conversation.open_calls() or (not overflow and not self._due(total, window)):
            return
        folded = self._fold(total, window)
        saved = int(folded.saved / CHARACTERS_PER_TOKEN)
        if folded.count and self._enough(saved, total, window):
            await self._replace(folded.messages)
            yield self._folded(folded, saved)
            return
        summary = ""
        try:
            async with aclosing(self._summarised(gateway)) as parts:
                async for part in parts:
                    if isinstance(part, str):
                        summary = part
                    else:
                        yield part
            if len(summary) >= LONGEST * talk.conversation.characters():
                raise ModelError("protocol", "The model's summary is hardly shorter than the conversation.")
            went = await self.accept(summary)
        except StewardError as error:
            self._gave_up = True
            yield Notice(f"The conversation could not be summarised, so all of it stays. {error}", "warning")
            if folded.count:
                await self._replace(folded.messages)
                yield self._folded(folded, saved)
            return
        yield Notice(f"The conversation was compacted by itself, at {total:,} tokens. {went}", "warning")

    async def summary(self, gateway: Gateway, tell: Callable[[Event], None]) -> str:
        """A summary by the model, for a person to read and edit; nothing is changed by it. Raises ``ModelError``.

        ``tell`` hears when the model must be asked again.
        """
        summary = ""
        async with aclosing(self._summarised(gateway)) as parts:
            async for part in parts:
                if isinstance(part, str):
                    summary = part
                else:
                    tell(part)
        return summary

    async def _summarised(self, gateway: Gateway) -> AsyncGenerator[Event | str]:
        """The summary as text, at last; before it whatever a person should know of how it was asked for."""
        talk = self._talk
        if compaction.last_question(talk.messages) is None:
            raise NothingYet("conversation", "There is nothing to compact yet: no question was asked.")
        if talk.model == GUIDE:
            raise ModelError(
                "refused",
                "The offline guide is no language model and cannot summarise; choose one with /model, or begin an "
                "empty conversation with /new.",
            )
        room = int(0.6 * talk.window * CHARACTERS_PER_TOKEN) if talk.window else UNKNOWN_ROOM
        asked = Conversation()
        asked.append(System(compaction.summary_system()))
        text = compaction.question_to_summarise(
            talk.messages, talk.briefing.stripped, talk.house.secret, room
        )
        asked.append(User(text))
        request = ModelRequest(talk.model, asked.wire(), (), dict(talk.house.settings.options))
        reply: Reply | None = None
        async with aclosing(gateway.stream(request)) as parts:
            async for part in parts:
                match part:
                    case Reply():
                        reply = part
                    case RetryNotice(attempt, seconds, reason):
                        yield Retrying(attempt, seconds, reason)
                    case WorkerNotice(sentence):
                        yield Notice(sentence, "warning")
                    case TextPart() | ReasoningPart() | CallPart():
                        pass
                    case _:
                        assert_never(part)
        if reply is not None:
            talk.spent(reply.usage)
        if reply is None or not reply.text.strip():
            raise ModelError("protocol", "The model gave no summary.")
        yield reply.text.strip()

    async def accept(self, summary: str) -> str:
        """Let the conversation go on from this summary; gives a sentence on what went.

        Raises ``StorageError`` when the conversation cannot be kept first.
        """
        talk = self._talk
        messages, tokens = len(talk.messages), talk.context().total
        await asyncio.to_thread(talk.save)
        secret, strip = talk.house.secret, talk.briefing.stripped
        begin = compaction.last_question(talk.messages)
        if begin is None:
            raise NothingYet("conversation", "There is nothing to compact yet: no question was asked.")
        kept = compaction.tail(talk.messages, strip, secret)
        words = (*talk.words, *compaction.words_of(talk.messages[:begin], secret))
        message = await self._carried(summary, words, kept)
        await self._replace((message, Assistant(compaction.ACKNOWLEDGED), *kept))
        talk.words, talk.summary = words, summary
        return (
            f"{messages - 1} messages of about {tokens:,} tokens went; {talk.context().total:,} tokens go on: the "
            "summary, your own words, the last turn and pending changes. All of it is kept in the stored session, and "
            "the prompt cache begins anew."
        )

    async def revise(self, summary: str) -> None:
        """Put other words in the place of the summary that the conversation goes on from; the rest stays."""
        talk = self._talk
        if not talk.summary:
            raise NothingYet("summary", "This conversation was not compacted, so it has no summary.")
        secret, strip = talk.house.secret, talk.briefing.stripped
        rest = compaction.fold(talk.messages[2:], len(talk.messages), strip, secret)
        message = await self._carried(summary, talk.words, rest.messages)
        await self._replace((message, *rest.messages))
        talk.summary = summary

    async def _carried(self, summary: str, words: tuple[str, ...], kept: tuple[Message, ...]) -> User:
        talk = self._talk
        pending = await asyncio.to_thread(talk.house.changes.store.pending)
        skills = talk.cleaned(await talk.skill.carried(m.text for m in kept))
        return compaction.carried(summary, words, pending, skills, talk.house.secret, talk.briefing.guard)

    def reread(self) -> None:
        """Give the instructions as they are now in place of those the conversation began with."""
        talk = self._talk
        plain = compaction.fold(talk.messages, len(talk.messages), talk.briefing.stripped, talk.house.secret)
        talk.briefing.forget_delivered()
        talk.replace((talk.opening(), *(m for m in plain.messages if not isinstance(m, System))))

    def _fold(self, total: int, window: int | None) -> compaction.Folded:
        talk = self._talk
        strip, secret = talk.briefing.stripped, talk.house.secret
        tries = [compaction.fold(talk.messages, keep, strip, secret) for keep in KEPT_RESULTS]
        good = (t for t in tries if self._enough(int(t.saved / CHARACTERS_PER_TOKEN), total, window))
        return next(good, tries[-1])

    def _enough(self, saved: int, total: int, window: int | None) -> bool:
        if not window:
            return saved >= WORTH * total
        return total - saved <= ENOUGH * window * self._talk.house.settings.context.compact_at

    def _due(self, total: int, window: int | None) -> bool:
        if not window or self._gave_up:
            return False
        share = self._talk.house.settings.context.compact_at
        return total >= share * window and total >= self._floor + AGAIN * window

    async def _replace(self, messages: tuple[Message, ...]) -> None:
        """Go on with these messages, under a new system message with what governs the focus now."""
        talk = self._talk
        await asyncio.to_thread(talk.save)
        # Nothing is awaited from here on, so that no interruption finds it half done.
        talk.briefing.forget_delivered()
        talk.replace((talk.opening(), *(m for m in messages if not isinstance(m, System))))
        self._floor = talk.context().total

    def _folded(self, folded: compaction.Folded, saved: int) -> Notice:
        results = "1 older tool result" if folded.count == 1 else f"{folded.count} older tool results"
        return Notice(
            f"{results} (about {saved} tokens) made room: they are kept in the stored session, the model can ask "
            "for them again, and the prompt cache begins anew.",
            "warning",
        )
