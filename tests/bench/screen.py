"""The screen: long answers, beside a plain widget of Textual."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from tests.bench.measure import Row, Scale, absolute, ms
from tests.bench.test_tui_bench import HUNDRED_KB, TEXT, plain, streamed


def rows(scale: Scale) -> Iterator[Row]:
    """The figures of the screen."""
    text = HUNDRED_KB if scale.repeat > 1 else HUNDRED_KB[:2000]
    ours = min(asyncio.run(streamed(text, 4)) for _ in range(min(scale.repeat, 2)))
    beside = f"a plain Static: {ms(asyncio.run(plain(text, 4)))}"
    yield absolute(f"an answer of {len(text):,} characters at full speed, CPU", ours, 1.0, beside)
    text = TEXT * (9 if scale.repeat > 1 else 1)
    share = asyncio.run(streamed(text, 20, pause=0.01)) / (len(text) / 20 * 0.01)
    yield Row("an answer of 100 pieces a second", f"{share:.0%} of a core", "", "≤ 25 %", None, share <= 0.25)
