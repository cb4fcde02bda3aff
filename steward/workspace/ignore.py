"""Ignore files as git reads them, and ``.stewardignore``: which names of a directory their rules leave out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from steward.workspace.wildmatch import NeverMatches, literal_length, lowered, translate

IGNORE_FILES = (".gitignore", ".stewardignore")
"""The later one has the last word."""
MAX_IGNORE_BYTES = 256 * 1024

Verdict = Literal["kept", "git", "steward"]
"""What a rule says of a path: it is kept, or ignored by git's rules or by the steward's own."""

_SIMPLE = re.compile(r"(?:\*(?=\.)|/)?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?")
"""Patterns that every program that reads ignore files understands in the same way."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file."""

    text: str
    """The pattern, as a string of bytes, without the slashes and marks around it."""
    source: str
    """A regular expression."""
    negated: bool
    directories_only: bool
    by_name: bool
    """Whether it is matched against the last name alone, or against the path from the ignore file's directory."""
    simple: str = ""
    """The line itself, when it ignores something and any program reads it in the same way."""


class Rules:
    """The rules of one ignore file, in order, with an index that tells quickly which names they match."""

    def __init__(self, rules: tuple[Rule, ...], steward: bool = False, fold: bool = False) -> None:
        self.rules = rules
        self.steward = steward
        """Whether they come from a ``.stewardignore``: such rules hold for what git tracks too."""
        self._fold = fold
        """Whether they match names in any case."""
        self._of_files = _Index([(n, rule) for n, rule in enumerate(rules) if not rule.directories_only])
        self._of_directories = _Index(list(enumerate(rules)))

    def verdict(self, name: str, path: str, directory: bool) -> Verdict | None:
        """What the last rule that matches says; ``None`` when no rule matches.

        ``path`` is relative to the directory of the rules; both are byte strings (see ``as_bytes``).
        """
        return self.verdicts([name], directory, f"/{name}/", path[: len(path) - len(name)]).get(name)

    def verdicts(self, names: list[str], directories: bool, joined: str, above: str) -> dict[str, Verdict]:
        """The same for many names at once, as far as a rule matches them.

        ``joined`` is all names, perhaps among others, with a slash before and after each; ``above`` is where they
        stand, from the directory of the rules: empty, or with a slash at its end.
        """
        index = self._of_directories if directories else self._of_files
        if self._fold:
            plain = {name: lowered(name) for name in names}
            said = index.last(list(set(plain.values())), lowered(joined), lowered(above))
            last = {name: said[low] for name, low in plain.items() if low in said}
        else:
            last = index.last(names, joined, above)
        ignored: Verdict = "steward" if self.steward else "git"
        return {name: "kept" if self.rules[number].negated else ignored for name, number in last.items()}


class _Index:
    """Rules by how they are matched, each with its number in the file."""

    def __init__(self, rules: list[tuple[int, Rule]]) -> None:
        self._names: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        """Suffixes with one dot, at their beginning."""
        self._suffixes: list[tuple[str, int]] = []
        self._paths: dict[str, dict[str, int]] = {}
        """Plain paths: names by the directory that they stand in, which ends in a slash."""
        self._others: list[tuple[int, Rule, str]] = []
        """Each with a text that is in ``joined`` whenever it matches one of the names."""
        for number, rule in rules:
            text = rule.text
            plain = literal_length(text) == len(text)
            if plain and rule.by_name:
                self._names[text] = number
            elif plain:
                above, slash, name = text.rpartition("/")
                self._paths.setdefault(above + slash, {})[name] = number
            elif rule.by_name and text[0] == "*" and literal_length(text[1:]) == len(text) - 1:
                one_dot = text[1:2] == "." and "." not in text[2:]
                if one_dot:
                    self._endings[text[1:]] = number
                else:
                    self._suffixes.append((text[1:], number))
            else:
                self._others.append((number, rule, _needle(text)))
        self._known = frozenset(self._names)

    def last(self, names: list[str], joined: str, above: str) -> dict[str, int]:
        """The number of the last rule that matches, for each name that one does; see ``Rules.verdicts``."""
        found = {name: self._names[name] for name in self._known.intersection(names)}
        if self._endings:
            number_of = self._endings.get
            for name in names:
                number = number_of(name[name.rfind(".") :])
                if number is not None and number > found.get(name, -1):
                    found[name] = number
        if above in self._paths:
            numbers = self._paths[above]
            for name in numbers.keys() & names:
                found[name] = max(numbers[name], found.get(name, -1))
        for suffix, number in self._suffixes:
            if suffix + "/" in joined:
                for name in names:
                    if name.endswith(suffix) and number > found.get(name, -1):
                        found[name] = number
        for number, rule, needle in self._others:
            if needle in joined:
                match = _compiled(rule.source).fullmatch
                for name in names:
                    if match(name if rule.by_name else above + name) and number > found.get(name, -1):
                        found[name] = number
        return found


