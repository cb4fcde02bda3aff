"""Looks for terminals that have sixteen colours, or that are to have none."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

from steward.tui.looks import Looks

TOKENS = (
    "comment",
    "keyword",
    "string",
    "number",
    "function",
    "class",
    "builtin",
    "decorator",
    "tag",
    "attribute",
    "operator",
)


def terminal_colours(dark: bool) -> Looks:
    """Styles that use nothing but the terminal's own sixteen colours. On a light ground none of them is yellow."""

    def style(text: str) -> Style:
        return Style.parse(text)

    gold = "yellow" if dark else "magenta"
    plain, dim = style("default on default"), style("dim default on default")
    tokens = ("dim", "magenta", "green", gold, "blue", "cyan", "cyan", gold, "red", gold, "default")
    return Looks(
        dark=dark,
        tinted=False,
        base=plain,
        muted=plain,
        faint=dim,
        strong=style("bold default on default"),
        accent=style(f"{gold} on default"),
        primary=style("blue on default" if not dark else "bright_blue on default"),
        ok=style("green on default"),
        warning=style(f"{gold} on default"),
        error=style("red on default"),
        heading=style("bold blue on default" if not dark else "bold bright_blue on default"),
        quote=style("italic default on default"),
        code=style(f"{gold} on default"),
        link=style("underline blue on default" if not dark else "underline bright_blue on default"),
        user=style("bold default on default"),
        user_mark=style(f"bold {gold} on default"),
        block=plain,
        block_faint=dim,
        cursor=style("reverse default on default"),
        hidden=style("bold white on red"),
        match=style("black on yellow"),
        added=style("green on default"),
        removed=style("red on default"),
        added_word=style("bold reverse green on default"),
        removed_word=style("bold reverse red on default"),
        added_mark=style("bold green on default"),
        removed_mark=style("bold red on default"),
        hunk=style("cyan on default"),
        file=style("bold default on default"),
        void=dim,
        chip=style("black on cyan"),
        chip_warning=style("black on yellow"),
        chip_error=style("white on red"),
        bold=Style(bold=True),
        italic=Style(italic=True),
        strike=Style(strike=True),
        syntax={kind: style(colour) for kind, colour in zip(TOKENS, tokens, strict=True)},
    )


def without_colours() -> Looks:
    """Styles by weight, line and reversal alone."""
    plain, dim, bold, reverse = Style(), Style(dim=True), Style(bold=True), Style(reverse=True)
    loud = Style(bold=True, reverse=True)
    return Looks(
        dark=True,
        tinted=False,
        base=plain,
        muted=plain,
        faint=dim,
        strong=bold,
        accent=bold,
        primary=bold,
        ok=plain,
        warning=bold,
        error=bold,
        heading=bold,
        quote=Style(italic=True),
        code=bold,
        link=Style(underline=True),
        user=bold,
        user_mark=bold,
        block=plain,
        block_faint=dim,
        cursor=reverse,
        hidden=loud,
        match=reverse,
        added=bold,
        removed=plain,
        added_word=Style(bold=True, underline=True),
        removed_word=Style(underline=True),
        added_mark=loud,
        removed_mark=loud,
        hunk=dim,
        file=Style(bold=True, underline=True),
        void=dim,
        chip=reverse,
        chip_warning=reverse,
        chip_error=loud,
        bold=bold,
        italic=Style(italic=True),
        strike=Style(strike=True),
        syntax=dict.fromkeys(TOKENS, plain),
    )


class NoColours(LineFilter):
    """Takes every colour out of what is drawn; a background that is not the terminal's own becomes reversal.

    Textual's own answer to ``NO_COLOR`` is a scale of greys, which are colours to a terminal.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else _bare(style), control)
            for text, style, control in segments
        ]


@lru_cache(maxsize=1024)
def _bare(style: Style) -> Style:
    bare = style.without_color
    if style.meta:
        bare += Style(meta=style.meta)
    if style.bgcolor is not None and not style.bgcolor.is_default:
        bare += Style(reverse=True)
    return bare
