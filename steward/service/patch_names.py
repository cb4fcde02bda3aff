"""The names of a patch's files: how git quotes them, which prefix they carry, when they mean that there is no file."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from steward.errors import UsageError

NOWHERE = "/dev/null"

_PREFIX = re.compile(r"[abciow12]/")
_ESCAPE = re.compile(rb'\\([abfnrtv"\\]|[0-7]{3})')
_PLAIN = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_ABSENT = re.compile(r"\((?:nonexistent|revision 0)\)")

Exists = Callable[[str], bool]
"""Whether a name is that of a file which the patch can change."""


def header_name(text: str) -> str | None:
    """The name in what follows ``---`` or ``+++``; ``None`` when it says that the file is not there on that side.

    ``text`` holds each byte as one character, as all texts of a patch do here.
    """
    quoted = _QUOTED.match(text)
    name, tab, stamp = (quoted[0], "", text[quoted.end() :].strip()) if quoted else text.partition("\t")
    if name in (NOWHERE, f'"{NOWHERE}"') or (tab and (_ABSENT.search(stamp) or _is_epoch(stamp))):
        return None
    return unquoted(name)


def unquoted(name: str) -> str:
    """The name without git's quotes. Raises ``UsageError`` when it is not UTF-8."""
    data = name.encode("latin-1")
    if len(data) >= 2 and data.startswith(b'"') and data.endswith(b'"'):
        data = _ESCAPE.sub(_unescaped, data[1:-1])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("A file in the patch has a name that is not UTF-8.") from None


def git_names(text: str) -> tuple[str, str] | None:
    """Both names after ``diff --git``, without their prefixes; ``None`` where they differ, or cannot be told apart."""
    first = _QUOTED.match(text)
    if first or text.endswith('"'):
        cut = first.end() if first else text.rfind(' "')
        pairs = [(text[:cut], text[cut + 1 :])]
    else:
        pairs = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == " "]
    for left, right in pairs:
        old, new = unquoted(left), unquoted(right)
        if old == new:
            return old, new
        if (bare := _bare(old)) is not None and bare == _bare(new):
            return bare, bare
    return None


def plain_names(
    old: str | None, new: str | None, other: str, exists: Exists
) -> tuple[str | None, str | None]:
    """The names of a file whose header is no git header, without prefixes: one file, since only git can rename.

    ``other`` is the name, however it was written, on the side that is ``None``.
    """
    if old is None and new is None:
        raise UsageError("A file in the patch has no name.")
    left, right = old or other, new or other
    given = [name for name in (right, left) if name and name != NOWHERE]
    bare = [part for name in given if (part := _bare(name)) is not None]
    if len(given) == len(bare) == 2 and given[0] != given[1] and bare[0] == bare[1]:
        names = [bare[0], *given]
    elif all(_PREFIX.match(name) for name in given) and (
        old is None or given[0] != given[-1] or len(given) == 1
    ):
        names = [*bare, *given]
    else:
        names = [*given, *bare]
    found = names[0] if old is None else next(filter(exists, names), names[0])
    return (None if old is None else found), (None if new is None else found)


def _bare(name: str) -> str | None:
    """The name without its first directory."""
    first, slash, rest = name.partition("/")
    return rest if slash and first and rest else None


def _is_epoch(stamp: str) -> bool:
    """Whether the time is the one that ``diff -N`` gives to a file that is not there."""
    found = re.match(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.0+)? ([-+]\d{4})", stamp)
    if found is None:
        return False
    try:
        return datetime.strptime(f"{found[1]} {found[2]}", "%Y-%m-%d %H:%M:%S %z").timestamp() == 0
    except (ValueError, OverflowError):
        return False


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _PLAIN.get(code, code)
