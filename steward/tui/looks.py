"""The styles that every view draws with, worked out once per theme."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.color import Color

if TYPE_CHECKING:
    from textual.app import App
    from textual.dom import DOMNode
    from textual.theme import Theme


@dataclass(frozen=True, slots=True)
class Looks:
    """Rich styles by meaning. Those of the first group are whole; those of the last are laid over another."""

    dark: bool
    tinted: bool
    """Whether changed lines stand on backgrounds of their own, which leave the colours of their text to syntax."""
    base: Style
    """Text on the background; each style below is on the same background unless it says otherwise."""
    muted: Style
    faint: Style
    strong: Style
    accent: Style
    primary: Style
    ok: Style
    warning: Style
    error: Style
    heading: Style
    quote: Style
    code: Style
    """Code within prose."""
    link: Style
    user: Style
    """On the background of the person's own words."""
    user_mark: Style
    block: Style
    """A code block, on the raised surface."""
    block_faint: Style
    cursor: Style
    """The line that keys act on."""
    hidden: Style
    """A character that would otherwise not be seen."""
    match: Style
    """What a search found."""
    added: Style
    removed: Style
    added_word: Style
    removed_word: Style
    added_mark: Style
    removed_mark: Style
    hunk: Style
    file: Style
    void: Style
    """The half of a side-by-side line that has no text."""
    chip: Style
    chip_warning: Style
    chip_error: Style
    bold: Style
    italic: Style
    strike: Style
    syntax: dict[str, Style]
    """Foreground by kind of token, see ``highlight``."""


def _looks(theme: Theme) -> Looks:
    if theme.ansi:
        from steward.tui.few_colours import terminal_colours

        return terminal_colours(theme.dark)
    colors = theme.to_color_system().generate()

    def color(name: str) -> Color:
        return Color.parse(colors[name])

    back, fore = color("background"), color("foreground")
    surface, panel = color("surface"), color("panel")
    primary, accent = color("primary"), color("accent")
    success, warning, error = color("success"), color("warning"), color("error")

    def on(
        foreground: Color,
        background: Color = back,
        *,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
    ) -> Style:
        return Style(
            color=foreground.rich_color,
            bgcolor=background.rich_color,
            bold=bold,
            italic=italic,
            underline=underline,
        )

    muted = back.blend(fore, 0.64 if theme.dark else 0.70)
    faint = back.blend(fore, 0.48 if theme.dark else 0.60)
    tint, word = (0.12, 0.26) if theme.dark else (0.11, 0.22)
    green, red = back.blend(success, tint), back.blend(error, tint)
    return Looks(
        dark=theme.dark,
        tinted=True,
        base=on(fore),
        muted=on(muted),
        faint=on(faint),
        strong=on(fore, bold=True),
        accent=on(accent),
        primary=on(primary),
        ok=on(success),
        warning=on(warning),
        error=on(error),
        heading=on(primary, bold=True),
        quote=on(muted, italic=True),
        code=on(accent, surface),
        link=on(primary, underline=True),
        user=on(fore, panel),
        user_mark=on(accent, panel, bold=True),
        block=on(fore, surface),
        block_faint=on(faint, surface),
        cursor=on(fore, back.blend(primary, 0.22)),
        hidden=on(back, error, bold=True),
        match=on(back, warning),
        added=on(fore, green),
        removed=on(fore, red),
        added_word=on(fore, back.blend(success, word), bold=True),
        removed_word=on(fore, back.blend(error, word), bold=True),
        added_mark=on(success, green, bold=True),
        removed_mark=on(error, red, bold=True),
        hunk=on(muted, surface),
        file=on(fore, panel, bold=True),
        void=on(faint, surface),
        chip=on(back, primary),
        chip_warning=on(back, warning),
        chip_error=on(back, error),
        bold=Style(bold=True),
        italic=Style(italic=True),
        strike=Style(strike=True),
        syntax={name: Style(color=value) for name, value in _syntax(theme.dark).items()},
    )


_made: dict[str, Looks] = {}


def looks_of(theme: Theme) -> Looks:
    """The styles for a theme; the same object each time, so that views may compare it by identity."""
    looks = _made.get(theme.name)
    if looks is None:
        looks = _made[theme.name] = _looks(theme)
    return looks


def _syntax(dark: bool) -> dict[str, str]:
    if dark:
        return {
            "comment": "#8b96a4",
            "keyword": "#c39ac9",
            "string": "#9cc48f",
            "number": "#d8a878",
            "function": "#82b1ea",
            "class": "#dcc07e",
            "builtin": "#74b9c2",
            "decorator": "#d9a962",
            "tag": "#e08a90",
            "attribute": "#d8a878",
            "operator": "#aab4c3",
        }
    return {
        "comment": "#62676d",
        "keyword": "#7e3a8c",
        "string": "#35702d",
        "number": "#95500c",
        "function": "#1f58a8",
        "class": "#7a5a00",
        "builtin": "#0f6a75",
        "decorator": "#8d560f",
        "tag": "#a82f3b",
        "attribute": "#95500c",
        "operator": "#4c545f",
    }


def looks_for(node: DOMNode) -> Looks:
    """The styles for whatever theme the node's application uses now; without colours where it has none."""
    app: App[object] = node.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- App[Unknown]
    return bare_looks() if app.no_color else looks_of(app.current_theme)


@cache
def bare_looks() -> Looks:
    """The styles of a screen without colours."""
    from steward.tui.few_colours import without_colours

    return without_colours()
