"""The screen with a scripted steward: ``python -m tests.tui.demo``; ``--shots DIRECTORY`` writes pictures instead."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from steward.conversation import Usage
from steward.events import (
    AnswerText,
    CallForming,
    DocumentState,
    FocusMoved,
    InstructionsChanged,
    Notice,
    ProposalMade,
    ReasoningText,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from tests.tui.fake_steward import FakeSteward, Step, create, governed, modify, proposal

OLD = '''"""Retries for the shop's HTTP client."""

import time

ATTEMPTS = 3


def call(client, request):
    """Send a request, again when the server is busy."""
    for attempt in range(ATTEMPTS):
        response = client.send(request)
        if response.status != 503:
            return response
        time.sleep(2 ** attempt)
    return response


def cancel(request):
    request.cancelled = True
    return None
'''
NEW = (
    OLD.replace("ATTEMPTS = 3", "ATTEMPTS = 5")
    .replace(
        "        if response.status != 503:\n            return response\n        time.sleep(2 ** attempt)\n",
        "        if response.status not in (429, 503):\n            return response\n"
        "        time.sleep(min(2 ** attempt, MAX_WAIT))\n",
    )
    .replace("ATTEMPTS = 5\n", "ATTEMPTS = 5\nMAX_WAIT = 30  # seconds\n")
)

CHANGE = proposal(
    1,
    modify("services/http/retry.py", OLD, NEW),
    create("services/http/tests/test_retry.py", "def test_a_busy_server_is_asked_again():\n\tassert True\n"),
    modify("Makefile", "test:\n\tpytest\n", "test:\n\tpytest -q\n"),
    title="Retry on 429 and bound the wait",
    instructions=governed("AGENTS.md", "services/AGENTS.md"),
)

TEXT = """The client retries **three times** and doubles its wait each time:

1. `call()` sends the request (`services/http/retry.py:8`).
2. A `503` makes it wait `2 ** attempt` seconds.
3. Anything else is returned as it is.

```python
for attempt in range(ATTEMPTS):
    response = client.send(request)  # the only network call
    if response.status != 503:
        return response
```

| status | today | after the change |
|---|---|---|
| 429 | returned | retried |
| 503 | retried | retried, wait bounded |

> The wait was not bounded: with five attempts it would have been 31 s.

I propose to retry `429` as well, and to bound the wait.
"""


def turn(pause: float = 0.02) -> list[Step]:
    """A whole turn."""
    steps: list[Step] = [
        RoundStarted(1),
        ReasoningText("The person asks about retries. "),
        ReasoningText("I should look for the client first."),
        CallForming("searchFiles", 20),
        pause,
        RoundEnded(1, Usage(1500, 40), 2100, 32_000),
        ToolStarted("c1", "searchFiles", '{"query": "retry", "path": "services"}'),
        10 * pause,
        ToolFinished(
            "c1", "searchFiles", True, "services/http/retry.py:1: Retries for…\n", "12 hits in 4 files"
        ),
        ToolStarted("c2", "readFile", '{"path": "services/http/retry.py", "startLine": 1, "lineCount": 80}'),
        10 * pause,
        FocusMoved("services/http/retry.py"),
        InstructionsChanged(
            "services/http/retry.py",
            (
                DocumentState("AGENTS.md", ".", 1200, 340, "a" * 64, "in-effect"),
                DocumentState("services/AGENTS.md", "services", 700, 212, "b" * 64, "arrived"),
            ),
            (("services/http/agents.md", "the name must be AGENTS.md"),),
            ("services/AGENTS.md",),
        ),
        ToolFinished("c2", "readFile", True, OLD, "22 lines"),
        ToolStarted("c3", "readFile", '{"path": ".env"}'),
        ToolFinished("c3", "readFile", False, ".env holds secrets and is not read.", "refused: secret"),
        RoundStarted(2),
    ]
    for start in range(0, len(TEXT), 9):
        steps += [AnswerText(TEXT[start : start + 9]), pause]
    steps += [
        ToolStarted(
            "c4",
            "proposePatch",
            '{"path": "services/http/retry.py", "oldText": "ATTEMPTS = 3", "newText": "ATTEMPTS = 5"}',
        ),
        ToolFinished("c4", "proposePatch", True, "change-001 now has 3 files.", "change-001"),
        ProposalMade(CHANGE),
        RoundEnded(2, Usage(4200, 420, 1500), 4700, 32_000),
        Notice("searchFiles skipped 3 binary files."),
        TurnEnded("answered", 2, Usage(5700, 460, 1500), 3.4),
    ]
    return steps


def steward(pause: float = 0.02) -> FakeSteward:
    """A fake that has something to show."""
    fake = FakeSteward(model="offline/guide")
    fake.scripts = [turn(pause), turn(pause), turn(pause)]
    return fake


async def shots(directory: Path) -> None:
    """Pictures of the screens in their main states."""
    from textual.pilot import Pilot

    from steward.tui.app import StewardApp

    async def settle(pilot: Pilot[int]) -> None:
        for _ in range(4):
            await pilot.pause(0.1)

    for theme in ("dark", "light"):
        for width, height in ((80, 24), (140, 42), (40, 12)):
            fake = steward(0.0)
            app = StewardApp(fake.as_steward())
            app.theme = f"steward-{theme}"
            name = f"{theme}-{width}"
            async with app.run_test(size=(width, height)) as pilot:
                await settle(pilot)
                _save(app, directory / f"{name}-1-welcome.svg")
                await pilot.press("/")
                await settle(pilot)
                _save(app, directory / f"{name}-2-slash.svg")
                await pilot.press("backspace", *"How do retries work", "enter")
                await settle(pilot)
                await settle(pilot)
                _save(app, directory / f"{name}-3-answer.svg")
                app.transcript.focus()
                await pilot.press("p", "p", "p", "p", "enter")
                await settle(pilot)
                _save(app, directory / f"{name}-4-open.svg")
                await pilot.press("f4")
                await settle(pilot)
                await settle(pilot)
                _save(app, directory / f"{name}-5-review.svg")
                await pilot.press("v")
                await settle(pilot)
                _save(app, directory / f"{name}-6-review-v.svg")
                await pilot.pause(0.4)
                await pilot.press("a")
                await settle(pilot)
                _save(app, directory / f"{name}-7-confirm.svg")
                await pilot.press("escape", "escape", "f3")
                await settle(pilot)
                _save(app, directory / f"{name}-8-changes.svg")
                await pilot.press("escape", "f2")
                await settle(pilot)
                _save(app, directory / f"{name}-9-instructions.svg")


def _save(app: object, path: Path) -> None:
    from steward.tui.app import StewardApp

    assert isinstance(app, StewardApp)
    path.write_text(app.export_screenshot(title="steward"), "utf-8")


if __name__ == "__main__":
    if "--shots" in sys.argv:
        place = Path(sys.argv[sys.argv.index("--shots") + 1])
        place.mkdir(parents=True, exist_ok=True)
        asyncio.run(shots(place))
    else:
        from steward.tui import run

        sys.exit(run(steward().as_steward()))
