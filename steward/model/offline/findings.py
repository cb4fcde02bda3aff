"""What the tools told the guide, read back from the text of their results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from steward.conversation import JsonObject

_HEAD = re.compile(r"\A\s*<((?:instructions|steward-note|skill)[\w-]*)\b[^>]*?(?:/>|>.*?</\1>)", re.DOTALL)
_DOCUMENT = re.compile(r'<instructions-\w+\s+path="([^"]+)"\s+scope="([^"]*)"')
_HIT = re.compile(r"^(.+?):(\d+):(.*)$")
_ROW = re.compile(r"^(\d+)\t(.*)$")
_READ = re.compile(r"^(.+?)(?: \(your pending text[^)]*\))?, lines (\d+)-(\d+) of (\d+)")
_ENTRY = re.compile(r"^(\S.*?)(/)?(?: \((?:[\d,]+ bytes?|pending in [^)]*|secret[^)]*)\)| ->.*)*$")
_MADE = re.compile(r"^(?:Proposed|Amended) (change-\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A call of this turn and its result, without what stood at its head."""

    name: str
    arguments: JsonObject
    text: str
    briefed: bool
    """Whether instruction documents stood at its head."""

    @property
    def ok(self) -> bool:
        """Whether the result looks like one; refusals are single sentences."""
        match self.name:
            case "readFile":
                return _READ.search(self.text) is not None
            case "proposePatch":
                return _MADE.search(self.text) is not None
            case "listFiles":
                return re.search(r": [\d,]+ entr(?:y|ies)\b", self.text.partition("\n")[0]) is not None
            case _:
                return re.match(r"[\d,]+ match|No matches", self.text) is not None


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a search found."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """Lines of a file: ``rows`` maps line numbers to text."""

    path: str
    rows: dict[int, str]
    total: int


@dataclass(frozen=True, slots=True)
class Turn:
    """The question and what has been done about it so far."""

    question: str
    steps: tuple[Step, ...]
    rounds: int
    earlier: bool
    """Whether the guide has answered in this conversation before."""
    documents: tuple[tuple[str, str], ...]
    """Instruction documents seen in the conversation: path and scope."""


def turn(messages: list[JsonObject]) -> Turn:
    """The turn that ``messages`` end with."""
    asked = -1
    question = ""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") == "user":
            text = bare(_text(messages[place].get("content")))
            if text.strip():
                asked, question = place, text.strip()
                break
    answers = {
        str(message.get("tool_call_id")): _text(message.get("content"))
        for message in messages[asked + 1 :]
        if message.get("role") == "tool"
    }
    steps: list[Step] = []
    rounds = 0
    for message in messages[asked + 1 :]:
        calls = cast(list[JsonObject], message.get("tool_calls") or [])
        if message.get("role") != "assistant" or not calls:
            continue
        rounds += 1
        for call in calls:
            function = cast(JsonObject, call["function"])
            text = answers.get(str(call.get("id")), "")
            steps.append(
                Step(str(function["name"]), _arguments(function), bare(text), bool(_DOCUMENT.search(text)))
            )
    told = (found for message in messages for found in _DOCUMENT.findall(_text(message.get("content"))))
    earlier = any(message.get("role") == "assistant" for message in messages[: max(asked, 0)])
    return Turn(question, tuple(steps), rounds, earlier, tuple(dict.fromkeys(told)))


def bare(text: str) -> str:
    """The text without the envelopes (instructions, notes) that stand at its head."""
    while (match := _HEAD.match(text)) is not None:
        text = text[match.end() :]
    return text.lstrip("\n") if text[:1] == "\n" else text


def hits(step: Step) -> list[Hit]:
    """The lines that a search found."""
    found = (_HIT.match(row) for row in step.text.split("\n")[1:])
    return [Hit(match[1], int(match[2]), match[3]) for match in found if match is not None]


def searched(step: Step) -> str:
    """How many files a search looked at, in the tool's words."""
    match = re.search(r"Searched ([\d,]+ files?)", step.text)
    return match[1] if match else ""


def entries(step: Step) -> list[tuple[str, bool]]:
    """What a listing holds: path, and whether it is a directory."""
    found = (
        _ENTRY.match(row)
        for row in step.text.split("\n")[1:]
        if not row.startswith(("Left out:", "Directories at"))
    )
    return [(match[1], bool(match[2])) for match in found if match is not None]


def read(step: Step) -> Read | None:
    """The lines that a reading gave."""
    head: re.Match[str] | None = None
    rows: dict[int, str] = {}
    for row in step.text.split("\n"):
        if head is None:
            head = _READ.match(row)
        elif (match := _ROW.match(row)) is not None:
            rows[int(match[1])] = match[2]
    return Read(head[1], rows, int(head[4])) if head is not None else None


def proposed(steps: Iterable[Step]) -> str:
    """The id of the change that these steps made, or an empty string."""
    for step in steps:
        match = _MADE.search(step.text)
        if match is not None:
            return match[1]
    return ""


def _arguments(function: JsonObject) -> JsonObject:
    try:
        value: object = json.loads(function.get("arguments") or "{}")
    except ValueError:
        return {}
    return cast(JsonObject, value) if isinstance(value, dict) else {}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            str(cast(JsonObject, part).get("text", ""))
            for part in cast(list[object], content)
            if isinstance(part, dict)
        )
    return ""