def _needle(pattern: str) -> str:
    """A text that stands in ``joined`` (see ``Rules.verdicts``) when a name in it matches the pattern."""
    above, _, name = pattern.rpartition("/")
    if "[" in above or above.endswith("\\"):
        return ""  # The slash may be one of a set, or be meant otherwise.
    start, rest = _literal_start(name)
    if start:
        return f"/{start}" if rest else f"/{start}/"
    return _literal_start(name.lstrip("*?"))[0]


def _literal_start(pattern: str) -> tuple[str, str]:
    """What a pattern begins with literally, without its backslashes, and the rest."""
    out = ""
    at = 0
    while at < len(pattern) and pattern[at] not in "*?[":
        at += pattern[at] == "\\"
        out += pattern[at : at + 1]
        at += 1
    return out, pattern[at:]


@dataclass(frozen=True, slots=True)
class Governing:
    """The rules of one ignore file where they apply: ``depth`` is the number of names above its directory."""

    rules: Rules
    depth: int
    above: str = ""
    """For a directory above the workspace: the way from it down to the workspace, with a slash at its end."""

    def path(self, parts: tuple[str, ...]) -> str:
        """A path of the workspace from the directory of the rules, as a string of bytes."""
        return as_bytes(self.above + "/".join(parts[self.depth :]))


Chain = tuple[Governing, ...]
"""The rules that govern one directory, nearest first."""


@lru_cache(maxsize=512)
def parse(data: bytes, *, steward: bool = False, fold: bool = False) -> Rules:
    """The rules of an ignore file's bytes; ``fold``: they match names in any case (git's ``core.ignoreCase``)."""
    rules: list[Rule] = []
    for raw in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        line = raw.removesuffix(b"\r").split(b"\0", 1)[0].decode("latin-1")
        if not line or line.startswith("#"):
            continue
        line = _trimmed(line)
        negated = line.startswith("!")
        text = line.removeprefix("!")
        directories_only = text.endswith("/")
        text = text.removesuffix("/")
        by_name = "/" not in text
        text = text.removeprefix("/")
        if not text:
            continue
        try:
            source = translate(text, fold=fold)
        except NeverMatches:
            continue
        simple = line if not negated and _SIMPLE.fullmatch(line) else ""
        text = lowered(text) if fold else text
        rules.append(Rule(text, source, negated, directories_only, by_name, simple))
    return Rules(tuple(rules), steward, fold)


def verdict(chain: Iterable[Governing], parts: tuple[str, ...], directory: bool) -> Verdict | None:
    """What the nearest rules with an opinion say of a path; its directory must not be ignored itself."""
    name = as_bytes(parts[-1])
    for governing in chain:
        found = governing.rules.verdict(name, governing.path(parts), directory)
        if found is not None:
            return found
    return None


def ignored(chain: Iterable[Governing], parts: tuple[str, ...], directory: bool) -> bool:
    """Whether the rules leave the path out, were it not tracked."""
    return verdict(chain, parts, directory) in ("git", "steward")


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
