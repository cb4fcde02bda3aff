"""Markdown as styled lines. markdown-it-py is imported at first use; nothing of the text is dropped or acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from steward.tui.highlight import lexer_for_language, tokens_by_line
from steward.tui.lines import Line, expand, fold, pad, plain, safe, width_of, wrap
from steward.tui.looks import Looks

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough. HTML stays text; link definitions stay text, so nothing vanishes."""
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False})
        .enable(["table", "strikethrough"])
        .disable(["reference", "html_block", "html_inline"])
    )


def render(text: str, width: int, looks: Looks) -> list[Line]:
    """The lines of a whole Markdown text, at most ``width`` cells wide."""
    return _Renderer(width, looks).render(parser().parse(safe(text)))


def code_lines(
    lines: Sequence[str], language: str, width: int, looks: Looks, *, colours: bool = True
) -> list[Line]:
    """A code block on the raised surface; long lines wrap."""
    block = looks.block
    safe_lines = [expand(line if line.isascii() and line.isprintable() else safe(line)) for line in lines]
    lexer = lexer_for_language(language) if colours else None
    tokens = tokens_by_line("\n".join(safe_lines), lexer)
    edge = Segment(" ", block)
    laid: list[Line] = []
    for line, spans in zip(safe_lines, tokens, strict=False):
        segments: list[Segment] = []
        at = 0
        for start, end, kind in spans:
            if start > at:
                segments.append(Segment(line[at:start], block))
            segments.append(Segment(line[start:end], block + looks.syntax[kind]))
            at = end
        if at < len(line) or not segments:
            segments.append(Segment(line[at:], block))
        laid.extend(pad(part, width, block) for part in fold(segments, width, [edge], [edge]))
    return laid


@dataclass(slots=True)
class _Prefix:
    """What a container puts before its lines: ``first`` once, ``rest`` from then on."""

    first: Segment
    rest: Segment
    used: bool = False


@dataclass(slots=True)
class _List:
    ordered: bool
    tight: bool


@dataclass(slots=True)
class _Renderer:
    width: int
    looks: Looks
    lines: list[Line] = field(default_factory=list[Line])
    prefixes: list[_Prefix] = field(default_factory=list[_Prefix])
    lists: list[_List] = field(default_factory=list[_List])
    base: Style = field(default_factory=Style.null)

    def render(self, tokens: list[Token]) -> list[Line]:
        self.base = self.looks.base
        index = 0
        while index < len(tokens):
            index = self._block(tokens, index)
        return self.lines

    def _block(self, tokens: list[Token], index: int) -> int:
        token, looks = tokens[index], self.looks
        match token.type:
            case "heading_open":
                level = int(token.tag[1])
                self._gap()
                style = looks.heading + Style(underline=True) if level == 1 else looks.heading
                self._prose(self._inline(tokens[index + 1], style if level < 4 else looks.strong))
                return index + 3
            case "paragraph_open":
                if not token.hidden:
                    self._gap()
                self._prose(self._inline(tokens[index + 1], self.base))
                return index + 3
            case "fence" | "code_block":
                self._gap()
                self._code(token)
            case "hr":
                self._gap()
                self._put([Segment("─" * min(self._room(), 40), looks.faint)])
            case "blockquote_open":
                self._gap()
                self.prefixes.append(_Prefix(bar := Segment("▎ ", looks.faint), bar))
                self.base = looks.quote
            case "blockquote_close":
                self.prefixes.pop()
                quoted = any(prefix.rest.text == "▎ " for prefix in self.prefixes)
                self.base = looks.quote if quoted else looks.base
            case "bullet_list_open" | "ordered_list_open":
                tight = _is_tight(tokens, index)
                if not (self.lists and tight):
                    self._gap()
                self.lists.append(_List(token.type == "ordered_list_open", tight))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                current = self.lists[-1]
                if not current.tight:
                    self._gap()
                # Numbers stand as they were written: an item may be laid out without those before it.
                mark = f"{token.info}." if current.ordered else "•◦▪"[(len(self.lists) - 1) % 3]
                opening = Segment(mark + " ", looks.primary)
                self.prefixes.append(_Prefix(opening, Segment(" " * cell_len(opening.text), looks.base)))
            case "list_item_close":
                if not self.prefixes[-1].used:
                    self._put([])
                self.prefixes.pop()
            case "table_open":
                self._gap()
                return self._table(tokens, index)
            case _:
                if token.content:
                    self._gap()
                    self._prose([Segment(plain(token.content), self.base)])
        return index + 1

    def _room(self) -> int:
        return max(self.width - sum(cell_len(prefix.rest.text) for prefix in self.prefixes), 8)

    def _opening(self) -> list[Segment]:
        opening: list[Segment] = []
        for prefix in self.prefixes:
            opening.append(prefix.rest if prefix.used else prefix.first)
            prefix.used = True
        return opening

    def _put(self, line: Line) -> None:
        self.lines.append([*self._opening(), *line])

    def _gap(self) -> None:
        """An empty line before what follows, unless it opens the text or its container."""
        if self.lines and all(prefix.used for prefix in self.prefixes):
            tight = bool(self.lists) and self.lists[-1].tight
            if not tight and self.lines[-1]:
                quotes = [prefix.rest for prefix in self.prefixes if prefix.rest.text == "▎ "]
                self.lines.append(list(quotes))
        elif self.lines and self.lines[-1] and not any(prefix.used for prefix in self.prefixes):
            self.lines.append([])

    def _prose(self, spans: list[Segment]) -> None:
        for paragraph in _split_lines(spans):
            for line in wrap(paragraph, self._room()):
                self._put(line)

    def _code(self, token: Token) -> None:
        language = token.info.strip().split(" ", 1)[0] if token.info.strip() else ""
        content = token.content.removesuffix("\n")
        for line in code_lines(content.split("\n"), language, self._room(), self.looks):
            self._put(line)

    def _inline(self, token: Token, base: Style) -> list[Segment]:
        looks = self.looks
        spans: list[Segment] = []
        styles: list[Style] = [base]
        links: list[tuple[int, str]] = []
        for child in token.children or ():
            match child.type:
                case "text":
                    spans.append(Segment(plain(child.content), styles[-1]))
                case "code_inline":
                    spans.append(Segment(plain(child.content), styles[-1] + looks.code))
                case "softbreak":
                    spans.append(Segment(" ", styles[-1]))
                case "hardbreak":
                    spans.append(Segment("\n", styles[-1]))
                case "strong_open":
                    styles.append(styles[-1] + looks.bold)
                case "em_open":
                    styles.append(styles[-1] + looks.italic)
                case "s_open":
                    styles.append(styles[-1] + looks.strike)
                case "link_open":
                    links.append((len(spans), plain(str(child.attrGet("href") or ""))))
                    styles.append(styles[-1] + looks.link)
                case "link_close":
                    styles.pop()
                    start, href = links.pop()
                    shown = "".join(span.text for span in spans[start:])
                    if href not in (shown, "mailto:" + shown):
                        spans.append(Segment(f" ({href})", styles[-1] + looks.muted))
                case "strong_close" | "em_close" | "s_close":
                    styles.pop()
                case "image":
                    source = plain(str(child.attrGet("src") or ""))
                    spans.append(Segment(f"[image: {plain(child.content)}] ({source})", looks.muted))
                case _:
                    spans.append(Segment(plain(child.content), styles[-1]))
        return spans

    def _table(self, tokens: list[Token], index: int) -> int:
        rows: list[list[list[Segment]]] = []
        sides: list[str] = []
        heads = 0
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                style = self.looks.strong if token.type == "th_open" else self.base
                rows[-1].append(self._inline(tokens[index + 1], style))
                if token.type == "th_open":
                    sides.append(str(token.attrGet("style") or "").removeprefix("text-align:"))
            elif token.type == "thead_close":
                heads = len(rows)
            index += 1
        for line in table_lines(rows, heads, self._room(), self.looks, sides):
            self._put(line)
        return index + 1


