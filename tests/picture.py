"""Draws the picture of the screen in README.md: ``python -m tests.picture`` writes ``steward/manual/screen.svg``."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from steward.config import Settings
from steward.service import open_steward
from steward.tui.app import StewardApp
from tests.monorepo import PROJECT, SCRIPTS, copy_monorepo

PICTURE = PROJECT / "steward" / "manual" / "screen.svg"
QUESTION = "Why is the tax on 50 cents only 9 cents?"


def svg_of(app: StewardApp, title: str, *, simplify: bool = False) -> str:
    """The screen as SVG that is the same each time: no fonts from the network, no random names.

    With ``simplify`` neighbours of one style are one text: smaller, but less well aligned in other fonts.
    """
    svg = app.export_screenshot(title=title, simplify=simplify)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"terminal-\d+", "terminal", svg)


async def draw(folder: Path) -> str:
    """The screen after the scripted model has proposed its fix, as SVG."""
    root = copy_monorepo(folder / "shop")
    settings = Settings(theme="dark")
    steward = open_steward(root, settings, state=folder / "state", model="script/demo.jsonl", watch=False)
    app = StewardApp(steward, settings)
    try:
        async with app.run_test(size=(112, 36)) as pilot:
            app.turns.ask(QUESTION)
            while not await steward.changes() or steward.busy:
                await pilot.pause(0.1)
            await pilot.pause(1.0)
            return svg_of(app, "steward")
    finally:
        await steward.close()


def main() -> None:
    """Draw it where the script's name is short; write it without fonts from the network and without random names."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "demo.jsonl").write_bytes((SCRIPTS / "demo.jsonl").read_bytes())
        os.chdir(folder)
        svg = asyncio.run(draw(folder))
    PICTURE.write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
