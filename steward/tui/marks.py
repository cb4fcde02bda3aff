"""Text exactly as it is, with its hidden characters standing out."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from steward.tui.lines import Line, expand, fold
from steward.tui.looks import Looks
from steward.visible import visible


def pieces(raw: str) -> list[tuple[str, bool]]:
    """The text as it is shown, cut into pieces that stand for hidden characters (true) and pieces that do not.

    ``visible`` shows a hidden character either as one control picture or as ``⟨…⟩``; walking both texts side by
    side tells such a mark from the same characters standing in the text itself. Tabs stay.
    """
    if raw.isascii() and raw.isprintable():
        return [(raw, False)]
    shown = visible(raw, keep="\t")
    if shown == raw:
        return [(raw, False)]
    found: list[tuple[str, bool]] = []
    at = begin = 0
    for char in raw:
        if shown[at] == char:
            at += 1
            continue
        if at > begin:
            found.append((shown[begin:at], False))
        end = shown.index("⟩", at) + 1 if shown[at] == "⟨" else at + 1
        found.append((shown[at:end], True))
        at = begin = end
    if begin < len(shown):
        found.append((shown[begin:], False))
    return found


def marked(raw: str, style: Style, hidden: Style) -> list[Segment]:
    """One line of text, tabs expanded, its hidden characters in the style ``hidden``."""
    spans: list[Segment] = []
    column = 0
    for text, is_hidden in pieces(raw):
        wide = expand(text, column)
        spans.append(Segment(wide, hidden if is_hidden else style))
        column += cell_len(wide)
    return spans


def literal(text: str, width: int, looks: Looks) -> list[Line]:
    """Every character of a text on the raised surface; long lines wrap."""
    lines: list[Line] = []
    for raw in text.split("\n"):
        if len(raw) < width and raw.isascii() and raw.isprintable():
            lines.append([Segment(raw, looks.block)])
        else:
            lines.extend(fold(marked(raw, looks.block, looks.hidden), width))
    return lines
