"""An answer that is arriving: cut where nothing behind can change any more, so that only its end is laid out again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steward.tui.conversation.blocks import Block, FenceBlock, MarkdownBlock
from steward.tui.lines import safe

if TYPE_CHECKING:
    from markdown_it.token import Token

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Cut:
    """``closed`` pieces with whether an empty line stands before each, and the ``tail`` that may still change."""

    closed: tuple[tuple[str, bool], ...]
    tail: str
    gap: bool


def cut(text: str, gap: bool = True) -> Cut:
    """Cut Markdown at the last place behind which its blocks are final.

    A block is final when another has begun after it. Items of a list are blocks of their own here, so that a
    long list does not count as one that is never done.
    """
    from steward.tui.markdown import parser

    markdown = parser()
    tokens: list[Token] = []
    markdown.block.parse(safe(text), markdown, {}, tokens)
    starts: list[tuple[int, bool]] = []
    for token in tokens:
        if token.map is None or token.nesting < 0:
            continue
        if token.level == 0:
            starts.append((token.map[0], False))
        elif token.level == 1 and token.type == "list_item_open" and token.map[0] > starts[-1][0]:
            starts.append((token.map[0], True))
    if len(starts) < 2:
        return Cut((), text, gap)
    lines = text.split("\n")
    closed: list[tuple[str, bool]] = []
    gaps = [gap]
    for line, is_item in starts[1:]:
        gaps.append(not is_item or not lines[line - 1].strip())
    for number in range(len(starts) - 1):
        begin = 0 if number == 0 else starts[number][0]
        closed.append(("\n".join(lines[begin : starts[number + 1][0]]), gaps[number]))
    return Cut(tuple(closed), "\n".join(lines[starts[-1][0] :]), gaps[-1])


class Answer:
    """Feeds text into blocks. ``add`` places a block after another (or at the end), ``changed`` reports growth."""

    def __init__(self, add: Callable[[Block, Block | None], None], changed: Callable[[Block], None]) -> None:
        self._add = add
        self._changed = changed
        self._new: list[str] = []
        self._all: list[str] = []
        self._tail = ""
        self._gap = True
        self._open: Block | None = None
        self._last: Block | None = None
        self._fence: tuple[FenceBlock, re.Pattern[str], int] | None = None

    @property
    def text(self) -> str:
        """The whole answer so far."""
        return "".join(self._all)

    def feed(self, text: str) -> None:
        """Take a piece; nothing is laid out until ``flow``."""
        self._new.append(text)
        self._all.append(text)

    def flow(self) -> None:
        """Bring the blocks up to date with what was fed."""
        if not self._new:
            return
        self._tail = (self._tail + "".join(self._new)).replace("\r\n", "\n")
        self._new.clear()
        while self._flow_once():
            pass

    def end(self) -> None:
        """The answer is whole."""
        self.flow()
        if self._fence is not None:
            fence = self._fence[0]
            fence.close()
            self._changed(fence)
            self._fence = None
        self._tail, self._open = "", None

    def _flow_once(self) -> bool:
        """Move text from the tail into blocks; true when there may be more to move."""
        if self._fence is not None:
            return self._flow_fence(*self._fence)
        if not self._tail.strip():
            return False
        parts = cut(self._tail, self._gap)
        for source, gap in parts.closed:
            self._piece(source, gap)
            self._open = None
        self._tail, self._gap = parts.tail, parts.gap
        opening, newline, rest = self._tail.partition("\n")
        if newline and (match := _FENCE.fullmatch(opening)) and not (match[1][0] == "`" and "`" in match[2]):
            language = match[2].strip().split(" ", 1)[0]
            fence = FenceBlock(language, self._gap)
            self._replace(fence)
            closing = re.compile(rf" {{0,3}}{re.escape(match[1][0])}{{{len(match[1])},}}[ \t]*")
            self._fence = (fence, closing, len(opening) - len(opening.lstrip(" ")))
            self._tail = rest
            return True
        self._piece(self._tail, self._gap)
        return False

    def _flow_fence(self, fence: FenceBlock, closing: re.Pattern[str], indent: int) -> bool:
        *lines, partial = self._tail.split("\n")
        for number, line in enumerate(lines):
            if closing.fullmatch(line):
                fence.add([_dedent(text, indent) for text in lines[:number]], "")
                fence.close()
                self._changed(fence)
                self._fence, self._open, self._gap = None, None, True
                self._tail = "\n".join([*lines[number + 1 :], partial])
                return True
        shown = "" if closing.fullmatch(partial) else _dedent(partial, indent)
        fence.add([_dedent(text, indent) for text in lines], shown)
        self._changed(fence)
        self._tail = partial
        return False

    def _piece(self, source: str, gap: bool) -> None:
        if isinstance(self._open, MarkdownBlock):
            self._open.update(source)
            self._changed(self._open)
        else:
            self._place(MarkdownBlock(source, gap))

    def _replace(self, fence: FenceBlock) -> None:
        """The open block turned out to be a code block: it is emptied and the code block stands behind it."""
        if isinstance(self._open, MarkdownBlock):
            self._open.update("")
            self._open.gap = False
            self._changed(self._open)
        self._place(fence)

    def _place(self, block: Block) -> None:
        self._add(block, self._last)
        self._open = self._last = block


def _dedent(line: str, indent: int) -> str:
    """The line without up to ``indent`` leading spaces, as CommonMark reads a fenced block."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
