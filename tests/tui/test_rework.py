"""Taking a change by hunks and lines, commenting on it, comparing it with the last look, writing in it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from steward.proposals import Choice, FileChange
from steward.tui.app import StewardApp
from steward.tui.review import editor
from steward.tui.review.confirm import Confirm
from steward.tui.review.diff_view import DiffView
from steward.tui.review.rows import CodeRow, CommentRow, FileRow, HunkRow
from steward.tui.review.screen import ReviewScreen
from tests.monorepo import PROJECT
from tests.pty_screen import PtyScreen
from tests.tui.fake_steward import FakeSteward, create, modify, proposal
from tests.tui.looking import Clock, begun, reviewing, rows, seen, typed, until, until_seen, yes

BASE = "".join(f"line {n}\n" for n in range(1, 61))
RESULT = (
    BASE.replace("line 5\n", "line five\n")
    .replace("line 30\n", "line thirty\nand more\n")
    .replace("line 55\n", "")
)


def _app(*files: FileChange) -> tuple[FakeSteward, StewardApp, Clock]:
    clock = Clock()
    fake = FakeSteward()
    fake.put(proposal(1, *(files or (modify("src/a.txt", BASE, RESULT), create("b.txt", "new\n")))))
    return fake, StewardApp(fake.as_steward(), now=clock), clock


def _view(app: StewardApp) -> DiffView:
    return app.screen.query_one(DiffView)


def _to(app: StewardApp, text: str) -> None:
    """Put the cursor on the first line that reads so."""
    view = _view(app)
    for index, row in enumerate(view.rows):
        line = (row.new or row.old) if isinstance(row, CodeRow) else None
        if line is not None and line.text == text:
            view.move_to(index)
            return
    raise AssertionError(f"no line reads {text!r}")


async def _applied(pilot: Pilot[int], app: StewardApp, clock: Clock) -> None:
    clock.pass_(2)
    await pilot.press("a")
    await until(pilot, lambda: app.screen.query_one(Confirm).drawn is not None, "the question")
    clock.pass_(2)
    await yes(pilot, clock)
    await until_seen(pilot, "applied:")


async def test_a_hunk_left_out_is_a_new_stamp_that_must_be_read_before_it_is_applied() -> None:
    fake, app, clock = _app()
    stamp = fake.proposals["change-001"].short_stamp
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("right_square_bracket", "space")
        await until_seen(pilot, "without 1 hunk")
        assert "left out" in next(row for row in rows(app) if "hunk 2 of 3" in row)
        assert "+○and more" in seen(app) and "−○line 30" in seen(app)
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "Read it again; a applies it.")
        assert fake.applied == [] and not app.screen.query_one(Confirm).display
        assert fake.chosen == [{"src/a.txt": Choice((0, 2))}]
        assert stamp not in seen(app) and "and more" not in seen(app)
        assert fake.proposals["change-001"].short_stamp in seen(app)
        await _applied(pilot, app, clock)
        made = fake.proposals["change-001"]
        assert fake.applied == [("change-001", made.stamp)]
        wanted = BASE.replace("line 5\n", "line five\n").replace("line 55\n", "").encode()
        assert made.files[0].result == wanted


@pytest.mark.parametrize("width", [90, 160])
async def test_lines_and_ranges_are_left_out_and_taken_again(width: int) -> None:
    fake, app, clock = _app()
    async with app.run_test(size=(width, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        _to(app, "and more")
        await pilot.press("x")
        await until_seen(pilot, "without 1 line")
        await pilot.press("x")
        await until(pilot, lambda: "without" not in seen(app))
        _to(app, "line 4")
        await pilot.press("x")
        await until_seen(pilot, "No line is added or removed here.")
        await pilot.press("V", "j", "j", "j", "x")
        await until_seen(pilot, "without 1 hunk")
        await pilot.press("escape")
        assert _view(app).mark is None and isinstance(app.screen, ReviewScreen)
        _to(app, "and more")
        await pilot.press("x")
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "Read it again")
        result = fake.proposals["change-001"].files[0].result
        assert result == BASE.replace("line 30\n", "line thirty\n").replace("line 55\n", "").encode()


async def test_the_marks_hold_when_the_diff_is_widened_and_after_coming_back() -> None:
    fake, app, clock = _app()
    async with app.run_test(size=(110, 90)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("w", "w")
        await until(pilot, lambda: _view(app).context > 1000 and len(_view(app).rows) > 60)
        _to(app, "line thirty")
        await pilot.press("space")
        await until_seen(pilot, "without 1 hunk")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await reviewing(pilot)
        await until_seen(pilot, "without 1 hunk")
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "Read it again")
        assert fake.chosen == [{"src/a.txt": Choice((0, 2))}]


async def test_a_file_is_left_out_on_its_head_and_everything_cannot_be() -> None:
    binary = FileChange("bin.dat", "delete", b"\0\1", None, 0o644, None)
    fake, app, clock = _app(modify("src/a.txt", BASE, RESULT), binary)
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("n")
        assert isinstance(_view(app).rows[_view(app).cursor], FileRow)
        await pilot.press("space")
        await until_seen(pilot, "without 1 file")
        clock.pass_(2)
        await pilot.press("p", "space")
        await until_seen(pilot, "without 1 file, 3 hunks")
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "would be left; discard it instead")
        clock.pass_(2)
        await pilot.press("space", "escape")
        await reviewing(pilot)
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "Read it again")
        assert fake.chosen == [{"bin.dat": None}]


async def test_comments_stand_below_their_lines_and_go_as_one_question() -> None:
    fake, app, _ = _app()
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        _to(app, "line thirty")
        await pilot.press("J", "c")
        await typed(pilot, "one is enough")
        await pilot.press("enter")
        await until_seen(pilot, "❝ lines 30–31 · one is enough")
        _to(app, "line 55")
        await pilot.press("c")
        app.post_message(events.Paste("keep\nthis [/] \x1b]52;c;x\x07"))
        await until(pilot, lambda: "keep this" in seen(app))
        await pilot.press("enter")
        await until_seen(pilot, "❝ line 55 before · keep this [/] ␛]52;c;x␇")
        await until_seen(pilot, "2 comments")
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await until_seen(pilot, "2 unsent comments on change-001; s in the review sends.")
        await reviewing(pilot)
        await pilot.press("s")
        await until(pilot, lambda: bool(fake.asked))
        assert "1. src/a.txt, lines 30-31 (result" in fake.asked[0]
        assert "> line thirty\n> and more\none is enough" in fake.asked[0]
        assert "2. src/a.txt, line 55 (base" in fake.asked[0] and "> line 55\nkeep this" in fake.asked[0]
        assert len(app.screen_stack) == 1
        await reviewing(pilot)
        assert "❝" not in seen(app)


async def test_who_decides_with_comments_unsent_is_told_that_they_will_be_forgotten() -> None:
    _, app, clock = _app()
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        _to(app, "line five")
        await pilot.press("c")
        await typed(pilot, "why?")
        await pilot.press("enter")
        await until_seen(pilot, "❝")
        clock.pass_(2)
        await pilot.press("a")
        await until_seen(pilot, "1 unsent comment will be forgotten; s sends first.")
        await pilot.press("escape")
        clock.pass_(2)
        await pilot.press("d")
        await until_seen(pilot, "1 unsent comment will be forgotten.")
        await pilot.press("escape")
        await until(pilot, lambda: "forgotten" not in seen(app))


async def test_comments_that_can_no_longer_be_sent_are_not_spoken_of() -> None:
    fake, app, clock = _app()
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        _to(app, "line five")
        await pilot.press("c")
        await typed(pilot, "why?")
        await pilot.press("enter")
        await until_seen(pilot, "❝")
        await _applied(pilot, app, clock)
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await typed(pilot, "/undo-change")
        await pilot.press("enter")
        await until_seen(pilot, "Take back change-001")
        assert "unsent" not in seen(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert "unsent" not in seen(app) and fake.proposals["change-001"].status == "applied"


async def test_a_comment_is_changed_and_taken_away_on_its_row() -> None:
    fake, app, _ = _app()
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        _to(app, "line five")
        await pilot.press("c", "h", "m", "enter")
        await until_seen(pilot, "❝ line 5 · hm")
        view = _view(app)
        view.move_to(next(i for i, row in enumerate(view.rows) if isinstance(row, CommentRow)))
        await pilot.press("c", "exclamation_mark", "enter")
        await until_seen(pilot, "❝ line 5 · hm!")
        view.move_to(next(i for i, row in enumerate(view.rows) if isinstance(row, CommentRow)))
        await pilot.press("c", "ctrl+u", "enter")
        await until(pilot, lambda: "❝" not in seen(app))
        await pilot.press("s")
        await until_seen(pilot, "There is no comment yet")
        assert fake.asked == []


async def test_what_changed_since_the_last_look_can_be_shown_and_applies_nothing() -> None:
    fake, app, clock = _app()
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("i")
        await until_seen(pilot, "as it was when you first looked")
        _to(app, "line thirty")
        await pilot.press("c", "h", "m", "enter", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        made = fake.proposals["change-001"]
        later = RESULT.replace("line 2\n", "line two\n")
        fake.put(replace(made, files=(modify("src/a.txt", BASE, later),)))
        await reviewing(pilot)
        await until_seen(pilot, "i since")
        _to(app, "line thirty")
        await pilot.press("i")
        await until_seen(pilot, "Only what changed since you looked at")
        shown = seen(app)
        assert "line two" in shown and "line five" in shown and "line thirty" not in shown
        assert "b.txt is no longer in this change." in shown
        assert sum(isinstance(row, HunkRow) for row in _view(app).rows) == 1
        for key in ("a", "space", "x"):
            clock.pass_(2)
            await pilot.press(key)
            await until_seen(pilot, "i shows the whole change")
        assert fake.applied == [] and not app.screen.query_one(Confirm).display
        await pilot.press("i")
        await until_seen(pilot, "line thirty")
        assert "❝ line 30 · hm" in seen(app)
        row = _view(app).rows[_view(app).cursor]
        assert isinstance(row, CodeRow) and row.new is not None and row.new.text == "line thirty"


async def test_the_persons_own_edit_is_shown_again_before_it_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, app, clock = _app()
    async with app.run_test(size=(110, 60)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.delenv("EDITOR", raising=False)
        await pilot.press("e")
        await until_seen(pilot, "Set VISUAL or EDITOR")
        review = screen.review
        assert review is not None
        screen._work(screen._edited(review, "b.txt", b"mine\n"))  # pyright: ignore[reportPrivateUsage]
        await until_seen(pilot, "With your edit change-001 has the stamp")
        await until_seen(pilot, "You edited b.txt yourself.")
        assert fake.applied == []
        await _applied(pilot, app, clock)
        assert fake.proposals["change-001"].files[1].result == b"mine\n"


def test_the_editor_gets_the_bytes_and_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "my editor"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$0.seen"\nprintf "mine\\r\\n\\377" > "$2"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"'{program}' --wait;touch")
    argv = editor.command()
    assert argv is not None and argv == [str(program), "--wait;touch"]
    edited = editor.edit(argv, "deep/a;b $(x).py", b"theirs\n", 7)
    assert edited.data == b"mine\r\n\xff"
    flag, file = (tmp_path / "my editor.seen").read_text().splitlines()
    assert (flag, Path(file).name) == ("--wait;touch", "result") and not Path(file).parent.exists()
    assert (
        editor.edit(["false"], "a.py", b"x").sentence
        == "The editor ended with code 1; nothing of it was taken."
    )
    assert "could not be started" in editor.edit([str(tmp_path / "none")], "a.py", b"x").sentence
    monkeypatch.setenv("VISUAL", "'unclosed")
    monkeypatch.setenv("EDITOR", "vim -n")
    assert editor.command() == ["vim", "-n"]


PROGRAM = """
import sys
from tests.tui.fake_steward import FakeSteward, modify, proposal
from steward.tui import run
fake = FakeSteward()
fake.put(proposal(1, modify("src/a.txt", "one\\n", "two\\n")))
code = run(fake.as_steward())
print("left", repr(fake.proposals["change-001"].files[0].result), fake.applied)
sys.exit(code)
"""


def test_the_editor_has_the_terminal_and_the_review_comes_back_whole(tmp_path: Path) -> None:
    program = tmp_path / "editor"
    program.write_text('#!/bin/sh\necho "EDITING $(cat "$1")"\nread answer\necho "$answer" >> "$1"\n')
    program.chmod(0o755)
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(PROJECT),
        "LANG": "C.UTF-8",
        "HOME": "/nonexistent",
        "EDITOR": str(program),
    }
    with PtyScreen([sys.executable, "-c", PROGRAM], cwd=Path(PROJECT), environment=environment) as screen:
        screen.wait_for("Instructions here")
        screen.press("f4")
        screen.wait_for("e edit")
        screen.press("e")
        screen.wait_for("EDITING two")
        before = len(screen.raw)
        screen.type("mine\r")
        screen.wait_for("With your edit change-001 has the stamp")
        screen.wait_for("+ mine")
        assert b"src/a.txt" in screen.raw[before:]
        screen.press("escape")
        screen.wait_for("Instructions here")
        screen.press("ctrl+q")
        assert screen.wait_end() == 0
        assert "left b'two\\nmine\\n' []" in screen.raw.decode("utf-8", "replace")
