"""One row of a review as styled lines: numbers, signs, syntax, emphasis, search hits, hidden characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from steward.tui.highlight import Token
from steward.tui.lines import TAB, fold, fold_height, pad, plain, shorten, shorten_path, width_of, wrap
from steward.tui.lines import Line as ScreenLine
from steward.tui.looks import Looks
from steward.tui.marks import pieces
from steward.tui.review.rows import CodeRow, CommentRow, FileRow, HunkRow, IndexRow, Row, TextRow

if TYPE_CHECKING:
    from steward.proposals.diff import Line
    from steward.tui.review.parts import Taken

OUT = "○"
"""Stands beside the sign of a line that is left out."""

LEFT: dict[Taken, str] = {"whole": "", "part": " some left out ", "none": " left out "}

TokensOf = Callable[[int, bool, int], Sequence[Token]]
"""Tokens of a line: file, whether the old side, line number."""


@dataclass(frozen=True, slots=True)
class Brush:
    """All that painting a row needs besides the row."""

    shape: Shape
    looks: Looks
    tokens: TokensOf
    matches: Callable[[str], Sequence[tuple[int, int]]]
    """Where a search finds something in a text."""
    is_out: Callable[[int, Line | None], bool]
    """Whether a line of a file is left out of the change."""
    taken: Callable[[FileRow | IndexRow | HunkRow], Taken]
    """How much of a file or hunk is taken."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How wide everything is."""

    width: int
    split: bool
    digits: int

    @property
    def gutter(self) -> int:
        """Cells before the text of one side: cursor edge, numbers, sign."""
        return self.digits + 4 if self.split else 2 * self.digits + 5

    @property
    def half(self) -> int:
        """Cells of the left side."""
        return (self.width - 1) // 2

    def room(self, old: bool) -> int:
        """Cells for the text of a side."""
        if not self.split:
            return max(self.width - self.gutter, 8)
        side = self.half if old else self.width - 1 - self.half
        return max(side - self.gutter, 8)


def shown_text(line: Line) -> str:
    """The line as it is drawn, without styles."""
    text = line.text
    if line.sign != "\\" and text.isascii() and text.isprintable() and line.ending != "\r\n":
        return text
    return "".join(cell for cell, _ in _cells(line))


def height(row: Row, shape: Shape) -> int:
    """How many screen lines a row takes."""
    if isinstance(row, CommentRow):
        return len(wrap([Segment(f"{row.where} · {plain(row.text)}")], shape.width - 5))
    if not isinstance(row, CodeRow):
        return len(wrap([Segment(plain(row.text))], shape.width - 4)) if isinstance(row, TextRow) else 1
    most = 1
    for line, old in ((row.old, True), (row.new, False)):
        if line is not None and (shape.split or old or row.old is None):
            most = max(most, fold_height(shown_text(line), shape.room(old)))
    return most


def paint(row: Row, brush: Brush) -> list[ScreenLine]:
    """The lines of a row, each exactly as wide as the view."""
    shape, looks = brush.shape, brush.looks
    match row:
        case TextRow():
            return _text(row, shape, looks)
        case FileRow():
            return [_file(row, shape, looks, brush.taken(row))]
        case IndexRow():
            return [_listed(row, shape, looks, brush.taken(row))]
        case CommentRow():
            return _said(row, shape, looks)
        case HunkRow():
            return [_hunk(row, shape, looks, brush.taken(row))]
        case CodeRow():
            if shape.split:
                return _both(row, brush)
            line = row.old if row.old is not None else row.new
            assert line is not None
            old = row.new is None
            out = brush.is_out(row.file, line)
            body = _body(line, row.file, old, shape.room(True), brush)
            return [
                [*_numbers(row, line, shape, looks, out, first=index == 0), *part]
                for index, part in enumerate(body)
            ]


def _hunk(row: HunkRow, shape: Shape, looks: Looks, taken: Taken) -> ScreenLine:
    text, chip = f" {row.header} ", LEFT[taken]
    note = f"hunk {row.hunk + 1} of {row.of} " if row.of > 1 else ""
    within = shorten(plain(row.within), max(shape.width - len(text) - len(note) - len(chip) - 2, 0))
    gap = max(shape.width - len(text) - cell_len(within) - len(note) - len(chip), 1)
    left = [Segment(chip, looks.chip_warning)] if chip else []
    return [
        Segment(text, looks.hunk),
        Segment(within + " " * gap, looks.hunk + Style(italic=True)),
        *left,
        Segment(note, looks.hunk),
    ]


def _text(row: TextRow, shape: Shape, looks: Looks) -> list[ScreenLine]:
    if not row.text:
        return [[Segment(" " * shape.width, looks.base)]]
    mark, mark_style, style = {
        "plain": ("  ", looks.base, looks.strong),
        "note": ("  ", looks.faint, looks.muted),
        "warning": ("▲ ", looks.warning, looks.warning),
    }[row.level]
    first, rest = [Segment(" " + mark, mark_style)], [Segment("   ", looks.base)]
    spans = [
        Segment(text, looks.hidden if is_hidden else style) for text, is_hidden in pieces(plain(row.text))
    ]
    return [pad(line, shape.width, looks.base) for line in wrap(spans, shape.width - 1, first, rest)]


