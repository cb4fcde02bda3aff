"""A file change as hunks of lines, cut at LF alone, from which the result can be built again byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from steward.proposals.align import Block, align
from steward.proposals.lines import ending_of, split, text_of
from steward.proposals.notices import notices
from steward.proposals.proposal import FileChange
from steward.visible import hidden

Sign = Literal[" ", "+", "-", "\\"]

WHOLE = 1 << 30
"""As ``context``: the whole file."""

_WORDS = re.compile(r"\w+|[^\S\n]+|.", re.DOTALL)
_LONGEST_LINE = 4000
"""Characters of the longest line of which single words are compared."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a hunk; the sign ``\\`` says that the line before it has no newline."""

    sign: Sign
    raw: bytes
    """The line's bytes with its ending (``\\n``, ``\\r\\n`` or none)."""
    old_no: int | None = None
    """Line number in the base, from 1."""
    new_no: int | None = None
    """Line number in the result, from 1."""
    other: bytes | None = field(default=None, repr=False)
    """The line of the other side that this one replaces or that replaces it."""

    @property
    def text(self) -> str:
        """The line without its ending; bytes that are not UTF-8 are lone surrogates. Pass it through ``visible``."""
        if self.sign == "\\":
            return " No newline at end of file"
        return text_of(self.raw)

    @property
    def ending(self) -> str:
        """``\\n``, ``\\r\\n``, or nothing at the end of a file."""
        return ending_of(self.raw)

    @property
    def ending_changed(self) -> bool:
        """The line it stands against ends otherwise: a reader must be shown the ending."""
        return self.other is not None and ending_of(self.other) != self.ending

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """What of ``text`` differs from the line it stands against, as character ranges; worked out when asked."""
        if self.other is None:
            return ()
        return _emphasis(self.text, text_of(self.other))


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changes with lines around them; starts count from 1, or are the line before when a side is empty."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[Line, ...]

    @property
    def header(self) -> str:
        """As in a unified diff."""
        old = f"{self.old_start}" if self.old_lines == 1 else f"{self.old_start},{self.old_lines}"
        new = f"{self.new_start}" if self.new_lines == 1 else f"{self.new_start},{self.new_lines}"
        return f"@@ -{old} +{new} @@"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a change does to one file."""

    change: FileChange
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    notices: tuple[str, ...] = ()
    """Sentences about what lines alone do not show: endings, final newline, mode, hidden characters."""
    binary: bool = False
    """The bytes hold NUL; they are not shown as lines, and can only be deleted or renamed whole."""
    hidden: int = 0
    """Hidden characters in the lines that are added."""

    @property
    def path(self) -> str:
        """The path after the change."""
        return self.change.path


def file_diff(change: FileChange, context: int = 3) -> FileDiff:
    """The change of one file as hunks with ``context`` lines around; ``WHOLE`` shows the whole file."""
    base, result = change.base or b"", change.result or b""
    if change.binary:
        return FileDiff(change, (), 0, 0, notices(change, (), ()), binary=True)
    old, new = split(base), split(result)
    blocks = _aligned(base, result)
    hunks = tuple(_hunks(old, new, blocks, max(0, context)))
    gone = tuple(line for b in blocks for line in old[b.old_start : b.old_end])
    come = tuple(line for b in blocks for line in new[b.new_start : b.new_end])
    unseen = hidden(b"".join(come).decode("utf-8", "surrogateescape"))
    return FileDiff(change, hunks, len(come), len(gone), notices(change, gone, come), hidden=unseen)


def between(path: str, base: bytes | None, result: bytes | None, context: int = 3) -> FileDiff:
    """The difference of any two states of a file, for instance of two versions of one change."""
    action = "create" if base is None else "delete" if result is None else "modify"
    return file_diff(FileChange(path, action, base, result), context)


def counts(change: FileChange) -> tuple[int, int]:
    """Lines added and removed, as git counts them; nothing for a binary file."""
    if change.binary:
        return 0, 0
    blocks = _aligned(change.base or b"", change.result or b"")
    return sum(b.new_end - b.new_start for b in blocks), sum(b.old_end - b.old_start for b in blocks)


@lru_cache(maxsize=128)
def _aligned(base: bytes, result: bytes) -> tuple[Block, ...]:
    return tuple(align(split(base), split(result)))


def _hunks(old: list[bytes], new: list[bytes], blocks: Iterable[Block], context: int) -> Iterable[Hunk]:
    group: list[Block] = []
    for block in blocks:
        if group and block.old_start - group[-1].old_end > 2 * context:
            yield _hunk(old, new, group, context)
            group = []
        group.append(block)
    if group:
        yield _hunk(old, new, group, context)


def _hunk(old: list[bytes], new: list[bytes], group: list[Block], context: int) -> Hunk:
    lead = min(context, group[0].old_start)
    old_from, new_from = group[0].old_start - lead, group[0].new_start - lead
    tail = min(context, len(old) - group[-1].old_end)
    old_to, new_to = group[-1].old_end + tail, group[-1].new_end + tail
    lines: list[Line] = []

    def put(line: Line) -> None:
        lines.append(line)
        if not line.raw.endswith(b"\n"):
            lines.append(Line("\\", b""))

    def same(start: int, end: int, shift: int) -> None:
        for i in range(start, end):
            put(Line(" ", old[i], i + 1, i + 1 + shift))

    at = old_from
    shift = new_from - old_from
    for block in group:
        same(at, block.old_start, shift)
        gone, come = old[block.old_start : block.old_end], new[block.new_start : block.new_end]
        partners = _paired(gone, come)
        back = {j: i for i, j in partners.items()}
        for i, raw in enumerate(gone):
            other = come[partners[i]] if i in partners else None
            put(Line("-", raw, block.old_start + i + 1, None, other))
        for j, raw in enumerate(come):
            put(Line("+", raw, None, block.new_start + j + 1, gone[back[j]] if j in back else None))
        at, shift = block.old_end, block.new_end - block.old_end
    same(at, old_to, shift)
    old_count, new_count = old_to - old_from, new_to - new_from
    return Hunk(
        old_from + (1 if old_count else 0),
        old_count,
        new_from + (1 if new_count else 0),
        new_count,
        tuple(lines),
    )


def _paired(gone: list[bytes], come: list[bytes]) -> dict[int, int]:
    """Which removed line stands against which added one, by position."""
    if len(gone) == len(come):
        return {i: i for i in range(len(gone))}
    keys = [line.split() for line in gone], [line.split() for line in come]
    pairs: dict[int, int] = {}
    at = 0
    for i, words in enumerate(keys[0][:200]):
        for j in range(at, min(len(come), at + 20)):
            if words and keys[1][j] and _alike(words, keys[1][j]):
                pairs[i] = j
                at = j + 1
                break
    return pairs


def _alike(one: list[bytes], two: list[bytes]) -> bool:
    shared = len(set(one) & set(two))
    return shared * 2 >= max(len(set(one)), len(set(two)))


@lru_cache(maxsize=4096)
def _emphasis(text: str, other: str) -> tuple[tuple[int, int], ...]:
    if text == other:
        return ()
    if max(len(text), len(other)) > _LONGEST_LINE:
        start = _common(text, other)
        end = _common(text[start:][::-1], other[start:][::-1])
        return ((start, len(text) - end),) if start < len(text) - end else ()
    mine, theirs = _WORDS.findall(text), _WORDS.findall(other)
    offsets = [0]
    for word in mine:
        offsets.append(offsets[-1] + len(word))
    blocks = align(theirs, mine)
    spans: list[tuple[int, int]] = []
    for block in blocks:
        start, end = offsets[block.new_start], offsets[block.new_end]
        if start == end:
            continue
        if spans and not text[spans[-1][1] : start].strip():
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    covered = sum(len(text[s:e].strip()) for s, e in spans)
    # A line that is nearly all new is no edit of the other: emphasis everywhere says nothing.
    return () if covered * 4 > 3 * len(text.strip()) else tuple(spans)


def _common(one: str, two: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == two[:middle] else (low, middle - 1)
    return low
