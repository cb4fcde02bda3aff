"""The ``glob`` of the tools: a gitignore pattern with braces, matched against paths that a tool lists or searches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from steward.errors import UsageError
from steward.workspace.ignore import as_bytes
from steward.workspace.path import RepoPath, quoted
from steward.workspace.wildmatch import NeverMatches, translate

MAX_ALTERNATIVES = 64
MAX_LENGTH = 1000
_ENDING = re.compile(r"\*[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Glob:
    """Which paths are meant.

    A pattern without a slash matches the name of a file or of a directory above it, ``*.py`` or ``tests``; one
    with a slash matches the path from where the tool was pointed, or from the workspace. ``**`` crosses
    directories, ``{a,b}`` is either, a leading ``!`` means all others.
    """

    names: re.Pattern[str] | None
    paths: re.Pattern[str] | None
    negated: bool
    endings: tuple[str, ...] = ()
    """When it says no more than that a name ends in one of these."""

    @classmethod
    def parse(cls, text: str) -> Glob:
        """Raises ``UsageError`` for a pattern that can never match."""
        pattern = text.removeprefix("!")
        if len(pattern) > MAX_LENGTH:
            raise UsageError(f"The glob is longer than {MAX_LENGTH} characters.")
        names: list[str] = []
        paths: list[str] = []
        options = _alternatives(pattern)
        for option in options:
            body = option.removesuffix("/")
            try:
                source = translate(as_bytes(body.removeprefix("/")), any_character=True)
            except NeverMatches:
                raise UsageError(f"The glob {quoted(text)} is not well formed.") from None
            if not body.removeprefix("/"):
                raise UsageError(f"The glob {quoted(text)} is empty.")
            (paths if "/" in body else names).append(source)
        negated = text.startswith("!")
        plain = not negated and all(_ENDING.fullmatch(option) for option in options)
        endings = tuple(option[1:] for option in options) if plain else ()
        return cls(_any(names), _any(paths), negated, endings)

    def matches(self, path: RepoPath, start: RepoPath) -> bool:
        """Whether ``path`` is meant by a tool that was pointed at ``start``, which is above it (or is it)."""
        return self.matches_text(path.text, len(start.parts))

    def matches_text(self, path: str, depth: int) -> bool:
        """The same for the text of a path and the number of names in the start's."""
        parts = path.split("/")
        return self._found(parts, min(depth, len(parts) - 1)) != self.negated

    def _found(self, parts: list[str], skip: int) -> bool:
        if self.names is not None and any(self.names.fullmatch(as_bytes(name)) for name in parts[skip:]):
            return True
        if self.paths is None:
            return False
        for base in {0, skip}:
            for end in range(base + 1, len(parts) + 1):
                if end > skip and self.paths.fullmatch(as_bytes("/".join(parts[base:end]))):
                    return True
        return False


def _alternatives(pattern: str) -> list[str]:
    """The patterns that the braces of ``pattern`` stand for; braces that do not close mean themselves."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        now = waiting.pop()
        group = _braces(now)
        if group is None:
            done.append(now)
            continue
        start, commas, stop = group
        cuts = [start, *commas, stop]
        options = [now[a + 1 : b] for a, b in pairwise(cuts)]
        waiting.extend(now[:start] + option + now[stop + 1 :] for option in options)
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            raise UsageError(f"The glob has more than {MAX_ALTERNATIVES} alternatives.")
    return done


def _braces(pattern: str) -> tuple[int, list[int], int] | None:
    """Where the first innermost group with a comma starts, divides and stops."""
    start = -1
    commas: list[int] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "{":
            start, commas = at, []
        elif char == "," and start >= 0:
            commas.append(at)
        elif char == "}" and start >= 0:
            if commas:
                return start, commas, at
            start = -1
        at += 1
    return None


def _any(sources: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(f"(?:{source})" for source in sources), re.DOTALL) if sources else None
