"""The two themes of the steward: calm, with colour only where it carries meaning."""

from __future__ import annotations

import os

from textual.theme import Theme

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


TERMINAL = "ansi-dark"
"""Nothing but the terminal's own sixteen colours."""


def chosen(wanted: str) -> str:
    """The theme for a setting; ``auto`` follows the terminal.

    Terminals that have sixteen colours keep to them; else light where the terminal says that its background is
    (``COLORFGBG``).
    """
    if wanted == "auto":
        background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
        wanted = "terminal" if _sixteen() else "light" if background in ("7", "15") else "dark"
    return {"dark": DARK.name, "light": LIGHT.name, "terminal": TERMINAL}[wanted]


def _sixteen() -> bool:
    terminal = os.environ.get("TERM", "")
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return False
    return terminal in ("linux", "ansi", "cons25", "xterm-color", "xterm-16color", "rxvt", "screen", "vt220")
