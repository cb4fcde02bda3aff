"""One exact, unique replacement in a file's bytes; every byte outside the matched span stays as it is."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from steward.errors import EditRefused
from steward.proposals import near_miss
from steward.proposals.lines import BOM

CUT_MARK = re.compile(r"… ?\[cut: [\d,]+ of [\d,]+ characters\]|⟨cut")
"""The mark that ``readFile`` puts at the end of a line it had to cut."""

_COUNTED = 1000
"""Occurrences that are counted at most."""
_NAMED_LINES = 8
"""Lines of occurrences that a refusal names at most."""


@dataclass(frozen=True, slots=True)
class Span:
    """Where the old text lies: ``data[start:end]``."""

    start: int
    end: int


def replace(data: bytes | None, old: str, new: str) -> bytes:
    """``data`` with the one occurrence of ``old`` replaced by ``new``; ``None`` is an absent file.

    An empty ``old`` creates: the file must be absent, or hold nothing. A byte order mark stays where it is.

    In a file with CRLF endings a ``\\n`` of ``old`` matches CRLF too, and each ``\\n`` of ``new`` takes the ending of
    the lines at that place; when either text spells out ``\\r\\n``, both are taken literally.

    Raises ``EditRefused`` with one of the kinds ``missing``, ``exists``, ``not-utf8``, ``binary``, ``cut-line``,
    ``unchanged``, ``not-found``, ``not-unique`` and ``arguments``.
    """
    old_bytes, new_bytes = encoded(old, "oldText"), encoded(new, "newText")
    if b"\0" in new_bytes:
        raise EditRefused("binary", "newText holds a NUL character; the result would not be a text file.")
    if data is None:
        if old:
            raise EditRefused("missing", "The file does not exist; to create it, leave oldText empty.")
        return new_bytes
    refuse_binary(data)
    if not old:
        return _filled(data, new_bytes)
    if old == new:
        raise EditRefused("unchanged", "oldText and newText are the same; nothing would change.")
    span = locate(data, old, new)
    if _copied_mark(data, new):
        raise EditRefused(
            "cut-line",
            "newText holds the mark of a line that readFile had to cut: the rest of that line would be lost. "
            "Replace only a piece of the line, on both sides without the mark.",
        )
    matched = data[span.start : span.end]
    if span.start == len(BOM) and data.startswith(BOM) and not matched.startswith(BOM):
        # The mark is no part of the text: it is neither doubled nor dropped.
        new_bytes = new_bytes.removeprefix(BOM)
    if b"\r\n" not in old_bytes and b"\r\n" not in new_bytes:
        new_bytes = _with_endings(data, span, new_bytes)
    if matched == new_bytes:
        raise EditRefused("unchanged", "The file already holds newText at that place; nothing would change.")
    return data[: span.start] + new_bytes + data[span.end :]


def _copied_mark(data: bytes, new: str) -> bool:
    mark = CUT_MARK.search(new)
    return mark is not None and mark[0].encode("utf-8") not in data


def encoded(text: str, name: str) -> bytes:
    """``text`` as UTF-8; a lone surrogate, which no file can hold, is refused under the argument's ``name``."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EditRefused(
            "arguments",
            f"{name} holds half of a surrogate pair at character {error.start}; it cannot be written as UTF-8.",
        ) from None


