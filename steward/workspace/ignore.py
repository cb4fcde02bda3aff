"""Ignore files as git reads them: ``.gitignore`` in every directory, ``.git/info/exclude``, and ``.stewardignore``.

A file that git tracks although a rule ignores it counts as ignored here: the index is not read. Rules above
the workspace and the user's own (``core.excludesFile``) are not read either.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from functools import lru_cache

from steward.workspace.wildmatch import NeverMatches, literal_length, translate

IGNORE_FILES = (".gitignore", ".stewardignore")
"""The later one has the last word."""
MAX_IGNORE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file."""

    source: str
    """A regular expression."""
    negated: bool
    directories_only: bool
    by_name: bool
    """Whether it is matched against the last name alone, or against the path from the ignore file's directory."""


@dataclass(slots=True)
class Rules:
    """The rules of one directory's ignore files, in order, with an index that tells quickly when none can match."""

    rules: tuple[Rule, ...]
    _names: frozenset[str] = field(default=frozenset())
    _suffixes: tuple[str, ...] = ()
    _patterns: re.Pattern[str] | None = None
    _paths: re.Pattern[str] | None = None

    def verdict(self, name: str, path: str, directory: bool) -> bool | None:
        """Whether the last rule that matches ignores it; ``None`` when no rule matches.

        ``path`` is relative to the directory of the rules; both are byte strings (see ``as_bytes``).
        """
        if not (
            name in self._names
            or name.endswith(self._suffixes)
            or (self._patterns is not None and self._patterns.fullmatch(name))
            or (self._paths is not None and self._paths.fullmatch(path))
        ):
            return None
        for rule in reversed(self.rules):
            if rule.directories_only and not directory:
                continue
            if _compiled(rule.source).fullmatch(name if rule.by_name else path):
                return not rule.negated
        return None


Chain = tuple[tuple[Rules, int], ...]
"""The rules that govern one directory, nearest first, each with the number of names above its own directory."""


@lru_cache(maxsize=512)
def parse(data: bytes) -> Rules:
    """The rules of an ignore file's bytes."""
    rules: list[Rule] = []
    names: set[str] = set()
    suffixes: set[str] = set()
    patterns: list[str] = []
    paths: list[str] = []
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = raw.removesuffix(b"\r").split(b"\0", 1)[0].decode("latin-1")
        if not text or text.startswith("#"):
            continue
        text = _trimmed(text)
        negated = text.startswith("!")
        text = text.removeprefix("!")
        directories_only = text.endswith("/")
        text = text.removesuffix("/")
        by_name = "/" not in text
        text = text.removeprefix("/")
        if not text:
            continue
        try:
            source = translate(text)
        except NeverMatches:
            continue
        rules.append(Rule(source, negated, directories_only, by_name))
        if not by_name:
            paths.append(source)
        elif literal_length(text) == len(text):
            names.add(text)
        elif text[0] == "*" and literal_length(text[1:]) == len(text) - 1:
            suffixes.add(text[1:])
        else:
            patterns.append(source)
    return Rules(tuple(rules), frozenset(names), tuple(sorted(suffixes)), _any(patterns), _any(paths))


def ignored(chain: Chain, parts: tuple[str, ...], directory: bool) -> bool:
    """Whether the nearest rules that have an opinion ignore the path; its directory must not be ignored itself."""
    name = as_bytes(parts[-1])
    for rules, depth in chain:
        verdict = rules.verdict(name, as_bytes("/".join(parts[depth:])), directory)
        if verdict is not None:
            return verdict
    return False


def as_bytes(name: str) -> str:
    """A name as the string of its bytes, which is what patterns are matched against."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def _trimmed(text: str) -> str:
    """Without trailing spaces, except where a backslash protects one."""
    end = len(text)
    while end and text[end - 1] == " ":
        end -= 1
    if end < len(text):
        slashes = end - len(text[:end].rstrip("\\"))
        if slashes % 2:
            end += 1
    return text[:end]


@lru_cache(maxsize=4096)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.DOTALL)


def _any(sources: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{source})" for source in sources), re.DOTALL) if sources else None
