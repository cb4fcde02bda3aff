"""The screen over the real steward, with a scripted model in this process and real files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from steward.tui.app import StewardApp
from tests.support import call, patch, plant, steward_in
from tests.tui.looking import Clock, ask, begun, reviewing, rows, seen, typed, until, until_seen, yes

REPLIES = [
    {"text": "I look first.\n", "calls": [call("readFile", path="src/deep/inner.py")]},
    {"text": "", "calls": [patch("src/deep/inner.py", "VALUE = 1", "VALUE = 2")]},
    {"text": "It is **pending** now.\n"},
    {"text": "Good.\n"},
]


async def test_from_the_question_to_the_written_file(tmp_path: Path) -> None:
    root = plant(tmp_path / "repo")
    steward, gateway = steward_in(root, list(REPLIES))
    clock = Clock()
    app = StewardApp(steward, now=clock)
    file = root / "src/deep/inner.py"
    try:
        async with app.run_test(size=(130, 50)) as pilot:
            await begun(pilot)
            await ask(pilot, "change it")
            shown = seen(app)
            for piece in (
                "readFile src/deep/inner.py",
                "src/deep/AGENTS.md",
                "It is pending now.",
                "change-001 waits for your review",
            ):
                assert piece in shown, piece
            await until_seen(pilot, "1 pending")
            assert file.read_text() == "VALUE = 1\n"
            await reviewing(pilot)
            assert "VALUE = 2" in seen(app)
            assert "Made under AGENTS.md, src/AGENTS.md, src/deep/AGENTS.md" in seen(app)
            clock.pass_(1)
            await pilot.press("a")
            await until_seen(pilot, "any other key")
            assert file.read_text() == "VALUE = 1\n"
            clock.pass_(1)
            await yes(pilot, clock)
            await until_seen(pilot, "change-001 applied: src/deep/inner.py")
            assert file.read_text() == "VALUE = 2\n"
            await until_seen(pilot, "none pending")
            await ask(pilot, "thanks")
            assert "applied change-001" in str(gateway.sent()[-1]) + str(gateway.sent())
            await typed(pilot, "/undo-change")
            await pilot.press("enter")
            await until_seen(pilot, "Take back change-001")
            clock.pass_(1)
            await yes(pilot, clock)
            await until_seen(pilot, "change-001 undone")
            assert file.read_text() == "VALUE = 1\n"
    finally:
        await steward.close()


async def test_a_part_is_taken_commented_on_and_amended(tmp_path: Path) -> None:
    root = plant(tmp_path / "repo")
    (root / "long.txt").write_text("".join(f"line {n}\n" for n in range(40)))
    steward, gateway = steward_in(
        root,
        [
            {"calls": [call("readFile", path="long.txt")]},
            {"calls": [patch("long.txt", "line 3\n", "three\n"), patch("long.txt", "line 30\n", "thirty\n")]},
            {"text": "Done.\n"},
            {"calls": [patch("long.txt", "three\n", "drei\n", change="change-001")]},
            {"text": "Amended.\n"},
        ],
    )
    clock = Clock()
    app = StewardApp(steward, now=clock)
    try:
        async with app.run_test(size=(130, 50)) as pilot:
            await begun(pilot)
            await ask(pilot, "change it")
            await reviewing(pilot)
            await pilot.press("right_square_bracket", "space")
            clock.pass_(2)
            await pilot.press("a")
            await until_seen(pilot, "Read it again; a applies it.")
            assert "thirty" not in seen(app)
            await pilot.press("j", "j", "j", "j", "j", "c")
            await typed(pilot, "in german")
            await pilot.press("enter", "s")
            await until(pilot, lambda: app.turns.ended == 2 and not app.turns.running)
            sent = str(gateway.sent())
            assert "left parts of change-001 out of it: hunk 2 of 2 of long.txt" in sent
            assert "in german" in sent and "lines" not in sent.rpartition("in german")[0][-60:]
            await reviewing(pilot)
            await pilot.press("i")
            await until_seen(pilot, "Only what changed since you looked at")
            shown = seen(app)
            assert "three" in shown and "drei" in shown and "line 30" not in shown
            await pilot.press("i")
            await until(pilot, lambda: "Only what changed" not in seen(app))
            clock.pass_(2)
            await pilot.press("a")
            await until_seen(pilot, "any other key")
            clock.pass_(2)
            await yes(pilot, clock)
            await until_seen(pilot, "change-001 applied")
            written = (root / "long.txt").read_text()
            assert "drei\n" in written and "line 30\n" in written and "thirty" not in written
    finally:
        await steward.close()


async def test_the_stale_badge_turns_on_by_itself_when_the_file_changes_on_disk(tmp_path: Path) -> None:
    root = plant(tmp_path / "repo")
    steward, _ = steward_in(root, list(REPLIES), watch=True)
    clock = Clock()
    app = StewardApp(steward, now=clock)
    try:
        async with app.run_test(size=(130, 50)) as pilot:
            await begun(pilot)
            await ask(pilot, "change it")
            await until_seen(pilot, "1 pending")
            looks = 0

            def moved() -> bool:
                nonlocal looks
                if looks % 100 == 0:  # again, since the directory may not have been watched yet
                    (root / "src/deep/inner.py").write_text("# by someone else\nVALUE = 1\n")
                looks += 1
                return " stale " in seen(app)

            await until(pilot, moved, "the badge")
            await until_seen(pilot, "1 stale")
            await reviewing(pilot)
            clock.pass_(1)
            await pilot.press("a")
            await until_seen(pilot, "cannot be applied")
            clock.pass_(1)
            await pilot.press("b")
            await until_seen(pilot, "Read it again")
            await until(pilot, lambda: any("a apply" in row for row in rows(app)))
            clock.pass_(1)
            await pilot.press("a")
            await until_seen(pilot, "any other key")
            clock.pass_(1)
            await yes(pilot, clock)
            await until_seen(pilot, "change-001 applied")
            assert (root / "src/deep/inner.py").read_text() == "# by someone else\nVALUE = 2\n"
    finally:
        await steward.close()


async def test_pages_and_lists_of_the_real_steward_open(tmp_path: Path) -> None:
    root = plant(tmp_path / "repo")
    steward, _ = steward_in(root, list(REPLIES))
    app = StewardApp(steward)
    try:
        async with app.run_test(size=(110, 40)) as pilot:
            await begun(pilot)
            await ask(pilot, "change it")
            for command, says in (
                ("/workspace", "What the tools never touch"),
                ("/instructions src/deep/inner.py", "src/deep/AGENTS.md"),
                ("/skills", "Skills"),
                ("/sessions", "change it"),
                ("/model", "script/here"),
                ("/changes", "change-001"),
                ("/help keys", "Manual"),
            ):
                app.prompt.replace_all(command)
                await pilot.press("enter")
                await until(pilot, lambda: len(app.screen_stack) == 2)
                await until_seen(pilot, says)
                await pilot.press("escape")
                await until(pilot, lambda: len(app.screen_stack) == 1)
            await pilot.press("ctrl+n")
            await until(pilot, lambda: "❯ change it" not in seen(app))
    finally:
        await steward.close()


def test_nothing_heavy_is_imported_before_something_is_on_the_screen() -> None:
    program = """
import asyncio, sys
import steward.tui
assert "textual.app" not in sys.modules
from tests.tui.fake_steward import FakeSteward
before = set(sys.modules)
from steward.tui.app import StewardApp
app = StewardApp(FakeSteward().as_steward())
async def main():
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause(0.1)
        names = ("pygments", "markdown_it", "rapidfuzz", "litellm", "tree_sitter", "difflib")
        print([name for name in names if name in sys.modules and name not in before])
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr
