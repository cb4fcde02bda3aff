"""What leaves the screen by a person's word: copies, exports, and the output of their own shell commands."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from steward.service.views import WorkspaceView
from steward.tui import carrying
from steward.tui.app import StewardApp
from steward.tui.shell import KEPT, SENT, Ran
from tests.tui.fake_steward import FakeSteward, answer, modify, proposal
from tests.tui.looking import Clock, ask, begun, seen, until, until_seen

ANSWER = "Look:\n\n```python\nx = 1\n\ny = 2\n```\n\n- and\n\n  ~~~\n  indented \x1b]52;c;eA==\x07\n  ~~~\n"


class Fake(FakeSteward):
    """A fake whose directories exist."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.root = place

    def workspace_view(self) -> WorkspaceView:
        view = super().workspace_view()
        return WorkspaceView(
            view.name, view.root, view.boundary, view.engine, view.identity, str(self.root), (), ()
        )


async def _command(pilot: Pilot[int], app: StewardApp, text: str, clock: Clock | None = None) -> None:
    app.prompt.replace_all(text)
    if clock is not None:
        clock.pass_(1)
    await pilot.press("enter")
    await pilot.pause()


async def test_the_last_answer_and_its_code_blocks_are_copied_exactly(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.scripts = [answer(ANSWER)]
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        await _command(pilot, app, "/copy")
        await until_seen(pilot, "There is no answer 'last'")
        await ask(pilot)
        await _command(pilot, app, "/copy 1")
        await until_seen(pilot, "Code block 1 of 2 was given to the terminal's clipboard (13 B).")
        assert app.clipboard == "x = 1\n\ny = 2\n"
        await _command(pilot, app, "/copy code 2")
        await until_seen(pilot, "It holds 2 hidden characters.")
        assert app.clipboard == "indented \x1b]52;c;eA==\x07\n"
        await _command(pilot, app, "/copy")
        await until_seen(pilot, "The last answer was given")
        assert app.clipboard == ANSWER
        await _command(pilot, app, "/copy 3")
        await until_seen(pilot, "There is no code block '3'")


def test_what_is_too_large_for_a_clipboard_is_put_into_a_private_file(tmp_path: Path) -> None:
    app = StewardApp(Fake(tmp_path).as_steward())
    most = "x" * carrying.MOST
    assert "clipboard (" in carrying.copy(app, most, "It")
    assert app.clipboard == most
    said = carrying.copy(app, most + "y", "It")
    kept = tmp_path / "copied.txt"
    assert str(kept) in said and kept.read_text() == most + "y" and app.clipboard == most
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    target = tmp_path / "target"
    target.write_text("mine")
    kept.unlink()
    kept.symlink_to(target)
    with pytest.raises(carrying.UsageError):
        carrying.copy(app, most + "z", "It")
    assert target.read_text() == "mine"


async def test_an_export_never_overwrites(tmp_path: Path) -> None:
    app = StewardApp(Fake(tmp_path).as_steward(), now=Clock())
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        await _command(pilot, app, f"/export {tmp_path}/talk.md")
        await until_seen(pilot, "The conversation was written to talk.md.")
        assert (tmp_path / "talk.md").read_text() == "# markdown\n"
        (tmp_path / "talk.md").write_text("kept")
        await _command(pilot, app, f"/export {tmp_path}/talk.md")
        await until_seen(pilot, "talk.md exists and was left alone")
        assert (tmp_path / "talk.md").read_text() == "kept"
        await _command(pilot, app, f"/export {tmp_path}/talk.jsonl")
        await until_seen(pilot, "written to talk.jsonl")
        assert (tmp_path / "talk.jsonl").read_text() == "# script\n"
        await _command(pilot, app, "/export")
        await until_seen(pilot, "Name a file")


async def test_a_shell_command_is_shown_and_goes_to_the_model_only_when_attached(tmp_path: Path) -> None:
    clock = Clock()
    fake = Fake(tmp_path)
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        await _command(pilot, app, "!printf 'a\\033]52;c;x\\007b'; pwd; exit 3", clock)
        await until_seen(pilot, "exit code 3")
        assert "a␛]52;c;x␇b" in seen(app) and fake.asked == []
        assert app.shell.last is not None and str(tmp_path) in app.shell.last.output
        await ask(pilot, "first")
        assert fake.asked == ["first"]
        await _command(pilot, app, "/attach")
        await until_seen(pilot, "go along with your next question")
        await ask(pilot, "second")
        assert fake.asked[1].startswith("second\n\nOutput of my own command `printf")
        assert "(exit code 3):\n> a\x1b]52" in fake.asked[1]
        await ask(pilot, "third")
        assert fake.asked[2] == "third"


@pytest.mark.parametrize("how", ["paste", "keys as fast as a paste"])
async def test_a_paste_alone_never_runs_a_command(tmp_path: Path, how: str) -> None:
    clock = Clock()
    app = StewardApp(Fake(tmp_path).as_steward(), now=clock)
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        clock.pass_(1)
        if how == "paste":
            app.post_message(events.Paste("!touch here\n"))
            await until(pilot, lambda: "touch here" in app.prompt.text)
            clock.pass_(1)
            await pilot.press("enter")
        else:
            await pilot.press("exclamation_mark", *"touch", "space", *"here", "enter")
        await until_seen(pilot, "enter once more runs it")
        assert list(tmp_path.iterdir()) == [] and "touch here" in app.prompt.text
        clock.pass_(1)
        await pilot.press("enter")
        await until_seen(pilot, "exit code 0")
        assert [path.name for path in tmp_path.iterdir()] == ["here"]


async def test_what_a_model_says_never_runs_and_an_untrusted_repository_has_no_shell(tmp_path: Path) -> None:
    clock = Clock()
    fake = Fake(tmp_path)
    fake.scripts = [answer("!touch here\n")]
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        await ask(pilot)
        fake.trusted = False
        await _command(pilot, app, "!touch here", clock)
        await until_seen(pilot, "you have not trusted this repository")
        assert list(tmp_path.iterdir()) == []


async def test_escape_ends_a_command_and_all_it_started(tmp_path: Path) -> None:
    clock = Clock()
    app = StewardApp(Fake(tmp_path).as_steward(), now=clock)
    async with app.run_test(size=(200, 40)) as pilot:
        await begun(pilot)
        await _command(pilot, app, "!sleep 600 & echo $!; wait", clock)
        await until_seen(pilot, "esc stops it")
        await until(pilot, lambda: re.search(r"│ (\d+)", seen(app)) is not None)
        found = re.search(r"│ (\d+)", seen(app))
        assert found is not None
        number = int(found[1])
        await pilot.press("escape")
        await until_seen(pilot, "exit code -15")
        state = Path(f"/proc/{number}/stat")
        await until(pilot, lambda: not state.exists() or state.read_text().split()[2] == "Z")


def test_of_a_long_output_a_part_is_sent_and_the_rest_is_counted() -> None:
    message = Ran("make", "x" * (SENT + 5), 0, 7).message
    assert f"> {'x' * SENT}\n" in message and message.endswith("[12 more characters]")
    assert KEPT > SENT and os.sep


async def test_earlier_questions_are_searched(tmp_path: Path) -> None:
    app = StewardApp(Fake(tmp_path).as_steward(), now=Clock())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("ctrl+r")
        await until_seen(pilot, "two␊lines")
        await pilot.press("l", "i", "n", "enter")
        await until(pilot, lambda: app.prompt.text == "two\nlines")
        assert len(app.screen_stack) == 1


async def test_the_side_panel_is_filtered_and_resized(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.put(
        proposal(1, modify("a.py", "a\n", "b\n"), title="still waits"),
        proposal(2, modify("b.py", "a\n", "b\n"), title="is on disk", status="applied"),
        proposal(3, modify("c.py", "a\n", "b\n"), title="was moved"),
    )
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(130, 40)) as pilot:
        await begun(pilot)
        fake.make_stale("change-003", "c.py")
        wanted = {
            "pending": {"still waits", "was moved"},
            "stale": {"was moved"},
            "applied": {"is on disk"},
            "all": {"still waits", "was moved", "is on disk"},
        }
        for kind, titles in [*wanted.items(), ("pending", wanted["pending"])]:
            await until(
                pilot,
                lambda titles=titles: {t for t in wanted["all"] if t in seen(app)} == titles,
                f"{kind} shows {titles}",
            )
            assert app.panel.filter == kind
            await pilot.press("f5")
        width = app.panel.outer_size.width
        await pilot.press("f8")
        await until(pilot, lambda: app.panel.outer_size.width == width + 4)
        await pilot.press(*["f7"] * 20)
        await until(pilot, lambda: app.panel.outer_size.width == 24)
        await pilot.mouse_down(app.panel, offset=(0, 5))
        await pilot.hover(app.panel, offset=(-10, 5))
        await pilot.mouse_up(app.panel, offset=(-10, 5))
        await until(pilot, lambda: app.panel.outer_size.width > 30, "dragged")
        assert app.focused is app.prompt
