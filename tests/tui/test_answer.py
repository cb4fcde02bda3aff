"""An answer that arrives in pieces ends up as the same lines as the whole text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment

from steward.tui.conversation.answer import Answer, cut
from steward.tui.conversation.blocks import GUTTER, Block, FenceBlock
from steward.tui.conversation.heights import Heights
from steward.tui.lines import Line, expand, fold, shorten, shorten_path, text_of, width_of, wrap
from steward.tui.looks import looks_of
from steward.tui.markdown import render, table_lines
from steward.tui.themes import DARK
from tests.tui.demo import TEXT

LOOKS = looks_of(DARK)
WIDTH = 60

DOCUMENTS = {
    "demo": TEXT,
    "lists": "- a\n- b\n  - c\n\n  more b\n- d\n\n\n1. one\n2. two\n\n   two more\n3. three\n10. four\n\nend",
    "fences": "text\n```py\ncode\n\n  more\n```\nafter\n~~~\n```\n~~~\n    indented\n\n> quote\n> ```\n> x\n> ```\n",
    "open fence": "before\n\n````md\n```\ninner\n```\nstill open",
    "headings": "# a\ntext\n## b\n\nc\n===\n\nd\n---\n***\nlast",
    "tables": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nx\n\n| no table\n",
    "returns": "one\r\n\r\ntwo\r\n\r\n```\r\ncode\r\n```\r\nend\r\n",
    "fence in a list": "- item\n  ```py\n  x = 1\n  ```\n- next\n",
    "html": "<div>\n\n**x**\n\n</div>\n<!-- a -->\n",
    "blank": "\n\n\n",
    "fence that is text": "```a`b\nc\n",
    "indented fence": "  ```\n   a\n b\n  ```\n",
    "empty fence": "```\n```\n",
}


def arrived(pieces: list[str]) -> list[Block]:
    """The blocks after these pieces, each frame between two of them laid out."""
    blocks: list[Block] = []

    def add(block: Block, after: Block | None) -> None:
        blocks.insert(len(blocks) if after is None else blocks.index(after) + 1, block)

    answer = Answer(add, lambda block: None)
    for piece in pieces:
        answer.feed(piece)
        answer.flow()
        for block in blocks:
            block.lines(WIDTH + GUTTER + 1, LOOKS)
    answer.end()
    assert answer.text == "".join(pieces)
    return blocks


def drawn(blocks: list[Block]) -> list[str]:
    """Lines that are not empty."""
    found = [
        text_of(line)[GUTTER:].rstrip() for block in blocks for line in block.lines(WIDTH + GUTTER + 1, LOOKS)
    ]
    return [line for line in found if line.strip("▎ ")]


def whole(text: str) -> list[str]:
    """Lines that are not empty of the text rendered at once."""
    found = [text_of(line).rstrip() for line in render(text.replace("\r\n", "\n"), WIDTH, LOOKS)]
    return [line for line in found if line.strip("▎ ")]


@pytest.mark.parametrize("size", [1, 2, 5, 17, 1000])
@pytest.mark.parametrize("name", list(DOCUMENTS))
def test_pieces_of_any_size_give_the_lines_of_the_whole(name: str, size: int) -> None:
    text = DOCUMENTS[name]
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert drawn(arrived(pieces)) == whole(text)


@given(
    st.lists(
        st.sampled_from(
            ["- a", "  b", "1. c", "```", "text", "> q", "", "# h", "    i", "| x |", "|---|", "\t"]
        )
    )
)
@settings(max_examples=200, deadline=None)
def test_any_text_in_lines_gives_the_lines_of_the_whole(lines: list[str]) -> None:
    text = "\n".join(lines)
    by_line = text.splitlines(keepends=True)
    shown = drawn(arrived(by_line))
    assert sorted("".join(shown).replace(" ", "")) == sorted("".join(whole(text)).replace(" ", ""))


def test_only_the_end_stays_open() -> None:
    parts = cut("para\n\n- a\n- b\n\n# h\nlast")
    assert [source.strip() for source, _ in parts.closed] == ["para", "- a", "- b", "# h"]
    assert parts.tail == "last"


def test_a_long_code_block_keeps_the_lines_it_has_laid_out() -> None:
    block = FenceBlock("python")
    for number in range(300):
        block.add([f"x = {number}"], "")
        assert len(block.lines(80, LOOKS)) == number + 1
    block.close()
    assert [text_of(line).strip() for line in block.lines(80, LOOKS)] == [f"x = {n}" for n in range(300)]


def test_heights_find_any_line_after_any_change() -> None:
    heights = Heights()
    values: list[int] = []
    for number in range(50):
        at = (number * 7) % (len(values) + 1)
        values.insert(at, number % 4)
        heights.insert(at, number % 4, exact=False)
        if number % 3 == 0:
            where = (number * 5) % len(values)
            assert heights.set(where, 5, exact=True) == 5 - values[where]
            values[where] = 5
        if number % 10 == 9:
            heights.remove(2)
            del values[2]
        assert heights.total == sum(values)
        for line in range(sum(values)):
            index, within = heights.at(line)
            assert heights.start(index) == sum(values[:index]) and 0 <= within < values[index]
            assert heights.start(index) + within == line


@given(st.text(max_size=200), st.integers(1, 30))
@settings(max_examples=300, deadline=None)
def test_folding_keeps_every_character_and_fits(text: str, width: int) -> None:
    from steward.tui.lines import plain

    shown = plain(text)
    lines = fold([Segment(shown[: len(shown) // 2]), Segment(shown[len(shown) // 2 :])], width)
    assert "".join(map(text_of, lines)) == shown
    if width > 1:
        assert all(width_of([Segment(text_of(line))]) <= width for line in lines)


@given(st.text(alphabet="ab 日é ⟨⟩", max_size=120), st.integers(4, 30))
@settings(max_examples=300, deadline=None)
def test_wrapping_loses_nothing_but_spaces_and_fits(text: str, width: int) -> None:
    first: Line = [Segment("> ")]
    lines = wrap([Segment(text)], width, first, first)
    joined = "".join(text_of(line)[2:] for line in lines)
    assert joined.replace(" ", "") == text.replace(" ", "")
    assert all(width_of(line) <= width for line in lines)


def test_the_columns_of_a_table_stand_on_the_side_their_rule_names() -> None:
    lines = render("| a | number | mid |\n|---|---:|:-:|\n| x | 7 | m |\n", 60, LOOKS)
    assert [text_of(line) for line in lines if "7" in text_of(line)] == ["x │      7 │  m "]


def test_small_things() -> None:
    assert shorten("abcdef", 4) == "abc…" and shorten("abc", 3) == "abc" and shorten("日本語", 4) == "日…"
    assert shorten_path("a/b/c.py", 5) == "…c.py"
    assert expand("a\tb") == "a   b"
    assert width_of(table_lines([[[Segment("a" * 50)], [Segment("b" * 50)]]], 0, 40, LOOKS)[0]) <= 40
