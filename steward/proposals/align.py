"""Which items of two sequences correspond: small where that is cheap, and never slow."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

_WORK = 400_000
"""Steps of the exact search in one alignment; what is left when they are used up is replaced as a whole."""
_DEEPEST = 300
"""Differences after which the exact search settles for the way it has come and starts anew from there."""


@dataclass(frozen=True, slots=True)
class Block:
    """``old[old_start:old_end]`` is replaced by ``new[new_start:new_end]``; one of both may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Block]:
    """The differences in order; what lies between two of them is the same on both sides.

    Items that occur once on each side anchor the rest (patience diff); between anchors the shortest script is
    looked for (Myers) over the items that both sides have.
    """
    ids: dict[Hashable, int] = {}
    a = [ids.setdefault(item, len(ids)) for item in old]
    b = [ids.setdefault(item, len(ids)) for item in new]
    kept: list[tuple[int, int]] = []
    work = [_WORK]
    pending = [(0, len(a), 0, len(b))]
    while pending:
        a0, a1, b0, b1 = pending.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            kept.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            kept.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(a, a0, a1, b, b0, b1)
        if anchors:
            last_a, last_b = a0, b0
            for i, j in anchors:
                pending.append((last_a, i, last_b, j))
                kept.append((i, j))
                last_a, last_b = i + 1, j + 1
            pending.append((last_a, a1, last_b, b1))
        else:
            pairs, complete = _shortest(a, a0, a1, b, b0, b1, work)
            kept += pairs
            if pairs and not complete:
                pending.append((pairs[-1][0] + 1, a1, pairs[-1][1] + 1, b1))
    kept.sort()
    return _slid(a, b, _blocks(kept, len(a), len(b)))


def _anchors(a: list[int], a0: int, a1: int, b: list[int], b0: int, b1: int) -> list[tuple[int, int]]:
    """Pairs of items unique on both sides, as many as keep their order."""
    count_a, count_b = Counter(a[a0:a1]), Counter(b[b0:b1])
    place = {b[j]: j for j in range(b0, b1) if count_b[b[j]] == 1}
    pairs = [(i, place[a[i]]) for i in range(a0, a1) if count_a[a[i]] == 1 and a[i] in place]
    tails: list[int] = []
    tops: list[int] = []
    back: list[int] = []
    for index, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        back.append(tops[at - 1] if at else -1)
        tails[at : at + 1] = [j]
        tops[at : at + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = tops[-1] if tops else -1
    while index >= 0:
        chain.append(pairs[index])
        index = back[index]
    return chain[::-1]


def _shortest(
    a: list[int], a0: int, a1: int, b: list[int], b0: int, b1: int, work: list[int]
) -> tuple[list[tuple[int, int]], bool]:
    """Myers' greedy search over the items both sides have, and whether it came to the end."""
    in_a, in_b = set(a[a0:a1]), set(b[b0:b1])
    xs = [i for i in range(a0, a1) if a[i] in in_b]
    ys = [j for j in range(b0, b1) if b[j] in in_a]
    n, m = len(xs), len(ys)
    furthest = {1: 0}
    best = (0, 0)
    trace: list[dict[int, int]] = []
    for depth in range(min(n + m, _DEEPEST) + 1):
        work[0] -= depth + 1
        if work[0] < 0:
            break
        trace.append(dict(furthest))
        for k in range(-depth, depth + 1, 2):
            down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            if x > n or y > m:
                furthest[k] = x
                continue
            while x < n and y < m and a[xs[x]] == b[ys[y]]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return [(xs[i], ys[j]) for i, j in _walk_back(trace, n, m)], True
        ends = ((furthest[k], furthest[k] - k) for k in range(-depth, depth + 1, 2))
        best = max(((x, y) for x, y in ends if x <= n and 0 <= y <= m), key=sum, default=best)
    if not trace:
        return [], False
    return [(xs[i], ys[j]) for i, j in _walk_back(trace, *best)], False


def _walk_back(trace: list[dict[int, int]], n: int, m: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    x, y = n, m
    for depth in range(len(trace) - 1, -1, -1):
        furthest = trace[depth]
        k = x - y
        down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if down else k - 1
        start = furthest[before]
        start_y = start - before
        while x > max(start, 0) and y > max(start_y, 0) and x - (0 if down else 1) > start:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = start, start_y
    return pairs[::-1]


def _blocks(kept: list[tuple[int, int]], size_a: int, size_b: int) -> list[Block]:
    blocks: list[Block] = []
    a, b = 0, 0
    for i, j in [*kept, (size_a, size_b)]:
        if i > a or j > b:
            blocks.append(Block(a, i, b, j))
        a, b = i + 1, j + 1
    return blocks


def _slid(a: list[int], b: list[int], blocks: list[Block]) -> list[Block]:
    """Pure insertions and deletions moved down as far as they go, as readers of diffs are used to."""
    done: list[Block] = []
    for index, block in enumerate(blocks):
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        while True:
            a0, a1, b0, b1 = block.old_start, block.old_end, block.new_start, block.new_end
            if a0 == a1:
                free = b1 < len(b) and (after is None or b1 < after.new_start) and b[b0] == b[b1]
            elif b0 == b1:
                free = a1 < len(a) and (after is None or a1 < after.old_start) and a[a0] == a[a1]
            else:
                free = False
            if not free:
                break
            block = Block(a0 + 1, a1 + 1, b0 + 1, b1 + 1)
        if done and done[-1].old_end == block.old_start and done[-1].new_end == block.new_start:
            last = done.pop()
            block = Block(last.old_start, block.old_end, last.new_start, block.new_end)
        done.append(block)
    # A slide may end at the next difference: then both are one.
    merged: list[Block] = []
    for block in done:
        if merged and merged[-1].old_end == block.old_start and merged[-1].new_end == block.new_start:
            last = merged.pop()
            block = Block(last.old_start, block.old_end, last.new_start, block.new_end)
        merged.append(block)
    return merged
