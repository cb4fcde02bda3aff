"""What the screen costs; run with ``pytest tests/bench/test_tui_bench.py --benchmark-enable -n 0``.

Each figure stands beside one for the same text in a plain Textual widget, measured in the same run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from time import process_time
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static

from steward.conversation import Assistant, Message, ToolAnswer, ToolCall, User
from steward.tui.app import StewardApp
from steward.tui.review.diff_view import DiffView
from steward.tui.review.reading import Readings
from tests.tui.demo import TEXT
from tests.tui.fake_steward import FakeSteward, answer, modify, proposal
from tests.tui.looking import begun, reviewing, until_seen

Measure = Any
HUNDRED_KB = (TEXT * 200)[:100_000]
TEXTS = {
    "markdown": HUNDRED_KB,
    "code": "```python\n" + ("value = compute(first, 2)  # and a comment\n" * 3000)[:99_980] + "\n```\n",
    "list": ("- an item with some words in it\n" * 4000)[:100_000],
    "paragraph": ("words of one long paragraph " * 5000)[:100_000],
}


class Plain(App[None]):
    """One Static that grows."""

    def compose(self) -> ComposeResult:
        yield Static()


def spent(work: Coroutine[Any, Any, float]) -> float:
    """CPU seconds that the work reports."""
    return asyncio.run(work)


async def streamed(text: str, size: int, pause: float = 0.0) -> float:
    """CPU seconds of an answer from its first piece to its end."""
    fake = FakeSteward(pause=pause)
    fake.scripts = [answer(*(text[at : at + size] for at in range(0, len(text), size)))]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(120, 40)) as pilot:
        await begun(pilot)
        began = process_time()
        app.turns.ask("question")
        while not app.turns.ended:
            await asyncio.sleep(0.01)
        app.transcript.settle()
        await pilot.pause()
        took = process_time() - began
        assert app.feed.answers[-1] == text
        return took


async def plain(text: str, size: int) -> float:
    """CPU seconds of the same text in a Static that is updated 20 times."""
    app = Plain()
    async with app.run_test(size=(120, 40)) as pilot:
        began = process_time()
        step = len(text) // 20
        for at in range(step, len(text) + 1, step):
            app.query_one(Static).update(Content(text[:at]))
            await pilot.pause()
        return process_time() - began


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_100_kb_answer_in_pieces_of_four_characters(benchmark: Measure, name: str) -> None:
    benchmark.pedantic(lambda: spent(streamed(TEXTS[name], 4)), rounds=1)


def test_the_same_in_a_plain_static_for_comparison(benchmark: Measure) -> None:
    benchmark.pedantic(lambda: spent(plain(HUNDRED_KB, 4)), rounds=1)


def test_an_answer_of_100_pieces_a_second(benchmark: Measure) -> None:
    """Eight kB in 400 pieces over four seconds; CPU seconds divided by four is the share of a core."""
    benchmark.pedantic(lambda: spent(streamed(TEXT * 9, 20, pause=0.01)), rounds=1)


@pytest.mark.parametrize("count", [2_000, 20_000])
def test_opening_a_diff(benchmark: Measure, count: int) -> None:
    base = "".join(f"def function_{i}(first):  # a comment\n" for i in range(count // 2))
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.py", base, base.replace("first", "first, second"))))
    app = StewardApp(fake.as_steward())

    async def main() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await begun(pilot)
            view = (await reviewing(pilot)).query_one(DiffView)
            review = view.review
            assert review is not None

            reading = await Readings().of(review, fake.as_steward())

            def show() -> None:
                view.show(review, reading)
                for y in range(view.size.height):
                    view.render_line(y)

            benchmark(show)

    asyncio.run(main())


def test_opening_a_session_of_5000_messages(benchmark: Measure) -> None:
    messages: tuple[Message, ...] = tuple(
        message
        for i in range(1250)
        for message in (
            User(f"question {i}"),
            Assistant(TEXT, (ToolCall(f"c{i}", "readFile", '{"path": "a.py"}'),)),
            ToolAnswer(f"c{i}", "readFile", "text\n" * 50),
            Assistant("- done\n- really"),
        )
    )
    app = StewardApp(FakeSteward().as_steward())

    async def main() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await begun(pilot)

            def show() -> None:
                app.feed.clear()
                app.feed.show(messages)

            benchmark(show)
            await until_seen(pilot, "question 1249")

    asyncio.run(main())
