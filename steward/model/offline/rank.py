"""Which of the places that were found says most about a question."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from steward.model.offline.findings import Hit
from steward.model.offline.wishes import Question, Term, stem

KEYWORDS = (
    "class|def|fn|func|function|interface|struct|enum|trait|type|module|protocol|record|const|let|var|package"
)
_MODIFIERS = (
    r"export|default|pub(?:\([a-z]+\))?|public|private|protected|static|final|abstract"
    "|async|data|sealed|open|internal|unsafe|declare"
)
_DEFINES = re.compile(rf"^\s*(?:(?:{_MODIFIERS})\s+)*(?:{KEYWORDS})\s+(?:\([^)]*\)\s*)?([\w$]+)")
_ASSIGNS = re.compile(r"^([A-Za-z_][\w.]*)\s*(?::[^=]+)?=(?!=)")
_HEADING = re.compile(r"^#{1,6} \S")
_MINOR = re.compile(
    r"(?:^|/)(?:node_modules|vendor|third_party|dist|build|target|fixtures|__snapshots__|locale|migrations)/"
    r"|(?:^|/)(?:change(?:s|log)|history|news|license|licence|copying)[^/]*$|\.(?:lock|min\.\w+|map|svg|csv|json|po|snap|tape)$|-lock\.\w+$",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.\w+$",
    re.IGNORECASE,
)
_DOCS = re.compile(r"\.(?:md|rst|txt|adoc)$", re.IGNORECASE)
_NEAR = 14


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file worth reading; ``line`` is 1 when only the name of the file speaks for it."""

    path: str
    line: int
    score: float
    hits: tuple[Hit, ...]
    """All lines found in the file, in order."""


def is_prose(path: str) -> bool:
    """Whether the file is a document and not code."""
    return _DOCS.search(path) is not None


def defined(path: str, text: str) -> str:
    """What a line of the file defines or heads, an empty string when it does neither."""
    if is_prose(path):
        return text.lstrip("# ") if _HEADING.match(text) else ""
    match = _DEFINES.match(text)
    return match[1] if match is not None else ""


def rank(question: Question, found: Iterable[Hit], names: Iterable[str]) -> list[Place]:
    """Places, best first, one for each file. ``names`` are paths of files whose names hold a term."""
    lines: dict[str, dict[int, Hit]] = defaultdict(dict)
    for hit in found:
        lines[hit.path][hit.line] = hit
    for name in names:
        lines.setdefault(name, {})
    weights = _weights(question.terms, lines)
    places: list[Place] = []
    for path, by_line in lines.items():
        ordered = tuple(by_line[number] for number in sorted(by_line))
        score, line = _score(path, ordered, weights)
        score *= _standing(path, question)
        places.append(Place(path, line, score, ordered))
    return sorted(places, key=lambda place: (-place.score, place.path))


def _weights(terms: Iterable[Term], lines: dict[str, dict[int, Hit]]) -> dict[str, float]:
    """How much each term says: the rarer among the files, the more."""
    weights: dict[str, float] = {}
    for term in terms:
        key = stem(term.text).lower()
        files = sum(any(key in hit.text.lower() for hit in by_line.values()) for by_line in lines.values())
        weights[key] = term.weight / math.log2(4 + files)
    return weights


def _score(path: str, ordered: tuple[Hit, ...], weights: dict[str, float]) -> tuple[float, int]:
    name = path.rpartition("/")[2].partition(".")[0].lower()
    total = 0.0
    covered: set[str] = set()
    for key, weight in weights.items():
        if key in name:
            total += weight * (5.0 if stem(name) == key or name == key else 3.0)
            covered.add(key)
        elif f"/{key}" in f"/{path.lower()}":
            total += weight * 1.5
    best, line = 0.0, 1
    values = [(hit.line, _value(hit, weights, covered)) for hit in ordered]
    for start, (first, own) in enumerate(values):
        # What stands close together counts together; the line that defines something leads.
        beside = sum(value for number, value in values[start + 1 :] if number - first <= _NEAR)
        near = own + min(own, 0.3 * beside)
        if near > best:
            best, line = near, first
    total += best + 0.3 * math.log2(1 + len(ordered)) * max(weights.values(), default=0.0)
    return total * (1 + 0.5 * max(0, len(covered) - 1)), line


def _value(hit: Hit, weights: dict[str, float], covered: set[str]) -> float:
    text = hit.text.lower()
    value = 0.0
    for key, weight in weights.items():
        if key in text:
            covered.add(key)
            value += weight * (1.3 if re.search(rf"(?<![a-z0-9]){re.escape(key)}", text) else 0.8)
    match = _ASSIGNS.match(hit.text)
    name = (defined(hit.path, hit.text) or (match[1] if match is not None else "")).lower()
    if any(key in name for key in weights):
        value *= 3.0 if match is None else 2.0
        if name in weights:
            value *= 2.4
        elif name.strip("_") in weights:
            value *= 1.4
    return value


def _standing(path: str, question: Question) -> float:
    standing = 1.0
    if _MINOR.search(path):
        standing *= 0.25
    if _TESTS.search(path) and not question.tests:
        standing *= 0.4
    if is_prose(path):
        standing *= 0.75
    return standing
