"""Aligning two sequences: always right, small where it matters, and bounded."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.proposals import align as module
from steward.proposals.align import Block, align


def _check(old: list[int], new: list[int], blocks: list[Block]) -> int:
    """Raises unless the blocks lead from old to new; gives how many items they keep."""
    built: list[int] = []
    a = b = 0
    for block in blocks:
        assert old[a : block.old_start] == new[b : block.new_start]
        assert block.old_start < block.old_end or block.new_start < block.new_end
        assert not built or a == 0 or block.old_start > a
        built += old[a : block.old_start] + new[block.new_start : block.new_end]
        a, b = block.old_end, block.new_end
    assert built + old[a:] == new
    return len(old) - sum(block.old_end - block.old_start for block in blocks)


def _longest(old: list[int], new: list[int]) -> int:
    row = [0] * (len(new) + 1)
    for item in old:
        before = row[:]
        for j, other in enumerate(new):
            row[j + 1] = before[j] + 1 if item == other else max(row[j], before[j + 1])
    return row[-1]


small = st.lists(st.integers(0, 3), max_size=14)


@settings(max_examples=1000)
@given(small, small)
def test_the_blocks_lead_from_old_to_new(old: list[int], new: list[int]) -> None:
    _check(old, new, align(old, new))


@settings(max_examples=300)
@given(small, small)
def test_without_items_that_occur_once_the_script_is_the_shortest(old: list[int], new: list[int]) -> None:
    # Each item twice and more on both sides: nothing anchors, the exact search decides.
    old, new = [x for x in old for _ in (0, 1)], [x for x in new for _ in (0, 1)]
    assert _check(old, new, align(old, new)) == _longest(old, new)


@settings(max_examples=300)
@given(small, small, st.integers(0, 3), st.integers(0, 30))
def test_a_search_cut_short_still_leads_from_old_to_new(
    old: list[int], new: list[int], deepest: int, work: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_DEEPEST", deepest)
        patch.setattr(module, "_WORK", work)
        _check(old, new, align(old, new))


def test_twenty_thousand_lines_with_scattered_changes_keep_all_others() -> None:
    old = list(range(20_000))
    new = [-n if n % 40 == 0 else n for n in old]
    assert _check(old, new, align(old, new)) == 20_000 - 499


def test_hopeless_inputs_end() -> None:
    dice = random.Random(7)
    few = [[dice.randrange(6) for _ in range(20_000)] for _ in (0, 1)]
    _check(few[0], few[1], align(few[0], few[1]))
    shuffled = list(range(20_000))
    dice.shuffle(shuffled)
    _check(list(range(20_000)), shuffled, align(list(range(20_000)), shuffled))


def test_an_inserted_block_ends_where_readers_expect() -> None:
    old = ["def a():", "    pass", "", "def c():", "    pass", ""]
    new = ["def a():", "    pass", "", "def b():", "    pass", "", "def c():", "    pass", ""]
    (block,) = align(old, new)
    assert new[block.new_start : block.new_end] == ["def b():", "    pass", ""]


def test_an_insertion_slides_down_past_equal_items() -> None:
    assert align([1, 3], [2, 1, 3, 3]) == [Block(0, 0, 0, 1), Block(2, 2, 3, 4)]
