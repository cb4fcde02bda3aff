"""What the instructions of a skill hold that leads nowhere: files nobody will be given, words nobody will replace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from steward.skills.diagnostic import Diagnostic, note

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"\]\(\s*(?:<([^<>]+)>|([^()\s<>]+))[^()]*\)")
_SPAN = re.compile(r"(?<!`)`((?:references|scripts|assets)/[\w./-]*[\w-])`(?!`)")
_PLACEHOLDER = re.compile(
    r"\$ARGUMENTS\b|\$\{(?:CLAUDE|CODEX|SKILL)_[A-Z0-9_]+\}|\{baseDir\}|(?<!\S)!`[^`]+`"
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)


def odd_references(folder: Path, text: str) -> tuple[Diagnostic, ...]:
    """A note for each file of ``folder`` that the SKILL.md ``text`` names and that cannot be read from there."""
    found: dict[str, Diagnostic] = {}
    for number, path in _named(text):
        if path not in found and (wrong := _wrong(folder, path)):
            code, sentence = wrong
            found[path] = note(code, f"{path} {sentence}.", number)
    return tuple(found.values())


def odd_placeholders(text: str) -> tuple[Diagnostic, ...]:
    """A note for each thing in the SKILL.md ``text`` that other programs replace and that stays here as it stands."""
    found: dict[str, Diagnostic] = {}
    for number, row in _outside_fences(text):
        for match in _PLACEHOLDER.finditer(row):
            name = match[0] if match[0][0] != "!" else "!`…`"
            sentence = (
                f"Other programs put something in the place of {name}; the steward leaves it as it stands."
            )
            found.setdefault(name, note("placeholder", sentence, number))
    return tuple(found.values())


def _wrong(folder: Path, path: str) -> tuple[str, str] | None:
    """Why nobody would be given that file, as a code and the end of a sentence."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        return "closed-file", "is outside the skill's folder; nobody is given it"
    if any(part.startswith(".") for part in parts):
        return "closed-file", "is hidden; nobody is given it"
    try:
        places = [folder.joinpath(*parts[: length + 1]) for length in range(len(parts))]
        if any(place.is_symlink() for place in places):
            return "closed-file", "is a link, or goes through one; nobody is given it"
        there = all(place.exists() for place in places)
    except OSError:
        there = False
    return None if there else ("missing-file", "is named and is not there")


def _named(text: str) -> Iterator[tuple[int, str]]:
    """Line and path of every file that a link or a word in backticks names."""
    for number, row in _outside_fences(text):
        for match in (*_LINK.finditer(row), *_SPAN.finditer(row)):
            target = next(filter(None, match.groups()), "")
            path = unquote(target).partition("#")[0]
            if path and "\0" not in path and not _ELSEWHERE.match(target):
                yield number, path


def _outside_fences(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, without the examples in fences."""
    fence = ""
    for number, row in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(row)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if not fence:
            yield number, row
