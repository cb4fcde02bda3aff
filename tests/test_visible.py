"""Whatever text holds, people see every character of it and none acts."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.visible import hidden, line, visible

MARK = re.compile("[\u2400-\u2421]|\u27e8U\\+[0-9A-F]{4,6}\u27e9")
NASTY = (
    [chr(c) for c in range(0x20)]
    + [chr(c) for c in range(0x7F, 0xA1)]
    + list("\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u180b\u180e\u2000\u2003\u200b\u200c\u200d\u200e\u200f")
    + list("\u2028\u2029\u202a\u202e\u202f\u205f\u2060\u2064\u2065\u2066\u2069\u206f\u2800\u3000\u3164\ud800")
    + list("\udfff\ue000\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\ufffe\uffff\u0378\U0001d173\U000e0001\U000e0041")
    + list("\U000e007f\U000e0100\U000f0000\U0010ffff")
)
texts = st.lists(
    st.one_of(
        st.characters(), st.sampled_from(NASTY), st.sampled_from(list("ab1é漢❤👩💻🏽🇩#*\u20e3\ufe0f\u200d"))
    )
).map("".join)
INVISIBLE_BUT_PRINTABLE = set(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159"
) | {chr(c) for c in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))}
SEEN_FORMATS = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


def is_hidden(char: str) -> bool:
    """The definition, from the Unicode database: what must not remain outside of an emoji sequence."""
    if char in INVISIBLE_BUT_PRINTABLE:
        return True
    if char in SEEN_FORMATS or char == " " or "\U0001f000" <= char <= "\U0001faff":
        return False
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")


def test_every_character_of_unicode_alone_is_shown_as_itself_or_as_one_mark() -> None:
    for code in range(0x110000):
        char = chr(code)
        shown = line(char)
        if is_hidden(char):
            assert MARK.fullmatch(shown), f"{code:x}"
        elif char in "\u27e8\u27e9" or not MARK.fullmatch(char):
            assert shown == char, f"{code:x}"


@given(texts)
def test_nothing_hidden_remains_and_nothing_is_lost(text: str) -> None:
    shown = line(text)
    at = 0
    for index, char in enumerate(text):
        if shown.startswith(char, at) and (not is_hidden(char) or char in "\u200d\ufe0e\ufe0f"):
            if is_hidden(char):  # let through: only behind what it belongs to
                assert index > 0
                assert not text[index - 1].isalpha() or text[index - 1] in "ℹⓂ㊗㊙"
            at += 1
            continue
        mark = MARK.match(shown, at)
        assert mark is not None, (text, shown, index)
        code = ord(char)
        assert mark[0] == (
            chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"\u27e8U+{code:04X}\u27e9"
        )
        at = mark.end()
    assert at == len(shown)


@given(texts)
def test_kept_characters_stay_and_the_rest_is_shown_the_same(text: str) -> None:
    assert visible(text, keep="\n\t") == "\n".join(
        "\t".join(line(piece) for piece in row.split("\t")) for row in text.split("\n")
    )


@given(texts)
def test_what_is_shown_holds_nothing_more_to_show(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert hidden(shown) == 0


@given(texts)
def test_hidden_counts_what_is_shown_otherwise(text: str) -> None:
    plain = text.replace("\r", "")
    shown = visible(plain, keep="\n\t")
    before, after = len(MARK.findall(plain)), len(MARK.findall(shown))
    assert hidden(plain) == after - before


def test_a_carriage_return_counts_only_outside_a_crlf() -> None:
    assert hidden("a\r\nb\tc\n") == 0
    assert hidden("a\rb\r\r\n") == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b[2J\x9b2J", "␛[2J⟨U+009B⟩2J"),
        ("a\u202eb\u2066c", "a⟨U+202E⟩b⟨U+2066⟩c"),
        ("\ufeffx\u200by", "⟨U+FEFF⟩x⟨U+200B⟩y"),
        ("[/x][@click=app.quit]x[/]", "[/x][@click=app.quit]x[/]"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("\ud83d", "⟨U+D83D⟩"),
        ("del\x7f nul\0", "del␡ nul␀"),
        ("a\tb\r", "a␉b␍"),
        ("👩‍💻 ❤️ 1️⃣ 👩🏽‍🚀 🏳️‍🌈", "👩‍💻 ❤️ 1️⃣ 👩🏽‍🚀 🏳️‍🌈"),
        ("a\ufe0f 1\ufe0f ❤\ufe0f\ufe0f", "a⟨U+FE0F⟩ 1⟨U+FE0F⟩ ❤️⟨U+FE0F⟩"),
        ("👩\u200d 👩\u200dx \u200d👩", "👩⟨U+200D⟩ 👩⟨U+200D⟩x ⟨U+200D⟩👩"),
        ("line\u2028para\u2029", "line⟨U+2028⟩para⟨U+2029⟩"),
        ("non\xa0break soft\xadhyphen", "non⟨U+00A0⟩break soft⟨U+00AD⟩hyphen"),
        ("", ""),
    ],
)
def test_known_tricks(text: str, shown: str) -> None:
    assert visible(text) == shown
