"""A stored session as a script that asks the same again, and as a page to read; keys are taken out of both."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from steward.conversation import (
    Assistant,
    JsonObject,
    Message,
    System,
    ToolAnswer,
    ToolCall,
    User,
    clean,
    to_openai,
)
from steward.loop.turn import EMPTY
from steward.model.again import arguments_for, finish_for
from steward.model.secret_values import secrets_in
from steward.prompts import note_tag
from steward.prompts.briefing import Briefing
from steward.service import by_hand
from steward.service.beginning import beginning
from steward.service.earlier import Earlier, earlier
from steward.service.earlier import written as changes_written
from steward.service.house import House
from steward.service.tree import Piece, without, written
from steward.storage import SessionRow
from steward.tools.redact import redacted

Form = Literal["script", "markdown"]
HEADER = "# steward session "
FILE = "# steward file "
CHANGE = "# steward change "
_SHORTEST_SECRET = 8
_SHORT = 12
"""Hex digits that tell one message from another; whole requests are told apart by all 64."""
_CLOSING = re.compile(
    r"(.*?)(?:^|\n\n)\[(Interrupted by the person\.|The model could not answer\.|Stopped\b[^\]]*)\]\Z",
    re.DOTALL,
)
_FAILED = "The model could not answer."
# What the loop itself puts at the head of a result; it does so again when the session is replayed.
_OWN_HINTS = re.compile(
    r"This call has given this same result|\d+ times in a row calls came without"
    r"|The same two calls were made|You can reply \d+ more"
)
_RESULT_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Recorded:
    """A stored session and what its replay must know of its workspace."""

    row: SessionRow
    messages: tuple[Message, ...]
    """All of them, also those before a compaction."""
    workspace: str
    identity: str
    """What the stamps of its changes are made over."""
    secret: str
    instructions_tag: str
    first_change: int
    """The number that the first change of the session has, or would have had."""
    rounds: int
    refresh: str
    settings_secrets: tuple[str, ...] = ()
    """Keys in the person's settings."""
    trusted: bool = True
    """Whether texts of the repository may steer the model."""
    files: Iterable[Piece] | None = None
    """The workspace as it was when the session began, for a script that stands alone."""
    earlier: Earlier = field(default_factory=Earlier)
    """The changes that were pending then; their texts are only in such a script."""


def exported(house: House, session: str | None, form: Form = "script", *, files: bool = False) -> str:
    """A stored session, named by its id or a beginning of it (the latest for ``None``), as a script or a page.

    With ``files`` the script holds the files of the workspace too, as they were when the session began. Blocks. Raises
    ``NoSuchThing``, ``UsageError`` when several begin so, and ``ConfigError`` when the files are too many.
    """
    row, messages = house.sessions.load(house.sessions.find(session).id, everything=True)
    changes = house.changes.store.everything()
    own = [number_of(p.id) for p in changes if p.session == row.id]
    last = max((number_of(p.id) for p in changes), default=0)
    settings = house.settings
    recorded = Recorded(
        row=row,
        messages=messages,
        workspace=house.workspace.name,
        identity=house.workspace.identity,
        secret=house.secret,
        instructions_tag=Briefing(house.resolver, house.secret).tag,
        first_change=min(own, default=last + 1),
        rounds=settings.limits.rounds,
        refresh=settings.instructions.refresh,
        settings_secrets=tuple(secrets_in(settings.options)),
        trusted=house.trust.trusted,
        files=beginning(house, row) if files else None,
        earlier=earlier(house, row),
    )
    return script(recorded) if form == "script" else page(recorded)


def number_of(change: str) -> int:
    """The number in a change's id."""
    return int(change.rpartition("-")[2])


def script(recorded: Recorded) -> str:
    """The session as JSON Lines: a header as a comment, then one line for each reply of the model.

    ``script/FILE`` replays the replies; ``replay`` asks the questions too and compares what the model is sent. A
    session that was compacted is told up to that point.
    """
    cleaner = _Cleaner(recorded.settings_secrets)
    messages = _first_stretch(recorded.messages)
    entries = list(_entries(recorded, messages, cleaner))
    header = {
        "version": 1,
        "session": recorded.row.id,
        "title": cleaner.text(recorded.row.title),
        "model": recorded.row.model,
        "workspace": recorded.workspace,
        "identity": recorded.identity,
        "first_change": recorded.first_change,
        "rounds": recorded.rounds,
        "refresh": recorded.refresh,
        "complete": len(messages) == len(recorded.messages),
        "redacted": cleaner.found,
        "trusted": recorded.trusted,
        "manner": recorded.row.state.get("manner", {}),
        "pending": [one.id for one in recorded.earlier.changes],
        "lost": list(recorded.earlier.lost),
    }
    held: list[str] = []
    if recorded.files is not None:
        # What is redacted here is not shown to a model either, so that it makes no request another.
        own = _Cleaner(recorded.settings_secrets)
        held = list(written(FILE, (without(piece, own.text) for piece in recorded.files)))
        header["files"] = len(held)
        held += changes_written(CHANGE, recorded.earlier.changes, own.text)
    return "\n".join([HEADER + _line(header), *held, *map(_line, entries)]) + "\n"


