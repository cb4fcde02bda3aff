"""Takes keys out of text before it leaves the worker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from steward.model.secret_values import secrets_in

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|pplx|nvapi|AIza|AKIA|ASIA)[-_A-Za-z0-9]{8,}[-*.\w]*"
    r"|\b[Bb]earer\s+[^\s\"',;]+|\beyJ[\w-]{8,}\.[\w.-]+|(?<=key=)[^\s&\"']+|(?<=://)[^\s/@]+(?=@)"
)
MASK = "•••"


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without anything that has a key's shape, is one in the environment, or is one of ``secrets``."""
    for value in sorted({*secrets, *secrets_in(os.environ)}, key=len, reverse=True):
        if len(value) >= 6:
            text = text.replace(value, MASK)
    return _SHAPES.sub(MASK, text)


def one_line(text: str, length: int, secrets: Iterable[str] = ()) -> str:
    """The text masked, in one line, cut at ``length`` characters."""
    text = " ".join(masked(text, secrets).split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
