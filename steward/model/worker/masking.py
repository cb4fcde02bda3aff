"""Takes keys out of text before it leaves the worker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import cast

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|AUTHORIZATION)$", re.IGNORECASE)
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|github_pat|glpat|pplx|nvapi|AIza|AKIA|ASIA)[-_A-Za-z0-9]{8,}[-*.\w]*"
    r"|\b[Bb]earer\s+[^\s\"',;]+|\beyJ[\w-]{8,}\.[\w.-]+|(?<=key=)[^\s&\"']+|(?<=://)[^\s/@]+(?=@)"
)
MASK = "•••"


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without anything that has a key's shape, is one in the environment, or is one of ``secrets``."""
    for value in sorted({*secrets, *_environment()}, key=len, reverse=True):
        if len(value) >= 6:
            text = text.replace(value, MASK)
    return _SHAPES.sub(MASK, text)


def one_line(text: str, length: int, secrets: Iterable[str] = ()) -> str:
    """The text masked, in one line, cut at ``length`` characters."""
    text = " ".join(masked(text, secrets).split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def secrets_in(options: object, name: str = "") -> Iterator[str]:
    """Values of options whose names say that they are secret, and all values of extra headers."""
    if isinstance(options, dict):
        for key, value in cast(dict[str, object], options).items():
            yield from secrets_in(value, "authorization" if name == "extra_headers" else str(key))
    elif isinstance(options, str) and (_NAMES.search(name)):
        yield options


def _environment() -> Iterator[str]:
    return (value for name, value in os.environ.items() if _NAMES.search(name))