def _line(shape: JsonObject) -> str:
    """The JSON text, as it reads; in escapes where it could not be written to a file otherwise."""
    text = json.dumps(shape, ensure_ascii=False)
    return text if text.isascii() or clean(text) == text else json.dumps(shape)


def digest(wire: str, secret: str, instructions_tag: str) -> str:
    """What stands for a request in an export: the same for every workspace that holds the same files."""
    return hashlib.sha256(_without_tags(wire, secret, instructions_tag)).hexdigest()


def short_digest(message: Message, secret: str, instructions_tag: str) -> str:
    """What stands for one message there."""
    return digest(_wire(message), secret, instructions_tag)[:_SHORT]


def page(recorded: Recorded) -> str:
    """The session as Markdown, for people: questions, answers, and each call with a word on what it gave.

    Hidden characters in it are as they came: it is to be passed through ``visible``.
    """
    cleaner = _Cleaner(recorded.settings_secrets)
    row = recorded.row
    lines = [
        f"# {cleaner.text(row.title) or 'A session'}",
        "",
        f"Session {row.id} in {recorded.workspace}, begun {row.created}, with {row.model}.",
    ]
    answers = {m.call_id: m for m in recorded.messages if isinstance(m, ToolAnswer)}
    for message in recorded.messages:
        match message:
            case User(text, note=False):
                told, question = _parted(text, recorded.secret)
                lines += [
                    "",
                    "## Question",
                    "",
                    *(f"> {line}".rstrip() for line in cleaner.text(question).split("\n")),
                ]
                told, skills = by_hand.split(told)
                for sentence in filter(
                    None, (told, *(f"The skill {name} was loaded by hand." for name in skills))
                ):
                    lines += ["", f"*Told with it: {' '.join(cleaner.text(sentence).split())}*"]
            case Assistant(text, calls):
                lines += ["", cleaner.text(text)] if text else []
                lines += [""] if calls else []
                for call in calls:
                    given = answers.get(call.id)
                    lines.append(
                        f"- {call.name} `{_short(cleaner.text(call.arguments))}`: {_outcome(given, cleaner)}"
                    )
            case User() | ToolAnswer():
                pass
            case System():
                if message is not recorded.messages[0]:
                    lines += ["", "*The conversation was compacted here.*"]
    return clean("\n".join(lines)) + "\n"


def _outcome(answer: ToolAnswer | None, cleaner: _Cleaner) -> str:
    if answer is None:
        return "no result"
    if answer.ok:
        return f"{len(answer.text)} characters"
    return f"refused: {_short(cleaner.text(answer.text))}"


def _short(text: str) -> str:
    line = " ".join(text.split()).replace("`", "'")
    return line if len(line) <= _RESULT_SHOWN else line[: _RESULT_SHOWN - 1] + "…"


