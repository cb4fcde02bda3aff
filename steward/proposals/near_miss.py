"""Why an old text was not found: the nearest lines, and what differs between them and what was asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from steward.visible import visible

_MOST_FOLDED = 4_000_000
"""Texts longer than this many characters are only searched for their nearest lines."""
_MOST_LINES = 40_000
"""Lines of the file that are compared, at most."""
_WIDTH = 160
"""Characters of a line that is shown, at most."""
_SHOWN_LINES = 6
_PROBES = 4
"""Lines of the old text that the nearest place is looked for by: its longest."""

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
    }
)
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f]")
_NUMBERED = re.compile(r"^[ \t]*(?:L?\d+(?: *[:|→│] ?|\t|   ?)|\d+  ?)", re.MULTILINE)
_NUMBERED_TIGHT = re.compile(r"^[ \t]*L?\d+(?: *[:|→│] ?| *\t)", re.MULTILINE)
_DIFF_SIGN = re.compile(r"^[+\- ]", re.MULTILINE)
_MARK = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩|[\u2400-\u2421]")
_ELLIPSIS = re.compile(
    r"(?m)^[ \t]*(?:(?:#|//|--|/\*|<!--)[ \t]*)?(?:\.{3}|…)|(?:\.{3}|…) ?(?:existing|rest)\b"
)
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}


@dataclass(frozen=True, slots=True)
class _Fold:
    """A difference that is set aside on both sides (``text`` too when ``both``) to see whether the rest agrees."""

    says: str
    fold: Callable[[str], str]
    both: bool = True


def _without_trailing_blanks(text: str) -> str:
    # Line by line: a pattern would look at a long run of blanks again from each of them.
    return "\n".join(
        line[:-1].rstrip(" \t") + "\r" if line.endswith("\r") else line.rstrip(" \t")
        for line in text.split("\n")
    )


def _unescape(text: str) -> str:
    return re.sub(r"\\[nt\"'\\]", lambda m: _ESCAPES[m[0]], text)


def _entities(text: str) -> str:
    return re.sub(r"&(?:lt|gt|quot|#39|amp);", lambda m: _ENTITIES[m[0]], text)


def _unmark(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(min(int(match[1], 16), 0x10FFFF))
        return "\x7f" if match[0] == "\u2421" else chr(ord(match[0]) - 0x2400)

    return _MARK.sub(character, text)


# Every fold keeps the number of LF before a place, so that line numbers hold, save the one-sided last ones.
_FOLDS: tuple[_Fold, ...] = (
    _Fold("CRLF and LF line endings", lambda t: t.replace("\r\n", "\n")),
    _Fold("a carriage return (CR) that is alone", lambda t: t.replace("\r", "")),
    _Fold("spaces or tabs at line ends", _without_trailing_blanks),
    _Fold("a tab where the other has spaces", lambda t: t.expandtabs(4)),
    _Fold("tabs or how many spaces", lambda t: re.sub(r"[ \t]+", " ", t)),
    _Fold("the depth of indentation (spaces or tabs)", lambda t: re.sub(r"(?m)^[ \t]+", "", t)),
    _Fold("odd spaces such as NBSP (no-break space)", lambda t: _ODD_SPACES.sub(" ", t)),
    _Fold("invisible characters", lambda t: _ZERO_WIDTH.sub("", t)),
    _Fold("curly and straight quotes, or dashes", lambda t: t.translate(_QUOTES)),
    _Fold("Unicode composition (NFC and NFD)", lambda t: unicodedata.normalize("NFC", t)),
    _Fold("upper and lower case", lambda t: t.lower()),
    _Fold("blank lines or spaces around oldText", lambda t: t.strip(), both=False),
    _Fold(
        "a copied line number prefix in oldText (leave it out)",
        lambda t: _NUMBERED_TIGHT.sub("", t) if _NUMBERED_TIGHT.search(t) else _NUMBERED.sub("", t),
        both=False,
    ),
    _Fold(
        "a copied diff sign (+, - or a space) before each line of oldText",
        lambda t: _DIFF_SIGN.sub("", t),
        both=False,
    ),
    _Fold("escapes such as \\n written out in oldText", _unescape, both=False),
    _Fold("HTML entities in oldText", _entities, both=False),
    _Fold("marks such as ⟨U+00A0⟩ that stand for hidden characters", _unmark, both=False),
)


def not_found(data: bytes, old: str, new: str = "") -> str:
    """One explanation for the model: what differs, where, and the lines as they are; bounded in time and length.

    ``data`` must be UTF-8.
    """
    text = data.decode("utf-8").removeprefix("\ufeff")
    said = ["oldText was not found in the file."]
    if _already(text, new):
        at = text.replace("\r\n", "\n").find(new.replace("\r\n", "\n"))
        line = text.replace("\r\n", "\n").count("\n", 0, at) + 1
        said.append(f"newText is already there (line {line}): this edit may have been already applied.")
    if not text.strip():
        return " ".join([*said, "The file is empty." if not text else "The file holds only blank space."])
    found = _folded(text, old) if len(text) + len(old) <= _MOST_FOLDED else None
    if found:
        says, first, count = found
        listed = says[0] if len(says) == 1 else "; ".join(says)
        said.append(f"Only this differs from the text at line {first}: {listed}.")
        return " ".join(said) + _excerpt(text, first, count)
    near = _nearest(text, old)
    if _ELLIPSIS.search(old) and not _ELLIPSIS.search(text):
        said.append("oldText leaves text out with an ellipsis; it must be the whole text.")
    if near:
        first, count = near
        said.append(f"The nearest text is at line {first}{_difference(text, old, first)}.")
        return " ".join(said) + _excerpt(text, first, count)
    said.append("No line is near to it; read the file again and copy the text exactly.")
    return " ".join(said)


def _already(text: str, new: str) -> bool:
    return len(new.strip()) > 2 and new.replace("\r\n", "\n") in text.replace("\r\n", "\n")


def _folded(text: str, old: str) -> tuple[list[str], int, int] | None:
    """The fewest folds under which ``old`` is in ``text``, with the first line and how many lines it spans."""
    live = [f for f in _FOLDS if f.fold(old) != old or (f.both and f.fold(text) != text)]
    for fold in live:
        line = _under(text, old, [fold])
        if line is not None:
            return [fold.says], line, _height(old)
    # One-sided folds can spoil each other (a list of numbers is no line number prefix): without them, again.
    for chosen in (live, [f for f in live if f.both]):
        line = _under(text, old, chosen)
        if line is not None:
            break
    else:
        return None
    around = "\n".join(text.split("\n")[max(0, line - 4) : line + _height(old) + 3])
    if _under(around, old, chosen) is not None:
        for fold in reversed(chosen):
            fewer = [f for f in chosen if f is not fold]
            if _under(around, old, fewer) is not None:
                chosen = fewer
    return [f.says for f in chosen], line, _height(old)


def _under(text: str, old: str, chosen: list[_Fold]) -> int | None:
    """The line (from 1) at which ``old`` is in ``text`` when the chosen differences are set aside."""
    for fold in reversed(chosen):
        old = fold.fold(old)
    for fold in chosen:
        if fold.both:
            text, old = fold.fold(text), fold.fold(old)
    at = text.find(old) if old.strip() else -1
    return None if at < 0 else text.count("\n", 0, at) + 1


def _height(old: str) -> int:
    return max(1, old.strip("\r\n").count("\n") + 1)


def _nearest(text: str, old: str) -> tuple[int, int] | None:
    """First line (from 1) and height of the window of ``text`` that is most like ``old``."""
    from rapidfuzz import fuzz, process  # 20 ms to import, and only a refusal needs it

    lines = [line.strip()[:400] for line in text.split("\n")[:_MOST_LINES]]
    wanted = [line.strip()[:400] for line in old.strip("\r\n").split("\n")[:200]]
    probes = sorted((i for i, w in enumerate(wanted) if len(w) > 2), key=lambda i: -len(wanted[i]))[:_PROBES]
    if not probes:
        probes = [i for i, w in enumerate(wanted) if w][:1]
    starts: dict[int, float] = {}
    for index in probes:
        matches = process.extract(wanted[index], lines, scorer=fuzz.ratio, limit=5, score_cutoff=60)
        for _, score, at in matches:
            start = max(0, at - index)
            if start not in starts:
                pairs = zip(wanted[:40], lines[start : start + 40], strict=False)
                total = sum(fuzz.ratio(w, there) for w, there in pairs)
                starts[start] = total / min(len(wanted), 40) + score / 1000
    if not starts:
        return None
    best = max(starts, key=lambda start: (starts[start], -start))
    return (best + 1, _height(old)) if starts[best] >= 40 else None


def _difference(text: str, old: str, first: int) -> str:
    """What differs in the first line that is not the same, as the end of a sentence."""
    lines = text.split("\n")
    for offset, wanted in enumerate(old.strip("\r\n").split("\n")):
        at = first - 1 + offset
        if at >= len(lines):
            return "; the file ends there, before oldText does"
        there, wanted = lines[at].rstrip("\r"), wanted.rstrip("\r")
        if there != wanted:
            return (
                f"; they differ at line {at + 1}, where oldText has `{_short(wanted)}`{_odd(there, wanted)}"
            )
    return ""


def _odd(there: str, wanted: str) -> str:
    """The first character that differs, when it is one that looks like another."""
    at = next((i for i, (a, b) in enumerate(zip(there, wanted, strict=False)) if a != b), None)
    if at is None or (there[at].isascii() and wanted[at].isascii()):
        return ""
    return f" (character {at + 1} is U+{ord(there[at]):04X} in the file, U+{ord(wanted[at]):04X} in oldText)"


def _excerpt(text: str, first: int, count: int) -> str:
    lines = text.split("\n")
    last = min(len(lines), first - 1 + count)
    shown = range(first - 1, min(last, first - 1 + _SHOWN_LINES))
    rows = [f"{at + 1}: {_short(lines[at])}" for at in shown]
    if last - (first - 1) > _SHOWN_LINES:
        rows.append(f"… and {last - (first - 1) - _SHOWN_LINES} more lines")
    return "\nIn the file, with → for a tab and · for a space at the end of a line:\n" + "\n".join(rows)


def _short(line: str) -> str:
    line = line.removesuffix("\r")
    if len(line) > _WIDTH:
        line = line[:_WIDTH] + "…"
    blank = len(line) - len(line.rstrip(" "))
    return visible(line[: len(line) - blank].replace("\t", "→") + "·" * blank, keep="")
