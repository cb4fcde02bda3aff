"""Git's configuration as text: its settings, and the files that it includes when a condition holds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steward.workspace.wildmatch import NeverMatches, lowered, translate

MAX_INCLUDES = 10

_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(=|$|[#;])")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_TRUE = ("true", "yes", "on")


@dataclass(frozen=True, slots=True)
class Around:
    """What a conditional include may ask of the repository. Paths are as ``os.fsdecode`` gives them."""

    home: str
    read: Callable[[str], str]
    """The text of a configuration file, empty where there is none."""
    directory: str = ""
    """Git's directory, absolute; empty where there is none."""
    branch: str = ""
    """The branch that is checked out."""
    remotes: tuple[str, ...] = ()
    """The URLs of the repository's remotes."""


def settings(text: str, file: str, around: Around, depth: int = MAX_INCLUDES) -> Iterator[tuple[str, str]]:
    """All settings in order, those of included files among them, as ``section.subsection.name`` and value.

    ``file`` is where the text stands, against which includes are relative; without one they are not followed.
    """
    for key, value in _lines(text):
        yield key, value
        condition = _condition(key)
        if condition is not None and file and depth and _holds(condition, file, around):
            place = _beside(file, value, around.home)
            yield from settings(around.read(place), place, around, depth - 1)


def included(text: str, file: str, around: Around, depth: int = MAX_INCLUDES) -> Iterator[str]:
    """Every file that may be included, whatever the conditions say now."""
    for key, value in _lines(text):
        if _condition(key) is not None and depth:
            place = _beside(file, value, around.home)
            yield place
            yield from included(around.read(place), place, around, depth - 1)


def is_true(value: str) -> bool:
    """Whether a setting says yes."""
    return value.lower() in _TRUE or (value.isascii() and value.isdigit() and int(value) != 0)


def expanded(path: str, home: str) -> str:
    """A path in which ``~/`` is the home directory."""
    return home + path[1:] if path.startswith("~/") and home else path


def _condition(key: str) -> str | None:
    """The condition under which a setting includes a file, empty for none; ``None`` when it includes nothing."""
    if key == "include.path":
        return ""
    return key[10:-5] if key.startswith("includeif.") and key.endswith(".path") else None


def _beside(file: str, path: str, home: str) -> str:
    return os.path.join(os.path.dirname(file), expanded(path, home))  # noqa: PTH120 -- strings all the way


def _holds(condition: str, file: str, around: Around) -> bool:
    kind, _, pattern = condition.partition(":")
    match kind:
        case "":
            return not condition
        case "gitdir" | "gitdir/i":
            return bool(around.directory) and _lies(pattern, file, around, fold=kind == "gitdir/i")
        case "onbranch":
            return bool(around.branch) and _matches(_deep(pattern), around.branch)
        case "hasconfig":
            wanted = pattern.removeprefix("remote.*.url:")
            return wanted != pattern and any(_matches(wanted, url) for url in around.remotes)
        case _:
            return False


def _lies(pattern: str, file: str, around: Around, *, fold: bool) -> bool:
    """Whether git's directory is where a pattern says; what stands before its first wildcard means itself."""
    literal = ""
    if pattern.startswith("./"):
        literal = os.path.dirname(os.path.realpath(file)) + "/"  # noqa: PTH120 -- strings all the way
        pattern = pattern[2:]
    elif pattern.startswith("~/"):
        pattern = os.path.realpath(around.home) + pattern[1:]
    elif not pattern.startswith("/"):
        pattern = f"**/{pattern}"
    for directory in (os.path.realpath(around.directory), around.directory):
        begins = directory[: len(literal)]
        if (begins.lower() == literal.lower() if fold else begins == literal) and _matches(
            _deep(pattern), directory[len(literal) :], fold=fold
        ):
            return True
    return False


def _deep(pattern: str) -> str:
    return f"{pattern}**" if pattern.endswith("/") else pattern


def _matches(pattern: str, text: str, *, fold: bool = False) -> bool:
    wanted, given = (os.fsencode(each).decode("latin-1") for each in (pattern, text))
    try:
        source = translate(wanted, fold=fold)
    except NeverMatches:
        return False
    return re.fullmatch(source, lowered(given) if fold else given, re.DOTALL) is not None


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The settings of one text in order."""
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        found = _SECTION.match(line)
        if found is not None:
            below = None if found[2] is None else re.sub(r"\\(.)", r"\1", found[2])
            section = found[1].lower() if below is None else f"{found[1].lower()}.{below}"
            line = line[found.end() :]
        named = _SETTING.match(line)
        if named is not None:
            value = _value(line[named.end() :]) if named[2] == "=" else "true"
            yield f"{section}.{named[1].lower()}", value


def _value(text: str) -> str:
    """A value without its quotes, escapes, comment and the space around it."""
    out: list[str] = []
    solid = 0
    quoted = False
    characters = iter(text.lstrip())
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            out.append(_ESCAPES.get(escaped, escaped))
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
            if char.isspace() and not quoted:
                continue
        solid = len(out)
    return "".join(out[:solid])