def _first_stretch(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages before the conversation was compacted, each stretch of which begins with a system message."""
    ends = (n for n, message in enumerate(messages) if n and isinstance(message, System))
    return tuple(messages[: next(ends, len(messages))])


def _entries(recorded: Recorded, messages: Sequence[Message], cleaner: _Cleaner) -> Iterator[JsonObject]:
    """One script entry for each reply, and for each turn that ended before there was one."""
    digests = _Digests(recorded)
    asked: JsonObject = {}
    position = 0
    while position < len(messages):
        message = messages[position]
        match message:
            case System() | ToolAnswer():
                digests.add(message)
            case User(text, note):
                if not note:
                    told, question = _parted(text, recorded.secret)
                    asked = {"question": cleaner.text(question)} | (
                        {"told": cleaner.text(told)} if told else {}
                    )
                digests.add(message)
            case Assistant():
                request = "" if cleaner.found or recorded.refresh == "replace" else digests.so_far()
                sent = {"request": request, "sent": digests.new()}
                entry, used = _entry(messages, position, recorded.secret, cleaner)
                for one in messages[position : position + used]:
                    digests.add(one)
                yield asked | entry | (sent if request and not cleaner.found else {})
                asked = {}
                position += used - 1
        position += 1
    if asked:
        yield asked | {"stopped": {"sentence": "Interrupted by the person.", "at": 0}}


def _entry(
    messages: Sequence[Message], position: int, secret: str, cleaner: _Cleaner
) -> tuple[JsonObject, int]:
    """The reply at ``position`` and how many messages tell of it."""
    reply = cast(Assistant, messages[position])
    after = position + 1
    while after < len(messages) and isinstance(messages[after], ToolAnswer):
        after += 1
    answers = {m.call_id: m for m in messages[position + 1 : after] if isinstance(m, ToolAnswer)}
    following = messages[after] if after < len(messages) else None
    entry: JsonObject = {"reasoning": cleaner.text(reply.reasoning)} if reply.reasoning else {}
    if not reply.calls and (closing := _CLOSING.match(reply.text)) is not None:
        return entry | _broken_off(closing, cleaner), 1
    entry["text"] = "" if reply.text == EMPTY and not reply.calls else cleaner.text(reply.text)
    if reply.calls:
        entry |= _called(reply.calls, answers, secret, cleaner)
        if (stopped := _stopped(reply.calls, answers, following)) is not None:
            return entry | {"stopped": stopped}, after - position + 1
    elif isinstance(following, User) and following.note and (finish := finish_for(following.text)):
        entry["finish"] = finish
    return entry, after - position


def _broken_off(closing: re.Match[str], cleaner: _Cleaner) -> JsonObject:
    """What had come of an answer when the turn was broken off, or failed."""
    entry: JsonObject = {"text": cleaner.text(closing[1]), "stopped": {"sentence": closing[2], "at": 0}}
    if closing[2] == _FAILED:
        entry["error"] = {"kind": "bad-request", "message": _FAILED, "after": bool(closing[1])}
    return entry


def _called(
    calls: Sequence[ToolCall], answers: Mapping[str, ToolAnswer], secret: str, cleaner: _Cleaner
) -> JsonObject:
    """The calls of a reply, and what the person did while they ran, by the number of the call."""
    made = [
        {
            "id": c.id,
            "name": c.name,
            "arguments": cleaner.arguments(_sent(c.name, c.arguments, answers.get(c.id))),
        }
        for c in calls
    ]
    acts = {
        str(n): cleaner.text(told)
        for n, call in enumerate(calls, 1)
        if call.id in answers and (told := _news(answers[call.id].text, secret))
    }
    return {"calls": made, "acts": acts} if acts else {"calls": made}


def _stopped(
    calls: Sequence[ToolCall], answers: Mapping[str, ToolAnswer], following: Message | None
) -> JsonObject | None:
    """Why a turn was broken off while its calls ran, and at which of them; ``None`` when it was not."""
    if not isinstance(following, Assistant) or following.calls:
        return None
    closing = _CLOSING.fullmatch(following.text)
    if closing is None or closing[1]:
        return None
    for n, call in enumerate(calls, 1):
        if call.id in answers and answers[call.id].text == f"[{closing[2]}]":
            return {"sentence": closing[2], "at": n}
    return None


def _sent(name: str, arguments: str, answer: ToolAnswer | None) -> str:
    """The arguments as the model may have sent them: those that could not be run are not in the history."""
    if answer is None or answer.ok or arguments != "{}":
        return arguments
    return arguments_for(name, answer.text) or arguments


def _parted(text: str, secret: str) -> tuple[str, str]:
    """What the steward put at the head of a text, without its envelope, and the rest."""
    tag = note_tag(secret)
    match = re.match(rf"<{tag}>\n(.*?)\n</{tag}>\n\n", text, re.DOTALL)
    return (match[1], text[match.end() :]) if match is not None else ("", text)


def _news(text: str, secret: str) -> str:
    told, _ = _parted(text, secret)
    return "\n".join(line for line in told.split("\n") if not _OWN_HINTS.match(line))


def _wire(message: Message) -> str:
    return json.dumps(to_openai(message), ensure_ascii=False, separators=(",", ":"))


def _without_tags(text: str, secret: str, instructions_tag: str) -> bytes:
    text = text.replace(note_tag(secret), "steward-note").replace(instructions_tag, "instructions")
    return text.encode("utf-8", "surrogatepass")


class _Digests:
    """The digest of the request that each message would be the next of."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._hash = hashlib.sha256(b"[")
        self._empty = True
        self._new: list[str] = []

    def add(self, message: Message) -> None:
        """One more message."""
        recorded = self._recorded
        line = _without_tags(_wire(message), recorded.secret, recorded.instructions_tag)
        self._hash.update(b"" if self._empty else b",")
        self._hash.update(line)
        self._empty = False
        self._new.append(hashlib.sha256(line).hexdigest()[:_SHORT])

    def new(self) -> list[str]:
        """The short digests of the messages since this was last asked."""
        new, self._new = self._new, []
        return new

    def so_far(self) -> str:
        """The digest of a request that ends here."""
        whole = self._hash.copy()
        whole.update(b"]")
        return whole.hexdigest()


class _Cleaner:
    """Takes keys out of text, and remembers whether there was any."""

    def __init__(self, more: Sequence[str]) -> None:
        values = {*secrets_in(os.environ), *more}
        self._values = sorted((v for v in values if len(v) >= _SHORTEST_SECRET), key=len, reverse=True)
        self.found = False

    def text(self, text: str) -> str:
        """The text without keys."""
        without = text
        for value in self._values:
            without = without.replace(value, "[redacted key]")
        without = redacted(without)
        self.found = self.found or without != text
        return without

    def arguments(self, text: str) -> str:
        """The JSON text of a call's arguments without keys; text without any stays as it is."""
        try:
            shape: object = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        without = _mapped(shape, self.text)
        return text if without == shape else json.dumps(without, ensure_ascii=False)


def _mapped(value: object, by: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return by(value)
    if isinstance(value, list):
        return [_mapped(item, by) for item in cast(list[object], value)]
    if isinstance(value, dict):
        return {key: _mapped(inner, by) for key, inner in cast(JsonObject, value).items()}
    return value
