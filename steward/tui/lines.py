"""Styled lines and how they wrap: the one kind of thing that every view of this package draws."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

from steward.visible import visible

Line = list[Segment]
"""Segments of one line of the screen; no segment holds a newline, a control character or a tab."""

TAB = 4
"""Columns between tab stops."""

_WORD = re.compile(r"\s*\S+")


def plain(text: str) -> str:
    """``text`` as one line that may be drawn: hidden characters are marked, a newline is a mark too."""
    return text if text.isascii() and text.isprintable() else visible(text, keep="")


def safe(text: str) -> str:
    """``text`` as lines that may be drawn once they are split; newlines and tabs stay for the caller."""
    return text if text.isascii() and text.isprintable() else visible(text, keep="\n\t")


def expand(text: str, column: int = 0) -> str:
    """``text`` with each tab as spaces up to the next stop; ``column`` is where the text begins."""
    if "\t" not in text:
        return text
    pieces: list[str] = []
    for index, piece in enumerate(text.split("\t")):
        if index:
            gap = TAB - column % TAB
            pieces.append(" " * gap)
            column += gap
        pieces.append(piece)
        column += cell_len(piece)
    return "".join(pieces)


def text_of(line: Iterable[Segment]) -> str:
    """The characters of a line without their styles."""
    return "".join(segment.text for segment in line)


def width_of(line: Iterable[Segment]) -> int:
    """Cells the line takes."""
    return sum(cell_len(segment.text) for segment in line)


def pad(line: Line, width: int, style: Style) -> Line:
    """The line filled with blanks of ``style`` to ``width`` cells."""
    missing = width - width_of(line)
    return [*line, Segment(" " * missing, style)] if missing > 0 else line


def shorten(text: str, width: int) -> str:
    """One line of at most ``width`` cells; what was cut is shown as ``…``."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    taken = 0
    for start, _, cells in split_graphemes(text)[0]:
        if taken + cells > width - 1:
            return text[:start] + "…"
        taken += cells
    return text


def shorten_path(path: str, width: int) -> str:
    """A path of at most ``width`` cells that keeps its end, which tells files apart."""
    if cell_len(path) <= width:
        return path
    kept = path
    while kept and cell_len(kept) > width - 1:
        kept = kept[1:]
    return "…" + kept


def wrap(
    spans: Sequence[Segment], width: int, first: Sequence[Segment] = (), rest: Sequence[Segment] = ()
) -> list[Line]:
    """Prose as lines of at most ``width`` cells, broken at spaces; the spaces at a break are not drawn.

    ``first`` opens the first line and ``rest`` each further one; both take part of the width.
    """
    room = max(width - max(width_of(first), width_of(rest)), 1)
    text = text_of(spans)
    if text.isascii() and len(text) <= room:
        return [[*first, *spans]]
    return _assemble(spans, _word_breaks(text, room), first, rest)


def fold(
    spans: Sequence[Segment], width: int, first: Sequence[Segment] = (), rest: Sequence[Segment] = ()
) -> list[Line]:
    """Code as lines of at most ``width`` cells, broken wherever the width ends; every character is drawn."""
    room = max(width - max(width_of(first), width_of(rest)), 1)
    text = text_of(spans)
    if text.isascii() and len(text) <= room:
        return [[*first, *spans]]
    return _assemble(spans, _cell_breaks(text, 0, room), first, rest)


def fold_height(text: str, room: int) -> int:
    """How many lines ``fold`` makes of ``text``."""
    if text.isascii():
        return max(-(-len(text) // room), 1)
    return len(_cell_breaks(text, 0, room))


def _word_breaks(text: str, room: int) -> list[tuple[int, int]]:
    """Start and end of each line of ``text``, broken at spaces where there are any."""
    breaks: list[tuple[int, int]] = []
    start, end, taken = 0, 0, 0
    for match in _WORD.finditer(text):
        piece = match[0]
        cells = cell_len(piece)
        if end and taken + cells > room:
            breaks.append((start, end))
            start = match.end() - len(piece.lstrip())
            piece = piece.lstrip()
            cells, taken = cell_len(piece), 0
        if cells > room:
            *full, (start, end) = _cell_breaks(text[: match.end()], start, room)
            breaks.extend(full)
            taken = cell_len(text[start:end])
        else:
            taken += cells
        end = match.end()
    breaks.append((start, max(end, start)) if end else (0, len(text)))
    return breaks


def _cell_breaks(text: str, start: int, room: int) -> list[tuple[int, int]]:
    """Start and end of each line of ``text`` from ``start``, broken at every ``room`` cells."""
    if text.isascii():
        return [(at, min(at + room, len(text))) for at in range(start, len(text), room)] or [(start, start)]
    breaks: list[tuple[int, int]] = []
    taken, begin = 0, start
    for at, _, cells in split_graphemes(text[start:])[0]:
        if taken + cells > room and taken:
            breaks.append((begin, start + at))
            begin, taken = start + at, 0
        taken += cells
    breaks.append((begin, len(text)))
    return breaks


def _assemble(
    spans: Sequence[Segment],
    breaks: list[tuple[int, int]],
    first: Sequence[Segment],
    rest: Sequence[Segment],
) -> list[Line]:
    """The spans cut at the breaks, each line with its opening."""
    lines: list[Line] = []
    index, offset = 0, 0  # the span that holds the current break, and where in the text it begins
    for start, end in breaks:
        line: Line = list(rest if lines else first)
        while index < len(spans) and offset + len(spans[index].text) <= start:
            offset += len(spans[index].text)
            index += 1
        at, position = index, offset
        while at < len(spans) and position < end:
            text, style, _ = spans[at]
            piece = text[max(start - position, 0) : end - position]
            if piece:
                line.append(Segment(piece, style))
            position += len(text)
            at += 1
        lines.append(line)
    return lines
