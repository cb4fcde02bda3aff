"""One gitignore pattern as a regular expression, byte for byte as git's ``wildmatch.c`` and ``dir.c`` match it.

Patterns and names are strings of bytes (decoded as Latin-1), because git's ``?`` and ``[…]`` stand for one byte.
"""

from __future__ import annotations

import re

_SPECIAL = frozenset("*?[\\")
_CHARACTER = r"(?:[^/\x80-\xff]|[\xc0-\xff][\x80-\xbf]*)"
_PRINTABLE = range(0x20, 0x7F)
_CLASSES: dict[str, frozenset[int]] = {
    "alnum": frozenset(c for c in _PRINTABLE if chr(c).isalnum()),
    "alpha": frozenset(c for c in _PRINTABLE if chr(c).isalpha()),
    "blank": frozenset(b" \t"),
    "cntrl": frozenset((*range(0x20), 0x7F)),
    "digit": frozenset(b"0123456789"),
    "graph": frozenset(range(0x21, 0x7F)),
    "lower": frozenset(c for c in _PRINTABLE if chr(c).islower()),
    "print": frozenset(_PRINTABLE),
    "punct": frozenset(c for c in range(0x21, 0x7F) if not chr(c).isalnum()),
    "space": frozenset(b" \t\n\r"),
    "upper": frozenset(c for c in _PRINTABLE if chr(c).isupper()),
    "xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


class NeverMatches(Exception):
    """The pattern is malformed in a way that makes git match nothing with it."""


def literal_length(pattern: str) -> int:
    """How many characters stand before the first one that has a meaning of its own."""
    for index, char in enumerate(pattern):
        if char in _SPECIAL:
            return index
    return len(pattern)


def lowered(text: str) -> str:
    """A string of bytes with its letters of ASCII in lower case, as git compares names where case is ignored."""
    return text.lower() if text.isascii() else text.encode("latin-1").lower().decode("latin-1")


def translate(pattern: str, *, any_character: bool = False, fold: bool = False) -> str:
    """The regular expression for ``fullmatch``, under which ``*`` and ``?`` do not cross a slash.

    ``pattern`` is without leading and trailing slash and without ``!``. With ``any_character`` a ``?`` stands for
    one UTF-8 character, and not as in git for one byte. With ``fold`` it matches names that were ``lowered`` as
    git's ``WM_CASEFOLD`` matches names in any case. Raises ``NeverMatches``. However many stars there are,
    matching takes no more than quadratic time: what stands between two stars is matched once, where it comes
    first, because the second star takes whatever a later place would have skipped.
    """
    # Git compares the literal beginning first and then matches the rest as a pattern of its own, so that
    # stars right behind it count as standing at the start: "foo**/bar" is "foo" and "**/bar".
    start = literal_length(pattern)
    stretches = [_Stretch("")]
    case = lowered if fold else str
    stretches[-1].pieces[-1].append(re.escape(case(pattern[:start])))
    at, end = start, len(pattern)
    while at < end:
        char = pattern[at]
        if char == "*":
            stop = at
            while stop < end and pattern[stop] == "*":
                stop += 1
            at_start = at == start or pattern[at - 1] == "/"
            if stop - at >= 2 and at_start and pattern.startswith("/", stop):
                stretches.append(_Stretch("(?:.*?/)??"))
                stop += 1
            elif stop - at >= 2 and at_start and (stop == end or pattern.startswith("\\/", stop)):
                stretches.append(_Stretch(".*?"))
            else:
                stretches[-1].pieces.append([])
            at = stop
        elif char == "?":
            stretches[-1].pieces[-1].append(_CHARACTER if any_character else "[^/]")
            at += 1
        elif char == "[":
            members, at = _bracket(pattern, at, fold)
            stretches[-1].pieces[-1].append(_set(members))
        elif char == "\\":
            if at + 1 == end:
                raise NeverMatches(pattern)
            stretches[-1].pieces[-1].append(re.escape(case(pattern[at + 1])))
            at += 2
        else:
            stretches[-1].pieces[-1].append(re.escape(case(char)))
            at += 1
    *inner, last = stretches
    return "".join(f"(?>{stretch.source(False)})" for stretch in inner) + last.source(True)


class _Stretch:
    """What stands between two double stars, as the pieces between its single stars."""

    def __init__(self, lead: str) -> None:
        self.lead = lead
        self.pieces: list[list[str]] = [[]]

    def source(self, last: bool) -> str:
        """``last``: it reaches to the end of the pattern, where its last star has to give way."""
        first, *others = ("".join(piece) for piece in self.pieces)
        out = self.lead + first
        for index, piece in enumerate(others, 1):
            out += f"[^/]*{piece}" if last and index == len(others) else f"(?>[^/]*?{piece})"
        return out


def _bracket(pattern: str, at: int, fold: bool) -> tuple[frozenset[int], int]:
    """The bytes that the bracket expression at ``at`` stands for, and the index behind it."""

    def char(index: int) -> str:
        if index >= len(pattern):
            raise NeverMatches(pattern)
        return pattern[index]

    at += 1
    negated = char(at) in "^!"
    if negated:
        at += 1
    members: set[int] = set()
    previous = ""
    while True:
        now = char(at)
        if now == "\\":
            at += 1
            now = char(at)
            members.add(ord(now))
        elif now == "-" and previous and at + 1 < len(pattern) and pattern[at + 1] != "]":
            at += 1
            last = char(at)
            if last == "\\":
                at += 1
                last = char(at)
            members.update(range(ord(previous), ord(last) + 1))
            now = ""
        elif now == "[" and pattern.startswith(":", at + 1):
            found, at = _class(pattern, at)
            members |= found
            now = "" if pattern[at] == "]" else now
        else:
            members.add(ord(now))
        previous = now
        at += 1
        if char(at) == "]":
            break
    if fold:
        members |= {code + 32 for code in members if 65 <= code <= 90}
    meant = frozenset(range(1, 256)) - members if negated else frozenset(members)
    return meant - {ord("/")}, at + 1


def _class(pattern: str, at: int) -> tuple[frozenset[int], int]:
    """The bytes of the class ``[:name:]`` at ``at`` and where it ends; a bracket that begins none means itself."""
    close = pattern.find("]", at + 2)
    if close < 0:
        raise NeverMatches(pattern)
    if close - at - 3 < 0 or pattern[close - 1] != ":":
        return frozenset(b"["), at
    name = pattern[at + 2 : close - 1]
    if name not in _CLASSES:
        raise NeverMatches(pattern)
    return _CLASSES[name], close


def _set(members: frozenset[int]) -> str:
    if not members:
        raise NeverMatches
    return "[" + "".join(f"\\x{code:02x}" for code in sorted(members)) + "]"