def _said(row: CommentRow, shape: Shape, looks: Looks) -> list[ScreenLine]:
    margin = [Segment(" " * 4, looks.user)]
    mark = [Segment("  ❝ ", looks.user_mark)]
    spans = [Segment(f"{row.where} · ", looks.user_mark), Segment(plain(row.text), looks.user)]
    return [pad(line, shape.width, looks.user) for line in wrap(spans, shape.width - 1, mark, margin)]


ROOMY = 60
"""From this width on the list of files names what happens to each in a word."""

ACTIONS = {"create": "new", "delete": "deleted", "rename": "renamed", "modify": "changed"}


def _listed(row: IndexRow, shape: Shape, looks: Looks, taken: Taken) -> ScreenLine:
    """A file of the list: what happens to it, its path, and how much of it."""
    plus, minus, chip = f"+{row.added}", f"−{row.removed}", LEFT[taken]
    mark = Segment(" ▲ " if row.warned else "   ", looks.warning)
    action = ACTIONS.get(row.action, row.action)
    word = Segment(f"{action:<8}" if shape.width >= ROOMY else f"{action[:1]} ", looks.faint)
    path = f"{plain(row.old_path)} → {plain(row.path)}" if row.old_path else plain(row.path)
    room = shape.width - len(chip) - len(plus) - len(minus) - len(word.text) - 7
    style = looks.muted if taken == "none" else looks.base
    left = [mark, word, Segment(shorten_path(path, max(room, 8)), style)]
    gap = max(shape.width - width_of(left) - len(chip) - len(plus) - len(minus) - 3, 1)
    right = [Segment(chip, looks.chip_warning)] if chip else []
    return pad(
        [
            *left,
            Segment(" " * gap, looks.base),
            *right,
            Segment(f" {plus} ", looks.ok),
            Segment(f"{minus} ", looks.error),
        ],
        shape.width,
        looks.base,
    )


def _file(row: FileRow, shape: Shape, looks: Looks, taken: Taken) -> ScreenLine:
    word = ACTIONS.get(row.action, row.action)
    counts = f"+{row.added} −{row.removed} "
    chip = LEFT[taken]
    room = shape.width - len(counts) - len(word) - len(chip) - 6
    path = plain(row.path)
    if row.old_path:
        path = f"{plain(row.old_path)} → {path}"
    bold = looks.file
    line = [
        Segment(f" {word} ", bold + Style(bold=False, color=looks.muted.color)),
        Segment(shorten_path(path, max(room, 8)), bold),
    ]
    plus, minus = f"+{row.added}", f"−{row.removed}"
    gap = max(shape.width - width_of(line) - len(plus) - len(minus) - len(chip) - 3, 1)
    left = [Segment(chip, looks.chip_warning)] if chip else []
    return pad(
        [
            *line,
            Segment(" " * gap, bold),
            *left,
            Segment(" ", bold),
            Segment(plus + " ", bold + Style(color=looks.ok.color)),
            Segment(minus + " ", bold + Style(color=looks.error.color)),
        ],
        shape.width,
        bold,
    )


def _styles(sign: str, looks: Looks, out: bool = False) -> tuple[Style, Style, Style]:
    """Of the line, of its emphasised words, of its sign."""
    if out:
        return looks.hunk, looks.hunk, looks.hunk
    match sign:
        case "+":
            return looks.added, looks.added_word, looks.added_mark
        case "-":
            return looks.removed, looks.removed_word, looks.removed_mark
        case _:
            return looks.base, looks.base, looks.faint


def _numbers(row: CodeRow, line: Line, shape: Shape, looks: Looks, out: bool, *, first: bool) -> ScreenLine:
    """The gutter of a unified row."""
    style, _, sign_style = _styles(line.sign, looks, out)
    number = style + Style(color=looks.faint.color)
    digits = shape.digits
    if not first or line.sign == "\\":
        return [Segment(" " * (2 * digits + 3), number), Segment("  ", sign_style)]
    old = str(line.old_no) if row.old is not None and line.old_no else ""
    new = str(line.new_no) if row.new is not None and line.new_no else ""
    sign = line.sign.replace("-", "−") + (OUT if out else " ")
    return [Segment(f" {old:>{digits}} {new:>{digits}} ", number), Segment(sign, sign_style)]


