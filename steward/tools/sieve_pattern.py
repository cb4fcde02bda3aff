"""A query as a pattern for ripgrep that matches every line the query matches, and perhaps others.

Python's regular expressions and ripgrep's differ, so ripgrep only ever chooses the files that are worth a look. Its
pattern is made of bytes: a character that need not be ASCII is one to four bytes, and what ripgrep does not know
(look-around, back references, word boundaries) is left out or stands for anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HIGH = r"\x80-\xff"
_ANYTHING = r"[^\n]*"
_LINE_START = "(?:^)"
"""A byte order mark before the first line is taken off by ripgrep as it is here."""
_LINE_END = r"(?:\r?$)"
_COUNT = re.compile(r"\{(?:(\d{1,3})(?:(,)(\d{1,3})?)?|,(\d{1,3}))\}")
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_NAMED = re.compile(r"\(\?P?<[A-Za-z_]\w*>")
_REFERENCE = re.compile(r"\(\?P=[A-Za-z_]\w*\)")
_PROPERTY = re.compile(r"\\(?:[pP](?:\{[^{}]*\}|[A-Za-z])|N\{[^{}]*\})")
_CODE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_CLASSES = {
    "d": r"0-9" + _HIGH,
    "w": r"0-9A-Za-z_" + _HIGH,
    "s": r"\t\x0b\x0c\r\x20" + _HIGH,
    "D": r"\x00-\x09\x0b-/:-\xff",
    "W": r"\x00-\x09\x0b-/:-@\[-\^`{-\xff",
    "S": r"\x00-\x08\x0e-\x1f!-\xff",
}
_VAGUE = r"\x00-\x09\x0b-\xff"
_CONTROLS = {"t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_FOLDED = {"i": r"(?:[iI]|\xc4[\xb0\xb1])", "k": r"(?:[kK]|\xe2\x84\xaa)", "s": r"(?:[sS]|\xc5\xbf)"}
"""Letters of ASCII that have further cases, with these."""


class _Unknown(Exception):
    """The pattern holds something whose meaning is not sure to be kept."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the pattern. When ``wide`` it is a set of bytes, of which one character takes one to four."""

    text: str
    wide: bool = False

    def once(self) -> str:
        return f"{self.text}{{1,4}}" if self.wide else self.text

    def times(self, least: int, most: int | None) -> str:
        top = "" if most is None else str(most * 4 if self.wide else most)
        return f"{self.text}{{{least},{top}}}"


def sieve_pattern(query: str, *, regex: bool, ignore_case: bool) -> tuple[str, bool] | None:
    """The pattern, and whether it is a plain text; ``None`` when there is no pattern that is sure to do."""
    if "\0" in query or "\n" in query or any("\ud800" <= char <= "\udfff" for char in query):
        return None
    if not regex and not ignore_case:
        return query, True
    try:
        found = _Translator(query, ignore_case).whole() if regex else _literally(query, ignore_case)
    except _Unknown:
        return None
    return "(?-u)" + found, False


def _literally(text: str, ignore_case: bool) -> str:
    return "".join(_character(char, ignore_case).once() for char in text)


def _character(char: str, ignore_case: bool) -> _Piece:
    if not char.isascii():
        if ignore_case:
            return _Piece(f"[A-Za-z{_HIGH}]", wide=True)
        return _Piece("(?:" + "".join(f"\\x{byte:02x}" for byte in char.encode()) + ")")
    if ignore_case and char.isalpha():
        return _Piece(_FOLDED.get(char.lower(), f"[{char.lower()}{char.upper()}]"))
    return _Piece(_escaped(char))


def _escaped(char: str) -> str:
    return char if char.isalnum() else f"\\x{ord(char):02x}"


