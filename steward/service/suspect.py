"""What a person may overlook in a text that is about to steer a model: hidden characters, padding, odd wishes."""

from __future__ import annotations

import re

from steward.visible import hidden

_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_PADDING = re.compile(r"[ \t]{120,}|(?:[ \t\r]*\n){30,}")
_LONG_LINE = 2_000
_STEERING = (
    ("speaks of approving or applying changes", re.compile(
        r"\b(?:auto[- ]?)?(?:approv|apply|appli|accept|confirm)\w*\b[^.\n]{0,60}"
        r"\b(?:change|diff|patch|proposal|edit|request|automatic|without|yourself|for the (?:user|person))"
        r"|\b(?:apply-change|--stamp|--yes|yolo)\b", re.IGNORECASE)),
    ("asks that review or confirmation be passed over", re.compile(
        r"\b(?:skip|bypass|ignore|without|no need (?:for|to)|disable|avoid)\b[^.\n]{0,40}"
        r"\b(?:review|confirm\w*|approv\w*|permission|asking|the (?:user|person))", re.IGNORECASE)),
    ("asks that other instructions be ignored", re.compile(
        r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|all|other|system)\b"
        r"[^.\n]{0,30}\b(?:instruction|rule|prompt|message)", re.IGNORECASE)),
    ("asks that something be kept from the person", re.compile(
        r"\b(?:do not|don't|never|must not)\b[^.\n]{0,20}\b(?:tell|show|mention|reveal|inform|report)\b"
        r"[^.\n]{0,30}\b(?:user|person|developer|reviewer|this|these)\b", re.IGNORECASE)),
    ("speaks of keys or passwords being sent or printed", re.compile(
        r"\b(?:send|post|upload|print|include|reveal|exfiltrat\w*|curl)\b[^.\n]{0,60}"
        r"\b(?:api[ _-]?keys?|tokens?|secrets?|passwords?|credentials?|\.env)\b", re.IGNORECASE)),
)  # fmt: skip
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def warnings_of(text: str) -> tuple[str, ...]:
    """Short phrases that finish the sentence "This document …"; none when nothing stands out.

    They point a reader to what deserves a second look. That there is none proves nothing.
    """
    found: list[str] = []
    total = hidden(text)
    tags, bidi = len(_TAGS.findall(text)), len(_BIDI.findall(text))
    if tags:
        found.append(f"holds {_counted(tags, 'tag character')}, which can carry a text nobody sees")
    if bidi:
        found.append(f"holds {_counted(bidi, 'bidirectional control')}, which can show text in another order")
    if total - tags - bidi > 0:
        found.append(f"holds {_counted(total - tags - bidi, 'hidden character')}")
    if _PADDING.search(text):
        found.append("holds very long runs of blanks or empty lines, behind which more text may stand")
    if any(len(line) > _LONG_LINE for line in text.split("\n")):
        found.append(f"holds lines of more than {_LONG_LINE:,} characters")
    if _COMMENT.search(text):
        found.append("holds HTML comments, which a rendered page does not show")
    found += [words for words, pattern in _STEERING if pattern.search(text)]
    return tuple(found)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