def refuse_binary(data: bytes) -> None:
    """Raise ``EditRefused`` unless ``data`` is UTF-8 text without NUL; offsets are in bytes from 0."""
    for mark, name in ((b"\xff\xfe\0\0", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if data.startswith(mark):
            raise EditRefused(
                "not-utf8", f"The file is {name}, not UTF-8 (see byte 0); it cannot be patched."
            )
    nul = data.find(b"\0")
    if nul >= 0:
        sample = data[:4096]
        if (
            sample.count(0) > 1
            and sample.count(0) * 4 > len(sample)
            and not (sample[::2].count(0) and sample[1::2].count(0))
        ):
            raise EditRefused(
                "not-utf8",
                f"The file looks like UTF-16, not UTF-8 (NUL at byte {nul}); it cannot be patched.",
            )
        raise EditRefused(
            "binary", f"The file is not text: it holds a NUL at byte {nul}; it cannot be patched."
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditRefused(
            "not-utf8", f"The file is not UTF-8 text: see byte {error.start}; it cannot be patched."
        ) from None


def locate(data: bytes, old: str, new: str = "") -> Span:
    """The only place where ``old`` occurs in the text ``data``; overlapping occurrences count each."""
    needle = old.encode("utf-8")
    spans, more = _search(data, needle)
    if len(spans) == 1:
        return spans[0]
    if not spans:
        if CUT_MARK.search(old):
            raise EditRefused(
                "cut-line",
                "oldText holds the mark of a line that readFile had to cut; a cut line cannot be its source. "
                "Take oldText from whole lines, or from a piece of the line without the mark.",
            )
        raise EditRefused("not-found", near_miss.not_found(data, old, new))
    lines = [data.count(b"\n", 0, span.start) + 1 for span in spans[:_NAMED_LINES]]
    where = ", ".join(map(str, dict.fromkeys(lines)))
    raise EditRefused(
        "not-unique",
        f"oldText occurs {'more than ' if more else ''}{len(spans)} times"
        f" ({'line' if len(set(lines)) == 1 else 'lines'} {where}{', …' if len(spans) > _NAMED_LINES else ''};"
        " overlapping matches count); add surrounding lines so that it names one place.",
    )


def _filled(data: bytes, new: bytes) -> bytes:
    """An empty file (a lone byte order mark stays) given its first text."""
    if data not in (b"", BOM):
        raise EditRefused(
            "exists",
            "The file exists; an empty oldText only creates. To change it, give the text to replace.",
        )
    if not new.removeprefix(BOM if data else b""):
        raise EditRefused("unchanged", "The file exists and is empty; nothing would change.")
    return data + new.removeprefix(BOM) if data else new


def _search(data: bytes, needle: bytes) -> tuple[list[Span], bool]:
    """Occurrences of ``needle`` as spans of ``data``, and whether there are more than were counted."""
    if data.startswith(BOM) and needle.startswith(BOM) and len(needle) > len(BOM):
        inner = needle[len(BOM) :]
        spans, _ = _search(data[len(BOM) :], inner)
        at_start = [s for s in spans if s.start == 0]
        others, more = _search(data[len(BOM) :], needle)
        shifted = [Span(s.start + len(BOM), s.end + len(BOM)) for s in (*at_start, *others)]
        return shifted, more
    if data.startswith(BOM):
        spans, more = _search(data[len(BOM) :], needle)
        return [Span(s.start + len(BOM), s.end + len(BOM)) for s in spans], more
    if b"\r\n" in needle or b"\r\n" not in data:
        return _all(data, needle)
    # CRLF seen as LF; the LF that stands for the k-th CRLF (from 0) lies k bytes before that CR.
    plain = data.replace(b"\r\n", b"\n")
    found, more = _all(plain, needle)
    if not found:
        return [], False
    marks = [m.start() - k for k, m in enumerate(re.finditer(rb"\r\n", data))]

    def raw(offset: int) -> int:
        return offset + bisect_left(marks, offset)

    return [Span(raw(s.start), raw(s.end)) for s in found], more


def _all(data: bytes, needle: bytes) -> tuple[list[Span], bool]:
    spans: list[Span] = []
    at = data.find(needle)
    while at >= 0:
        if len(spans) == _COUNTED:
            return spans, True
        spans.append(Span(at, at + len(needle)))
        at = data.find(needle, at + 1)
    return spans, False


def _with_endings(data: bytes, span: Span, new: bytes) -> bytes:
    """``new`` with each LF written as the file ends its lines at that place.

    Lines that old and new text share, counted from the top and from the bottom, keep their own endings; lines
    between take the ending of the line they stand for, or of the one before them.
    """
    pieces = new.split(b"\n")
    if len(pieces) == 1 or b"\r\n" not in data:
        return new
    before = data[: span.start]
    following = data.find(b"\n", span.end)
    outside: bool | None = None
    if following >= 0:
        # A match that ends between CR and LF is literal and never comes here.
        outside = data[following - 1 : following] == b"\r"
    raw = data[span.start : span.end].split(b"\n")
    olds = [piece.removesuffix(b"\r") for piece in raw[:-1]] + [raw[-1]]
    crlf: list[bool | None] = [piece.endswith(b"\r") for piece in raw[:-1]] + [outside]
    if crlf[-1] is None:
        previous = before.rfind(b"\n")
        fallback = crlf[-2] if len(crlf) > 1 else before[previous - 1 : previous] == b"\r"
        crlf[-1] = fallback
    top = 0
    while top < min(len(olds), len(pieces)) and olds[top] == pieces[top]:
        top += 1
    bottom = 0
    while bottom < min(len(olds), len(pieces)) - top and olds[-1 - bottom] == pieces[-1 - bottom]:
        bottom += 1
    middle = len(olds) - top - bottom

    def ending(index: int) -> bytes:
        if index < top:
            source = index
        elif index >= len(pieces) - bottom:
            source = index - len(pieces) + len(olds)
        elif middle:
            source = top + min(index - top, middle - 1)
        else:
            source = max(top - 1, 0)
        return b"\r\n" if crlf[source] else b"\n"

    return b"".join(piece + ending(i) for i, piece in enumerate(pieces[:-1])) + pieces[-1]
