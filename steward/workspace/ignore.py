"""Ignore files as git reads them, and ``.stewardignore``: which names of a directory their rules leave out."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from steward.workspace.wildmatch import NeverMatches, literal_length, lowered, translate

IGNORE_FILES = (".gitignore", ".stewardignore")
"""The later one has the last word."""
MAX_IGNORE_BYTES = 256 * 1024
FEW_ENDINGS = 12
"""So many, each name can be asked for; of more, those are found first that are there at all."""

Verdict = Literal["kept", "git", "steward"]
"""What a rule says of a path: it is kept, or ignored by git's rules or by the steward's own."""

_SIMPLE = re.compile(r"(?:\*(?=\.)|/)?[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?")
"""Patterns that every program that reads ignore files understands in the same way."""
_PLAIN_ENDING = re.compile(r"[^.*?\[\\]+")


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
        self._index = _Index(rules)

    def verdict(self, name: str, path: str, directory: bool) -> Verdict | None:
        """What the last rule that matches says; ``None`` when no rule matches.

        ``path`` is relative to the directory of the rules; both are byte strings (see ``as_bytes``).
        """
        directories = (name,) if directory else ()
        return self.verdicts([name], directories, f"/{name}/", path[: len(path) - len(name)]).get(name)

    def verdicts(
        self, names: list[str], directories: Collection[str], joined: str, above: str
    ) -> dict[str, Verdict]:
        """The same for many names at once, as far as a rule matches them.

        ``directories`` are those of the names that are directories. ``joined`` is all names, perhaps among others, with
        a slash before and after each; ``above`` is where they stand, from the directory of the rules: empty, or with
        a slash at its end.
        """
        if self._fold:
            last = self._folded(names, directories, lowered(joined), lowered(above))
        else:
            last = self._index.last(names, directories, joined, above)
        if not last:
            return {}
        ignored: Verdict = "steward" if self.steward else "git"
        return {name: "kept" if self.rules[number].negated else ignored for name, number in last.items()}

    def _folded(
        self, names: list[str], directories: Collection[str], joined: str, above: str
    ) -> dict[str, int]:
        # A file and a directory may have one name in lower case.
        last: dict[str, int] = {}
        for below in (False, True):
            low = {name: lowered(name) for name in names if (name in directories) is below}
            keys = list(set(low.values()))
            said = self._index.last(keys, frozenset(keys if below else ()), joined, above)
            last.update((name, said[key]) for name, key in low.items() if key in said)
        return last


_Numbers = tuple[int, int]
"""The number of the last rule that holds for files, and for directories; -1 is none."""


class _Index:
    """Rules by how they are matched, each with its number in the file."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._names: dict[str, _Numbers] = {}
        self._endings: dict[str, _Numbers] = {}
        """Suffixes with one dot, at their beginning."""
        self._paths: dict[str, dict[str, _Numbers]] = {}
        """Plain paths: names by the directory that they stand in, which ends in a slash."""
        others: list[_Other] = []
        for number, rule in enumerate(rules):
            text = rule.text
            numbers = (-1 if rule.directories_only else number, number)
            plain = literal_length(text) == len(text)
            if plain and rule.by_name:
                _set_last(self._names, text, numbers)
            elif plain:
                above, slash, name = text.rpartition("/")
                _set_last(self._paths.setdefault(above + slash, {}), name, numbers)
            elif rule.by_name and text[:2] == "*." and _PLAIN_ENDING.fullmatch(text, 2):
                _set_last(self._endings, text[1:], numbers)
            else:
                others.append((_needle(text), rule, numbers))
        self._known = frozenset(self._names)
        self._few = tuple(self._endings) if len(self._endings) <= FEW_ENDINGS else ()
        self._ending = _any_of([ending[1:] for ending in self._endings], r"\.", "(?=/)")
        self._others = _grouped(others)

    def last(self, names: list[str], directories: Collection[str], joined: str, above: str) -> dict[str, int]:
        """The number of the last rule that matches, for each name that one does; see ``Rules.verdicts``."""
        hits = [(name, self._names[name]) for name in self._known.intersection(names)]
        if self._ending is not None and (present := self._few or tuple(set(self._ending.findall(joined)))):
            hits += [(n, self._endings[n[n.rfind(".") :]]) for n in names if n.endswith(present)]
        if above in self._paths:
            of = self._paths[above]
            hits += [(name, of[name]) for name in of.keys() & names]
        for likely, others in self._others:
            if likely is not None and likely.search(joined) is None:
                continue
            for needle, rule, numbers in others:
                if needle in joined:
                    match = _compiled(rule.source).fullmatch
                    hits += [(n, numbers) for n in names if match(n if rule.by_name else above + n)]
        found: dict[str, int] = {}
        for name, numbers in hits:
            number = numbers[name in directories]
            if number > found.get(name, -1):
                found[name] = number
        return found


_Other = tuple[str, Rule, _Numbers]
"""A rule after a text that is in ``joined`` (see ``Rules.verdicts``) whenever the rule matches one of the names."""


def _grouped(others: list[_Other]) -> tuple[tuple[re.Pattern[str] | None, list[_Other]], ...]:
    """Rules by the first character of their texts, each group after an expression for any of these texts.

    One expression that begins with a plain character is looked for much faster than each text by itself.
    """
    groups: dict[str, list[_Other]] = {}
    for other in others:
        groups.setdefault(other[0][:1], []).append(other)
    return tuple(
        (_any_of([needle[1:] for needle, _, _ in group], re.escape(first)) if first else None, group)
        for first, group in groups.items()
    )


def _any_of(texts: list[str], before: str, after: str = "") -> re.Pattern[str] | None:
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, texts))}){after}") if texts else None


def _set_last(numbers: dict[str, _Numbers], key: str, later: _Numbers) -> None:
    before = numbers.get(key, (-1, -1))
    numbers[key] = (max(before[0], later[0]), later[1])


def _needle(pattern: str) -> str:
    """A text that stands in ``joined`` (see ``Rules.verdicts``) when a name in it matches the pattern."""
    above, _, name = pattern.rpartition("/")
    if "[" in above or above.endswith("\\"):
        return ""  # The slash may be one of a set, or be meant otherwise.
    start, rest = _literal_start(name)
    if start:
        return f"/{start}" if rest else f"/{start}/"
    start, rest = _literal_start(name.lstrip("*?"))
    return start if rest else f"{start}/"


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
