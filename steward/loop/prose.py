"""The plain sentences of an answer in Markdown: without code, quotations and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE = "·"
"""What stands for a piece of code in a sentence."""

SEARCH = "searchtool"
"""What stands for the name of one of the model's own tools."""

LONGEST = 2_000
"""Characters of a line that is looked at; nobody writes a longer one by hand."""

ID = re.compile(r"(?<![\w./-])change-(\d{1,6})(?![\w-]|\.\w)", re.IGNORECASE)
"""The id of a change, and not a file that is named like one."""

_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_BEGINS = re.compile(r"[-*+#|]|\d+[.)]\s|[^\w\s`\"'“«(*_]")
_SAID = re.compile(r"\"[^\"]{0,300}\"|“[^”]{0,300}”|«[^»]{0,300}»")
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")
_MARKS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)")
_LEADING = re.compile(r"^(?:[^\w·(]+|\d+[.)]\s+)+")
_ENDS = re.compile(r"(?<=[.!?])\s+|;\s+")
_TOOLS = ("searchfiles", "listfiles", "readfile", "proposepatch", "skill")


def ids(text: str) -> frozenset[str]:
    """The changes that a text names, each id written in full."""
    if "change-" not in text.lower():
        return frozenset()
    return frozenset(f"change-{int(match[1]):03d}" for match in ID.finditer(text))


def sentences(answer: str) -> tuple[str, ...]:
    """The sentences outside code blocks and quotations; inline code and quoted words are one sign each."""
    return tuple(sentence for paragraph in _paragraphs(answer) for sentence in _split(paragraph))


def _paragraphs(answer: str) -> Iterator[str]:
    """Lines that belong together, as one; a heading, an entry of a list and what follows a colon begin anew."""
    paragraph = ""
    for line in _lines(answer):
        if not line or _BEGINS.match(line) or paragraph.endswith(":") or len(paragraph) > LONGEST:
            yield paragraph
            paragraph = line
        else:
            paragraph = f"{paragraph} {line}"
    yield paragraph


def _lines(answer: str) -> Iterator[str]:
    fence = ""
    for line in answer.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and not line.lstrip().startswith(">"):
            yield line.strip() if len(line) <= LONGEST else ""


def _split(line: str) -> Iterator[str]:
    text = _CODE.sub(_code, line.replace("’", "'"))
    text = _MARKS.sub("", _SAID.sub("…", text))
    for piece in _ENDS.split(text):
        sentence = _LEADING.sub("", piece.strip())
        if sentence:
            yield sentence


def _code(match: re.Match[str]) -> str:
    inside = match[2].strip()
    if ID.fullmatch(inside):
        return inside
    if inside.lower().startswith(_TOOLS):
        return SEARCH
    return " ".join((CODE, *(found[0] for found in ID.finditer(inside))))
