"""What a conversation becomes when it must be made smaller: older results folded, or all of it told in short."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources

from steward.conversation import Assistant, Message, System, ToolAnswer, ToolCall, User
from steward.prompts import note, note_tag
from steward.proposals import Proposal

FOLDABLE = frozenset({"listFiles", "searchFiles", "readFile"})
"""Tools whose results can be had again by calling them again."""

SHORTEST = 400
"""Characters of a result that is worth folding."""

ARGUMENTS = 300
"""Characters of a call's arguments that the line in place of its result repeats."""

WORDS = 4_000
"""Characters of one message of the person that are carried word for word."""

ALL_WORDS = 40_000
"""Characters of all their messages; above that the oldest but the first give way."""

RESULT = 1_500
"""Characters of one tool result that the one who summarises is given."""

TAIL_SHARE = 0.25
"""Of the whole conversation: a last turn no longer than that is kept as it is."""

ACKNOWLEDGED = "I have read the summary and go on from there."

Strip = Callable[[str], str]
"""Takes the instruction documents out of a text."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Messages with older results folded: how many, and how many characters that saved."""

    messages: tuple[Message, ...]
    count: int
    saved: int


def fold(messages: Sequence[Message], keep: int, strip: Strip, secret: str) -> Folded:
    """Put one line in the place of each long result but the last ``keep``; notes of the steward stay.

    Instruction documents that travelled with results go everywhere: they are to be delivered again.
    """
    calls = {
        call.id: call for message in messages if isinstance(message, Assistant) for call in message.calls
    }
    answers = [n for n, message in enumerate(messages) if isinstance(message, ToolAnswer)]
    kept = frozenset(answers[len(answers) - keep :] if keep else ())
    made: list[Message] = []
    count = 0
    for number, message in enumerate(messages):
        if not isinstance(message, ToolAnswer):
            made.append(message)
            continue
        text = strip(message.text)
        if number not in kept and message.name in FOLDABLE and message.ok and len(text) > SHORTEST:
            text = _notes(text, secret) + _folded_line(message, calls.get(message.call_id), len(text))
            count += 1
        made.append(replace(message, text=text))
    return Folded(tuple(made), count, _size(messages) - _size(made))


def _folded_line(answer: ToolAnswer, call: ToolCall | None, characters: int) -> str:
    arguments = call.arguments if call is not None and len(call.arguments) <= ARGUMENTS else ""
    again = f"call {answer.name} again with {arguments}" if arguments else f"call {answer.name} again"
    return f"[This result of {characters} characters was folded to make room; {again} to have it back.]"


def _notes(text: str, secret: str) -> str:
    tag = note_tag(secret)
    return "".join(re.findall(rf"<{tag}>\n.*?\n</{tag}>\n*", text, re.DOTALL))


def last_question(messages: Sequence[Message]) -> int | None:
    """Where the last question of the person stands; ``None`` when there is none."""
    found = [n for n, message in enumerate(messages) if isinstance(message, User) and not message.note]
    return found[-1] if found else None


def tail(messages: Sequence[Message], strip: Strip, secret: str) -> tuple[Message, ...]:
    """The last turn as it is carried over: whole when it is short, else with its results folded but the last."""
    begin = last_question(messages)
    if begin is None:
        return ()
    last = messages[begin:]
    keep = len(last) if _size(last) <= TAIL_SHARE * _size(messages) else 1
    return fold(last, keep, strip, secret).messages


def words_of(messages: Iterable[Message], secret: str) -> tuple[str, ...]:
    """What the person said, word for word, without what the steward put at its head."""
    found: list[str] = []
    for message in messages:
        if isinstance(message, User) and not message.note:
            text = without_notes(message.text, secret)
            cut = f" [cut after {WORDS} of {len(text)} characters]" if len(text) > WORDS else ""
            found.append(text[:WORDS] + cut)
    return tuple(found)


def without_notes(text: str, secret: str) -> str:
    """``text`` without the steward's notes in it."""
    tag = note_tag(secret)
    return re.sub(rf"<{tag}>\n.*?\n</{tag}>\n*", "", text, flags=re.DOTALL)


def bounded(words: Sequence[str]) -> tuple[str, ...]:
    """As many of the person's messages as may be carried: the first and the latest."""
    room = ALL_WORDS - sum(map(len, words[:1]))
    latest: list[str] = []
    for text in reversed(words[1:]):
        room -= len(text)
        if room < 0:
            break
        latest.append(text)
    left_out = len(words) - 1 - len(latest)
    between = (f"[{left_out} more messages, kept in the stored session]",) if left_out > 0 else ()
    return (*words[:1], *between, *reversed(latest))


