"""Strategies for text and bytes of the kinds that break line-based tools."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = (
    "a",
    "b",
    "}",
    "x = 1",
    " ",
    "\t",
    "",
    "\r",
    "\f",
    "\v",
    "\x1c",
    "\u0085",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u202e",
    "é",
    "e\u0301",
    "👩‍👧",
    "--- a/x",
    "+++ b/x",
    "@@ -1 +1 @@",
    "\\ No newline at end of file",
    "-- ",
    "diff --git a/x b/x",
)

line_contents = st.lists(st.sampled_from(_PIECES), max_size=3).map("".join)
endings = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\n", "\r\r\n"])


@st.composite
def texts(draw: st.DrawFn, most: int = 12) -> str:
    """A text of a few lines with any mixture of endings, with or without a final one."""
    lines = draw(st.lists(st.tuples(line_contents, endings), max_size=most))
    last = draw(line_contents)
    return "".join(content + ending for content, ending in lines) + last


utf8 = texts().map(lambda text: text.encode("utf-8"))

stray = st.sampled_from([b"\xff", b"\xe9", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x82"])


@st.composite
def any_bytes(draw: st.DrawFn) -> bytes:
    """Bytes without NUL that need not be UTF-8."""
    data = draw(utf8)
    for piece in draw(st.lists(stray, max_size=2)):
        at = draw(st.integers(0, len(data)))
        data = data[:at] + piece + data[at:]
    return data


@st.composite
def versions(draw: st.DrawFn, of: st.SearchStrategy[bytes] = utf8) -> tuple[bytes, bytes]:
    """Two states of one file: the second made from lines of the first and others, or all its own."""
    base = draw(of)
    other = draw(of)
    if draw(st.booleans()):
        return base, other
    mine, theirs = base.split(b"\n"), other.split(b"\n")
    done: list[bytes] = []
    for line in mine:
        choice = draw(st.integers(0, 9))
        if choice == 0:
            continue
        if choice == 1 and theirs:
            done.append(theirs.pop())
        done.append(line + b"!" if choice == 2 else line.removesuffix(b"\r") if choice == 3 else line)
    return base, b"\n".join(done)