class _Translator:
    def __init__(self, source: str, ignore_case: bool) -> None:
        flags = _FLAGS.match(source)
        self._at: int = flags.end() if flags else 0
        self._source = source
        self._ignore_case = ignore_case or (flags is not None and "i" in flags[1])
        self._ended = False
        """Whether the end of a line was asked for; a line begins behind it when it is empty but for its CR."""

    def whole(self) -> str:
        found = self._alternatives()
        if self._at < len(self._source):
            raise _Unknown
        return found

    def _alternatives(self) -> str:
        options = [""]
        before, ended = self._ended, False
        while self._at < len(self._source) and self._source[self._at] != ")":
            if self._source[self._at] == "|":
                self._at += 1
                options.append("")
                ended, self._ended = ended or self._ended, before
            else:
                closed = self._ended
                atom = self._atom()
                options[-1] += self._repeated(atom, ends=self._ended and not closed)
        self._ended = self._ended or ended
        return "|".join(options)

    def _repeated(self, piece: _Piece, *, ends: bool) -> str:
        """The piece as often as is asked for; ``ends``: the end of a line is in it."""
        rest = self._source[self._at : self._at + 10]
        count = _COUNT.match(rest)
        if rest[:1] and rest[0] in "*+?":
            least, most = (0, None) if rest[0] == "*" else (1, None) if rest[0] == "+" else (0, 1)
            self._at += 1
        elif count is not None:
            low, comma, high, alone = count.groups()
            least = int(low or 0)
            most = int(high or alone) if high or alone else None if comma else least
            self._at += count.end()
        else:
            return piece.once()
        if ends and most != 1:
            raise _Unknown
        if self._source.startswith(("?", "+"), self._at):
            self._at += 1  # Lazy and possessive ones match in no other line than the greedy one may.
        return piece.times(least, most)

    def _atom(self) -> _Piece:
        source, at = self._source, self._at
        char = source[at]
        if char == "(":
            return _Piece(self._group())
        if char == "[":
            return _Piece(self._set(), wide=True)
        if char == "\\":
            return self._escape()
        self._at += 1
        match char:
            case ".":
                return _Piece(r"[^\n]", wide=True)
            case "^":
                return self._start()
            case "$":
                return self._end()
            case "*" | "+" | "?":
                raise _Unknown
            case "{" if re.match(r"[\w\s,~}]", source[at + 1 : at + 2]):
                raise _Unknown
            case _:
                return _character(char, self._ignore_case)

    def _group(self) -> str:
        source, at = self._source, self._at
        if reference := _REFERENCE.match(source, at):
            self._at = reference.end()
            return f"(?:{_ANYTHING})"
        if source.startswith("(?#", at):
            self._at = source.find(")", at) + 1
            if not self._at:
                raise _Unknown
            return "(?:)"
        around = source.startswith(("(?=", "(?!", "(?<=", "(?<!"), at)
        if around:
            self._at += 4 if source[at + 2] == "<" else 3
        elif source.startswith(("(?:", "(?>"), at):
            self._at += 3
        elif named := _NAMED.match(source, at):
            self._at = named.end()
        elif source.startswith(("(?", "(*"), at):
            raise _Unknown
        else:
            self._at += 1
        inner = self._alternatives()
        if not source.startswith(")", self._at):
            raise _Unknown
        self._at += 1
        return "(?:)" if around else f"(?:{inner})"

    def _escape(self) -> _Piece:
        source, at = self._source, self._at
        if prop := _PROPERTY.match(source, at):
            self._at = prop.end()
            return _Piece(r"[^\n]", wide=True)
        if code := self._code():
            return _character(code, self._ignore_case)
        char = source[at + 1 : at + 2]
        self._at += 2
        if char in _CLASSES:
            return _Piece(f"[{_CLASSES[char]}]", wide=True)
        if char in ("b", "B"):
            return _Piece("(?:)")
        if char == "A":
            return self._start()
        if char == "Z":
            return self._end()
        if char in "123456789" and not source[at + 2 : at + 3].isdigit():
            return _Piece(f"(?:{_ANYTHING})")
        return _character(self._plain(char), self._ignore_case)

    def _start(self) -> _Piece:
        if self._ended:
            raise _Unknown
        return _Piece(_LINE_START)

    def _end(self) -> _Piece:
        self._ended = True
        return _Piece(_LINE_END)

    def _code(self) -> str:
        """The character of a hexadecimal escape, if one stands here."""
        found = _CODE.match(self._source, self._at)
        if found is None:
            return ""
        number = int(found[found.lastindex or 0], 16)
        if number > 0x10FFFF or number in (0, 10) or 0xD800 <= number <= 0xDFFF:
            raise _Unknown
        self._at = found.end()
        return chr(number)

    def _plain(self, char: str) -> str:
        """The character that an escaped one stands for."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if not char or (char.isascii() and char.isalnum()):
            raise _Unknown
        return char

    def _set(self) -> str:
        """A set of bytes that holds every byte of every character of the set."""
        source = self._source
        self._at += 1
        negated = source.startswith("^", self._at)
        self._at += negated
        found: list[str] = []
        first = True
        while first or not source.startswith("]", self._at):
            first = False
            low = self._member()
            if len(low) > 1:
                found.append(low)
                continue
            high = low
            if source.startswith("-", self._at) and not source.startswith("-]", self._at):
                self._at += 1
                high = self._member()
                if len(high) > 1:
                    raise _Unknown
            found.append(self._range(low, high))
        self._at += 1
        return self._negated(found) if negated else f"[{''.join(found)}]"

    def _negated(self, found: list[str]) -> str:
        # What is not ASCII may always be outside of the set, and in another case anything may.
        if self._ignore_case or _VAGUE in found:
            return r"[^\n]"
        try:
            inside = re.compile(f"[{''.join(found)}]".encode("latin-1"))
        except re.error:
            raise _Unknown from None
        outside = [n for n in range(128) if n != 10 and not inside.match(bytes([n]))]
        return "[" + "".join(f"\\x{n:02x}" for n in outside) + _HIGH + "]"

    def _member(self) -> str:
        """One character of a set, or (longer than that) a class of them."""
        source, at = self._source, self._at
        char = source[at : at + 1]
        if not char or source.startswith(("[:", "&&", "||", "--", "~~"), at):
            raise _Unknown
        if char != "\\":
            self._at += 1
            return char
        if prop := _PROPERTY.match(source, at):
            self._at = prop.end()
            return _VAGUE
        if code := self._code():
            return code
        char = source[at + 1 : at + 2]
        self._at += 2
        return _CLASSES[char] if char in _CLASSES else self._plain(char)

    def _range(self, low: str, high: str) -> str:
        start, end = ord(low), ord(high)
        found = ""
        if start < 128:
            found = f"\\x{start:02x}-\\x{min(end, 127):02x}"
        if end > 127:
            found += _HIGH
        if self._ignore_case:
            touched = {chr(n) for n in range(start, min(end, 127) + 1)} if start < 128 else set[str]()
            letters = "".join(sorted({c.swapcase() for c in touched if c.isalpha()}))
            # Some letters of ASCII have cases that are not ASCII.
            found += letters + _HIGH + ("A-Za-z" if end > 127 else "")
        return found
