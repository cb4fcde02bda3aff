"""A search query as a test of single lines, with a quick test of whole texts before it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from steward.errors import UsageError

if TYPE_CHECKING:
    import regex

MAX_QUERY = 2000
QUICK_SECONDS = 0.25
FILE_SECONDS = 2.0

_ONLY_PER_LINE = re.compile(r"\\[AZzGKRX]|\(\?(?!:)|[*+?}]\+|\\[0-9]|\(\*")
"""Parts of a regular expression with which a match in a line may not be a match in the whole text."""


@dataclass(frozen=True, slots=True)
class Source:
    """A query as it was asked."""

    text: str
    regex: bool
    ignore_case: bool


class RanAway(Exception):
    """A regular expression took longer than one file may take."""


class Query(Protocol):
    """What is searched for."""

    @property
    def source(self) -> Source:
        """The query as it was asked."""
        ...

    def may_match(self, data: bytes) -> bool:
        """Whether some line of these bytes may match; never ``False`` when one does."""
        ...

    def lines(self, lines: list[str]) -> list[tuple[int, int]]:
        """Index and start of the match for each line that matches, in order; raises ``RanAway``."""
        ...


@dataclass(frozen=True, slots=True)
class Literal:
    """A text, found as it is."""

    source: Source
    data: bytes

    def may_match(self, data: bytes) -> bool:
        return self.data in data

    def lines(self, lines: list[str]) -> list[tuple[int, int]]:
        text = self.source.text
        return [(i, line.find(text)) for i, line in enumerate(lines) if text in line]


@dataclass(frozen=True, slots=True)
class LiteralAnyCase:
    """A text, found in either case of its letters."""

    source: Source
    pattern: re.Pattern[str]

    def may_match(self, data: bytes) -> bool:
        return self.pattern.search(data.decode("utf-8", "surrogateescape")) is not None

    def lines(self, lines: list[str]) -> list[tuple[int, int]]:
        search = self.pattern.search
        return [(i, match.start()) for i, line in enumerate(lines) if (match := search(line))]


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression under a time limit, run without holding the interpreter's lock."""

    source: Source
    pattern: regex.Pattern[str]
    quick: regex.Pattern[str] | None
    """The same over many lines at once, where that finds whatever single lines would."""
    seconds: float

    def may_match(self, data: bytes) -> bool:
        if self.quick is None:
            return True
        text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        try:
            return (
                self.quick.search(text, timeout=min(QUICK_SECONDS, self.seconds), concurrent=True) is not None
            )
        except TimeoutError:
            return True

    def lines(self, lines: list[str]) -> list[tuple[int, int]]:
        search = self.pattern.search
        end = time.monotonic() + self.seconds
        found: list[tuple[int, int]] = []
        for index, line in enumerate(lines):
            left = end - time.monotonic()
            if left <= 0:
                raise RanAway
            try:
                match = search(line, timeout=left, concurrent=len(line) > 200)
            except TimeoutError:
                raise RanAway from None
            if match is not None:
                found.append((index, match.start()))
        return found


def compiled(query: str, *, regex: bool, ignore_case: bool, seconds: float = FILE_SECONDS) -> Query:
    """The query to run; raises ``UsageError`` that explains what is wrong with it."""
    if not query:
        raise UsageError("The query is empty.")
    if len(query) > MAX_QUERY:
        raise UsageError(f"The query is longer than {MAX_QUERY:,} characters.")
    source = Source(query, regex, ignore_case)
    if not regex:
        if "\n" in query:
            raise UsageError(
                "The query holds a line break; lines are searched one by one, so search for one line of it."
            )
        if ignore_case:
            return LiteralAnyCase(source, re.compile(re.escape(query), re.IGNORECASE))
        return Literal(source, query.encode("utf-8", "surrogatepass"))
    import regex as engine

    flags = engine.VERSION0 | (engine.IGNORECASE if ignore_case else 0)
    try:
        pattern = engine.compile(query, flags)
        quick = None if _ONLY_PER_LINE.search(query) else engine.compile(query, flags | engine.MULTILINE)
    except engine.error as error:
        raise UsageError(f"The regular expression is not valid: {error}.") from None
    except (RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise UsageError(f"The regular expression cannot be used: {type(error).__name__}.") from None
    return Regex(source, pattern, quick, seconds)
