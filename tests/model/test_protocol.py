"""Lines between the two processes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from steward.model.protocol import Lines, decode, encode

MESSAGES = st.dictionaries(st.text(max_size=5), st.text(max_size=30) | st.integers() | st.none(), max_size=3)


@given(st.lists(MESSAGES, max_size=6), st.lists(st.integers(0, 400), max_size=10))
def test_messages_survive_any_way_the_pipe_cuts_them(messages: list[dict[str, Any]], cuts: list[int]) -> None:
    stream = b"".join(map(encode, messages))
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    lines = Lines()
    got = [line for a, b in pairwise(edges) for line in lines.feed(stream[a:b])]
    assert [decode(line) for line in got] == messages


def test_separators_and_lone_surrogates_stay_inside_one_line() -> None:
    text = "a\n\r\u2028\x85\ud83d\x00b"
    line = encode({"text": text})
    assert line.count(b"\n") == 1
    assert decode(line) == {"text": text}


def test_what_is_no_object_is_passed_over() -> None:
    assert [decode(line) for line in (b"", b"[]", b"{", b"\xff", b"[" * 100_000)] == [None] * 5