def table_lines(
    rows: list[list[list[Segment]]], heads: int, room: int, looks: Looks, sides: Sequence[str] = ()
) -> list[Line]:
    """Rows of cells as aligned columns that fit ``room``; cells wrap. A rule follows the first ``heads`` rows.

    ``sides`` are where the columns stand: ``right``, ``center``, and left for anything else.
    """
    if not rows:
        return []
    count = max(map(len, rows))
    widths = [max((width_of(row[i]) for row in rows if i < len(row)), default=1) for i in range(count)]
    widths = _fit([max(width, 1) for width in widths], max(room - 3 * (count - 1), count))
    bar = Segment(" │ ", looks.faint)
    lines: list[Line] = []
    for number, row in enumerate(rows):
        cells = [wrap(row[i] if i < len(row) else [], widths[i]) for i in range(count)]
        for depth in range(max(map(len, cells))):
            line: Line = []
            for i, cell in enumerate(cells):
                if i:
                    line.append(bar)
                side = sides[i] if i < len(sides) else ""
                line.extend(_placed(cell[depth] if depth < len(cell) else [], widths[i], side, looks.base))
            lines.append(line)
        if number + 1 == heads:
            lines.append([Segment("─┼─".join("─" * width for width in widths), looks.faint)])
    return lines


def _placed(cell: Line, width: int, side: str, style: Style) -> Line:
    """The cell's line with blanks before and after it, so that it stands on its side."""
    left = max(width - width_of(cell), 0) // {"right": 1, "center": 2}.get(side, width + 1)
    return pad([Segment(" " * left, style), *cell] if left else cell, width, style)


def _fit(widths: list[int], room: int) -> list[int]:
    """The widths, the widest made narrower until their sum is within ``room``."""
    widths = list(widths)
    while sum(widths) > room and max(widths) > 1:
        widest = max(widths)
        second = max((width for width in widths if width < widest), default=1)
        many = widths.count(widest)
        target = max(second, widest - max((sum(widths) - room) // many, 1), 1)
        widths = [min(width, target) for width in widths]
    return widths


def _is_tight(tokens: list[Token], index: int) -> bool:
    """Whether the list opened at ``index`` has no blank lines between its items."""
    level = tokens[index].level
    for token in tokens[index + 1 :]:
        if token.level == level and token.type.endswith("_list_close"):
            return True
        if token.type == "paragraph_open" and token.level == level + 2:
            return token.hidden
    return True


def _split_lines(spans: list[Segment]) -> list[list[Segment]]:
    """The spans cut at hard breaks."""
    lines: list[list[Segment]] = [[]]
    for span in spans:
        if span.text == "\n":
            lines.append([])
        else:
            lines[-1].append(span)
    return lines