def question_to_summarise(messages: Sequence[Message], strip: Strip, secret: str, room: int) -> str:
    """The conversation as one text of at most about ``room`` characters; what is left out is said in it."""
    pieces = [_piece(message, strip, secret) for message in messages if not isinstance(message, System)]
    text = "\n\n".join(pieces)
    if len(text) > room:
        half = room // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]}\n\n[{left_out} characters in the middle are left out]\n\n{text[-half:]}"
    return f"Summarise this conversation.\n\n{text}\n\nNow write the summary."


def _piece(message: Message, strip: Strip, secret: str) -> str:
    match message:
        case User(text, is_note):
            return f"## {'The steward' if is_note else 'The person'}\n{without_notes(text, secret) or text}"
        case Assistant(text, calls):
            made = [f"(calls {call.name} with {call.arguments[:ARGUMENTS]})" for call in calls]
            return "\n".join(["## The agent", *([text] if text else ()), *made])
        case ToolAnswer(_, name, text):
            plain = strip(text)
            cut = f"\n[{len(plain) - RESULT} more characters]" if len(plain) > RESULT else ""
            return f"## Result of {name}\n{plain[:RESULT]}{cut}"
        case System():
            return ""


def summary_system() -> str:
    """What the one who summarises is told."""
    return resources.files("steward.prompts").joinpath("summary.md").read_text("utf-8").strip()


def carried(
    summary: str, words: Sequence[str], pending: Sequence[Proposal], skills: str, secret: str, guard: Strip
) -> User:
    """The message that stands for all that went: summary, the person's words, pending changes, skills."""
    tag = note_tag(secret)
    parts = [
        note(
            secret,
            (
                "The conversation so far was compacted to make room. Below stand a summary of it, what the person "
                "said word for word, and what is pending. Files were read before, but their text is gone: read again "
                "what you quote or change. Instruction documents are delivered again by themselves.",
            ),
        ).rstrip(),
        f"# Summary\n\n{_without_tag(guard(summary), tag).strip()}",
    ]
    if words:
        said = "\n\n".join(f"{n}. {_without_tag(text, tag)}" for n, text in enumerate(bounded(words), 1))
        parts.append(f"# What the person said\n\n{said}")
    if pending:
        rows = "\n".join(
            f"- {p.id} “{p.title}”: " + ", ".join(f"{f.action} {f.path}" for f in p.files) for p in pending
        )
        parts.append(f"# Changes that wait for the person\n\n{_without_tag(guard(rows), tag)}")
    if skills:
        parts.append(f"# Skills that are loaded\n\n{_without_tag(guard(skills), tag)}")
    return User("\n\n".join(parts), note=True)


def _without_tag(text: str, tag: str) -> str:
    return text.replace(tag, "steward-note-[tag removed]")


def _size(messages: Iterable[Message]) -> int:
    return sum(
        len(m.text) + sum(len(c.arguments) for c in (m.calls if isinstance(m, Assistant) else ()))
        for m in messages
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the person, from which a session can be forked."""

    number: int
    text: str
    begin: int
    """Where the stretch of the conversation that it stands in begins among all stored messages."""
    position: int


def questions(messages: Sequence[Message], secret: str) -> tuple[Asked, ...]:
    """Every question among all stored messages; one that was carried over a compaction counts where it was asked."""
    found: list[Asked] = []
    begin = 0
    stretch: list[str] = []
    before: list[str] = []
    skip = 0
    for position, message in enumerate(messages):
        if isinstance(message, System):
            before, stretch, begin = stretch, [], position
            skip = _carried_over(before, messages[position:])
        elif isinstance(message, User) and not message.note:
            stretch.append(message.text)
            if len(stretch) > skip:
                text = without_notes(message.text, secret)
                found.append(Asked(len(found) + 1, text, begin, position))
    return tuple(found)


def _carried_over(before: Sequence[str], rest: Sequence[Message]) -> int:
    """How many of the questions of the stretch that ``rest`` begins with are the last ones before it."""
    here: list[str] = []
    for message in rest[1:]:
        if isinstance(message, System):
            break
        if isinstance(message, User) and not message.note:
            here.append(message.text)
    for length in range(min(len(before), len(here)), 0, -1):
        if list(before[len(before) - length :]) == here[:length]:
            return length
    return 0