def _both(row: CodeRow, brush: Brush) -> list[ScreenLine]:
    shape, looks = brush.shape, brush.looks
    sides: list[list[ScreenLine]] = []
    for line, old in ((row.old, True), (row.new, False)):
        width = shape.half if old else shape.width - 1 - shape.half
        if line is None:
            sides.append([[Segment(" " * width, looks.void)]])
            continue
        out = brush.is_out(row.file, line)
        style, _, sign_style = _styles(line.sign, looks, out)
        number = style + Style(color=looks.faint.color)
        laid: list[ScreenLine] = []
        for index, part in enumerate(_body(line, row.file, old, shape.room(old), brush)):
            at = (line.old_no if old else line.new_no) if index == 0 and line.sign != "\\" else None
            sign = line.sign.replace("-", "−") if index == 0 and line.sign != "\\" else " "
            sign += OUT if out and index == 0 else " "
            gutter = [
                Segment(f" {at or '':>{shape.digits}} ", number),
                Segment(sign, sign_style),
            ]
            laid.append([*gutter, *part])
        sides.append(laid)
    lines: list[ScreenLine] = []
    for depth in range(max(map(len, sides))):
        joined: ScreenLine = []
        for side, (laid, old) in enumerate(zip(sides, (True, False), strict=True)):
            width = shape.half if old else shape.width - 1 - shape.half
            source = row.old if old else row.new
            out = source is None or brush.is_out(row.file, source)
            fill = looks.void if source is None else _styles(source.sign, looks, out)[0]
            joined.extend(pad(laid[depth] if depth < len(laid) else [], width, fill))
            if side == 0:
                joined.append(Segment("│", looks.faint))
        lines.append(joined)
    return lines


def _cells(line: Line) -> list[tuple[str, str]]:
    """Each character of the line as it is drawn, and its kind: ``""``, ``hidden``, ``tab`` or ``end``.

    The list has one entry per character of the text, and one more for a carriage return at its end.
    """
    text = line.text
    cells: list[tuple[str, str]] = []
    column = 0
    for shown, is_hidden in _by_character(text):
        if shown == "\t":
            shown = "→".ljust(TAB - column % TAB)
            cells.append((shown, "tab"))
        else:
            cells.append((shown, "hidden" if is_hidden else ""))
        column += cell_len(shown)
    if line.sign != "\\" and line.ending == "\r\n":
        cells.append(("␍", "hidden" if line.ending_changed else "end"))
    return cells


def _by_character(text: str) -> list[tuple[str, bool]]:
    """Each character as it is drawn and whether it is hidden."""
    found: list[tuple[str, bool]] = []
    for piece, is_hidden in pieces(text):
        if is_hidden:
            found.append((piece, True))
        else:
            found.extend((char, False) for char in piece)
    return found


def _body(line: Line, file: int, old: bool, room: int, brush: Brush) -> list[ScreenLine]:
    """The text of a line, folded and filled to ``room`` cells."""
    looks, out = brush.looks, brush.is_out(file, line)
    style, word_style, _ = _styles(line.sign, looks, out)
    if line.sign == "\\":
        text = "⧵ " + line.text.strip()
        return [pad(part, room, looks.base) for part in fold([Segment(text, looks.quote)], room)]
    text = line.text
    number = line.old_no if old else line.new_no
    cells = None if text.isascii() and text.isprintable() and line.ending != "\r\n" else _cells(line)
    coloured = not out and (looks.tinted or line.sign == " ")
    kinds = brush.tokens(file, old, number) if number and coloured else ()
    spans = line.spans
    found = brush.matches(text)
    cuts = {0, len(text)}
    for ranges in (kinds, spans, found):
        for part in ranges:
            cuts.update((part[0], part[1]))
    ordered = sorted(cut for cut in cuts if 0 <= cut <= len(text))
    segments: list[Segment] = []
    for start, end in pairwise(ordered):
        here = word_style if any(a <= start < b for a, b in spans) else style
        kind = next((k for a, b, k in kinds if a <= start < b), "")
        if kind:
            here = here + looks.syntax[kind]
        if any(a <= start < b for a, b in found):
            here = looks.match
        if cells is None:
            segments.append(Segment(text[start:end], here))
        else:
            _join(segments, cells[start:end], here, looks)
    if cells is not None:
        _join(segments, cells[len(text) :], style, looks)
    return [pad(part, room, style) for part in fold(segments, room)]


def _join(segments: list[Segment], cells: list[tuple[str, str]], style: Style, looks: Looks) -> None:
    """Add characters; those of one style make one segment, so that an emoji sequence stays whole."""
    for shown, special in cells:
        own = _special(special, style, looks)
        if segments and segments[-1].style == own:
            segments[-1] = Segment(segments[-1].text + shown, own)
        else:
            segments.append(Segment(shown, own))


def _special(kind: str, style: Style, looks: Looks) -> Style:
    match kind:
        case "hidden":
            return looks.hidden
        case "tab" | "end":
            return style + Style(color=looks.faint.color, bold=False)
        case _:
            return style


def with_edge(line: ScreenLine, looks: Looks) -> ScreenLine:
    """The line with the mark of the cursor in its first cell."""
    first, *rest = line
    text, style, _ = first
    edge = (style or Style()) + Style(color=looks.primary.color, bold=True)
    return [Segment("▌", edge), Segment(text[1:], style), *rest] if text else line
