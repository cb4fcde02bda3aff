"""A conversation as a person reads it: all that was ever said in it, and what the steward told the model apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from steward.conversation import Assistant, Message, System, ToolAnswer, User
from steward.prompts import note_tag
from steward.service.compaction import ACKNOWLEDGED, last_question

FOLDED = "Older tool results were folded here to make room."


def told(stored: Sequence[Message], secret: str) -> tuple[Message, ...]:
    """All messages without those that a compaction carried over, each at the place where it was said.

    What stands for all that went, and the steward's notes at the head of a question, are notes without their tags.
    ``stored`` are the messages of one or more stretches, each of which may begin with a ``System`` message.
    """
    tag = note_tag(secret)
    return tuple(part for message in _once(stored) for part in _parted(message, tag))


def _once(stored: Sequence[Message]) -> Iterator[Message]:
    before: Sequence[Message] = ()
    for stretch in _stretches(stored):
        carried = _carried(before, stretch) if before else 0
        if carried:
            yield stretch[0] if _is_summary(stretch) else User(FOLDED, note=True)
        yield from stretch[carried:]
        before = stretch


def _stretches(stored: Sequence[Message]) -> Iterator[Sequence[Message]]:
    begin = 0
    for number, message in enumerate(stored):
        if isinstance(message, System):
            if number > begin:
                yield stored[begin:number]
            begin = number + 1
    if begin < len(stored):
        yield stored[begin:]


def _is_summary(stretch: Sequence[Message]) -> bool:
    match stretch[:2]:
        case [User(_, True), Assistant(text)]:
            return text == ACKNOWLEDGED
        case _:
            return False


def _carried(before: Sequence[Message], stretch: Sequence[Message]) -> int:
    """How many messages at the beginning of a stretch stand for the one before it."""
    same = len(before)
    if len(stretch) >= same and all(map(_alike, before[1:], stretch[1:])) and _kind(before[0], stretch[0]):
        return same
    if not _is_summary(stretch):
        return 0
    begin = last_question(before)
    return 2 + (len(before) - begin if begin is not None else 0)


def _kind(one: Message, other: Message) -> bool:
    return type(one) is type(other) and getattr(one, "note", None) == getattr(other, "note", None)


def _alike(one: Message, other: Message) -> bool:
    """Whether the second may be the first with its result folded or its instructions taken out."""
    match one, other:
        case ToolAnswer(call, _, _, _), ToolAnswer(again, _, _, _):
            return call == again
        case _:
            return one == other


def _parted(message: Message, tag: str) -> Iterator[Message]:
    if not isinstance(message, User) or tag not in message.text:
        yield message
        return
    head = re.match(rf"<{tag}>\n(.*?)\n</{tag}>\n*", message.text, re.DOTALL)
    if head is None:
        yield message
        return
    rest = message.text[head.end() :]
    if message.note:
        yield User("\n\n".join(filter(None, (head[1], rest))), note=True)
        return
    yield User(head[1], note=True)
    if rest:
        yield User(rest)
