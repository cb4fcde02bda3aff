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

    @classmethod
    def parse(cls, text: str) -> Glob:
        """Raises ``UsageError`` for a pattern that can never match."""
        pattern = text.removeprefix("!")
        if len(pattern) > MAX_LENGTH:
            raise UsageError(f"The glob is longer than {MAX_LENGTH} characters.")
        names: list[str] = []
        paths: list[str] = []
        for option in _alternatives(pattern):
            body = option.removesuffix("/")
            try:
                source = translate(as_bytes(body.removeprefix("/")), any_character=True)
            except NeverMatches:
                raise UsageError(f"The glob {quoted(text)} is not well formed.") from None
            if not body.removeprefix("/"):
                raise UsageError(f"The glob {quoted(text)} is empty.")
            (paths if "/" in body else names).append(source)
        return cls(_any(names), _any(paths), text.startswith("!"))

    def matches(self, path: RepoPath, start: RepoPath) -> bool:
        """Whether ``path`` is meant by a tool that was pointed at ``start``, which is above it (or is it)."""
        return self._found(path, start) != self.negated

    def _found(self, path: RepoPath, start: RepoPath) -> bool:
        skip = min(len(start.parts), len(path.parts) - 1)
        if self.names is not None and any(self.names.fullmatch(as_bytes(name)) for name in path.parts[skip:]):
            return True
        if self.paths is None:
            return False
        for base in {0, skip}:
            for end in range(base + 1, len(path.parts) + 1):
                if end > skip and self.paths.fullmatch(as_bytes("/".join(path.parts[base:end]))):
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
