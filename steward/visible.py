"""The one gate for text that people see: every character that could hide or act becomes something they can read.

What counts as hidden: everything that Python does not call printable (controls, format characters, odd spaces,
line and paragraph separators, surrogates, private use, unassigned) and the printable characters that draw
nothing (variation selectors, fillers, the blank Braille pattern, …). A C0 control or DEL is shown as its control
picture, all others as ``⟨U+202E⟩``. Nothing is dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache

_RANGES = (
    "\x7f-\xa0\xad"
    "\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U00013430-\U0001343f\U00013441\U00013442\U00016fe4\U0001bca0-\U0001bca3"
    "\U0001d159\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
"""Hidden characters above the C0 controls. Unassigned ones depend on the Unicode version; a second look finds them."""

_SEEN_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
"""Format characters that draw a sign of their own (Prepended_Concatenation_Mark); they are not hidden."""

_PICTOGRAPHS = re.compile(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618"
    "\u261d\u2620\u2622\u2623\u2626\u262a\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660"
    "\u2663\u2665\u2666\u2668\u267b\u267e\u267f\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1\u26a7\u26aa"
    "\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8\u26ce\u26cf\u26d1\u26d3\u26d4\u26e9\u26ea"
    "\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721\u2728"
    "\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27a1\u27b0\u27bf"
    "\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
"""Characters that may begin an emoji sequence."""

_TEXT_SELECTOR, _EMOJI_SELECTOR, _JOINER, _KEYCAP = "\ufe0e", "\ufe0f", "\u200d", "\u20e3"


def visible(text: str, *, keep: str = "\n") -> str:
    """``text`` with each hidden character shown as one mark; characters of ``keep`` stay as they are.

    A selector or joiner inside an emoji sequence stays. The result holds no character that moves the cursor,
    changes direction or draws nothing, except those of ``keep``.
    """
    shown = _pattern(keep).sub(_show, text)
    if shown.isascii():
        return shown
    rest = shown
    for kept in keep + _JOINER:
        rest = rest.replace(kept, "")
    if rest.isprintable():
        return shown
    return "".join(c if c.isprintable() or c in keep or _stays(c) else _mark(c) for c in shown)


def line(text: str) -> str:
    """``visible`` for text that must stay on one line: a newline is shown as ``␊``, a tab as ``␉``."""
    return visible(text, keep="")


def hidden(text: str) -> int:
    """How many characters ``visible`` would show otherwise than they are.

    Tabs, newlines and the carriage return of a CRLF are what a text file is made of; they do not count.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii():
        return sum(1 for _ in _pattern("\n\t").finditer(text))
    found = sum(1 for match in _pattern("\n\t").finditer(text) if _show(match) != match[0])
    rest = _pattern("").sub("", text)
    if not rest.isprintable():
        found += sum(1 for c in rest if not c.isprintable() and not _stays(c))
    return found


@lru_cache(maxsize=16)
def _pattern(keep: str) -> re.Pattern[str]:
    controls = "".join(f"\\x{code:02x}" for code in range(0x20) if chr(code) not in keep)
    others = "".join(re.escape(char) for char in keep if char >= " ")
    return re.compile((f"(?![{others}])" if others else "") + f"[{controls}{_RANGES}]")


def _show(match: re.Match[str]) -> str:
    char = match[0]
    if char in (_TEXT_SELECTOR, _EMOJI_SELECTOR, _JOINER) and _in_emoji(char, match.string, match.start()):
        return char
    return _mark(char)


def _mark(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"


def _stays(char: str) -> bool:
    """Whether a character that Python calls unprintable is seen all the same (or was let through before)."""
    return char in _SEEN_FORMATS or char == _JOINER or "\U0001f000" <= char <= "\U0001faff"


def _in_emoji(char: str, text: str, at: int) -> bool:
    """Whether the selector or joiner at ``at`` belongs to an emoji sequence, so that it is not hidden."""
    before = text[at - 1 : at]
    after = text[at + 1 : at + 2]
    if char == _JOINER:
        if before == _EMOJI_SELECTOR:
            before = text[max(at - 2, 0) : at - 1]
        return bool(_PICTOGRAPHS.match(before) and _PICTOGRAPHS.match(after))
    if char == _EMOJI_SELECTOR and after == _KEYCAP:
        return before != "" and before in "0123456789#*"
    return bool(_PICTOGRAPHS.match(before))
