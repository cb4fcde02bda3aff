"""The themes of the steward: calm, with colour only where it carries meaning."""

from __future__ import annotations

import os
from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

DARK = Theme(
    name="steward-dark",
    primary="#7aa7e0",
    secondary="#8f9db3",
    accent="#d9a962",
    foreground="#d5dae3",
    background="#11151b",
    surface="#171c24",
    panel="#1e242e",
    success="#82bd8c",
    warning="#dfb568",
    error="#e07b83",
    dark=True,
    variables={
        "border": "#39424f",
        "border-blurred": "#2a313c",
        "footer-background": "#11151b",
        "block-cursor-text-style": "none",
        "input-selection-background": "#7aa7e0 30%",
    },
)

LIGHT = Theme(
    name="steward-light",
    primary="#2c62ad",
    secondary="#5b6675",
    accent="#8d560f",
    foreground="#262b33",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#e9e6df",
    success="#2b7840",
    warning="#8c6100",
    error="#b02f3d",
    dark=False,
    variables={
        "border": "#c4bfb3",
        "border-blurred": "#dbd7cd",
        "footer-background": "#fbfaf7",
        "block-cursor-text-style": "none",
        "input-selection-background": "#2c62ad 25%",
    },
)


_EVERYWHERE = {"border": "ansi_default", "border-blurred": "ansi_default"}
"""Black and bright black are the very background in some palettes."""

TERMINAL = replace(
    BUILTIN_THEMES["ansi-dark"],
    name="steward-terminal",
    accent="ansi_yellow",
    variables={**BUILTIN_THEMES["ansi-dark"].variables, **_EVERYWHERE},
)
"""Nothing but the terminal's own sixteen colours."""

TERMINAL_LIGHT = replace(
    BUILTIN_THEMES["ansi-light"],
    name="steward-terminal-light",
    variables={**BUILTIN_THEMES["ansi-light"].variables, **_EVERYWHERE},
)
"""The same for a light background."""


def chosen(wanted: str, colours: str | None) -> str:
    """The theme for a setting; ``auto`` follows the terminal.

    ``colours`` is how many the terminal takes, as rich calls it: ``standard`` is sixteen, and keeps to the terminal's
    own. A terminal that says that its background is light (``COLORFGBG``) gets dark text.
    """
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    if wanted == "auto":
        wanted = "terminal" if colours == "standard" else "light" if light else "dark"
    own = TERMINAL_LIGHT if light else TERMINAL
    return {"dark": DARK, "light": LIGHT, "terminal": own}[wanted].name
