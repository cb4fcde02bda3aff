"""What a person made of a change while reading it is there again, however the program ended."""

from __future__ import annotations

from pathlib import Path

from steward.proposals import FileChange
from steward.service.reading import Kept
from steward.service.revising import Comment
from steward.tui.app import StewardApp
from steward.tui.review.diff_view import DiffView
from steward.tui.review.rows import CodeRow, FileRow, HunkRow, IndexRow
from tests.cli.program import Program
from tests.monorepo import copy_monorepo, script
from tests.pty_screen import PtyScreen
from tests.tui.fake_steward import FakeSteward, create, modify, proposal
from tests.tui.looking import Clock, begun, reviewing, rows, seen, typed, until, until_seen

BASE = "def one():\n" + "".join(f"    line {n}\n" for n in range(2, 41)) + "def two():\n" + "    tail\n" * 20
RESULT = (
    BASE.replace("line 5\n", "line five\n").replace("line 30\n", "line thirty\n").replace("two()", "three()")
)


def _app(*files: FileChange) -> tuple[FakeSteward, StewardApp]:
    fake = FakeSteward()
    fake.put(proposal(1, *files))
    return fake, StewardApp(fake.as_steward(), now=Clock())


def test_marks_comments_and_the_last_look_outlive_kill_9(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    place = Program(copy_monorepo(tmp_path / "shop"), tmp_path / "home")

    def opened(model: str) -> PtyScreen:
        command = place.command("--model", script(model))
        return PtyScreen(command, cwd=place.directory, environment=place.environment, columns=110, lines=40)

    def review(screen: PtyScreen) -> None:
        screen.press("f4")
        screen.wait_for("a apply")
        screen.settle(0.7)

    with opened("create-rename-delete.jsonl") as screen:
        screen.wait_for("Instructions here")
        screen.type("tidy up")
        screen.press("enter")
        screen.wait_for("1 pending", 60)
        review(screen)
        screen.type("]")
        screen.wait_for("hunk 1 of 1")
        screen.type(" ")
        screen.wait_for("without 1 hunk")
        screen.type("njj")
        screen.type("c")
        screen.wait_for("enter keeps it")
        screen.type("keep this page")
        screen.press("enter")
        screen.wait_for("1 comment")
        screen.settle(0.5)
        screen.kill()
    with opened("answer.jsonl") as screen:
        screen.wait_for("1 pending")
        review(screen)
        screen.wait_for("without 1 hunk")
        screen.wait_for("keep this page")
        screen.settle(0.7)
        screen.type("a")
        screen.wait_for("Read it again")
        screen.settle(0.5)
        screen.kill()
    with opened("answer.jsonl") as screen:
        screen.wait_for("1 pending")
        review(screen)
        screen.wait_for("keep this page")
        assert not screen.shows("without 1 hunk")
        screen.type("i")
        screen.wait_for("Only what changed since you looked at")
        screen.press("escape")
        screen.wait_gone("Only what changed since you looked at")
        screen.press("ctrl+q")
        assert screen.wait_end() == 0


async def test_what_was_kept_of_an_earlier_version_is_compared_and_its_comments_move() -> None:
    fake, app = _app(modify("a.py", BASE, "new\n" + RESULT))
    before = proposal(1, modify("a.py", BASE, RESULT))
    said = Comment("a.py", "result", 30, 30, "really?", "change-001")
    fake.readings["change-001"] = Kept(before.stamp, ((0, "+", 5),), (), (said,), before)
    async with app.run_test(size=(100, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        assert "❝ line 31 · really?" in seen(app) and "without" not in seen(app)
        kept = fake.readings["change-001"]
        assert kept.stamp == fake.proposals["change-001"].stamp and kept.comments[0].first == 31
        await pilot.press("i")
        await until_seen(pilot, "Only what changed since you looked at")
        assert [row.hunk for row in app.screen.query_one(DiffView).rows if isinstance(row, HunkRow)] == [0]


async def test_each_mark_and_comment_is_kept_when_it_is_made_and_gone_when_it_is_sent() -> None:
    fake, app = _app(modify("a.py", BASE, RESULT))
    async with app.run_test(size=(100, 60)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        stamp = fake.proposals["change-001"].stamp
        await until(pilot, lambda: fake.readings.get("change-001") == Kept(stamp))
        await pilot.press("space")
        await until(pilot, lambda: fake.readings["change-001"].lines == ((0, "+", 5), (0, "-", 5)))
        await pilot.press("space", "j", "c")
        await typed(pilot, "hm")
        await pilot.press("enter")
        await until(pilot, lambda: [c.text for c in fake.readings["change-001"].comments] == ["hm"])
        assert fake.readings["change-001"].lines == ()
        await pilot.press("s")
        await until(pilot, lambda: fake.readings["change-001"].comments == ())


async def test_a_review_opens_again_where_it_was_left() -> None:
    _, app = _app(modify("a.py", BASE, RESULT), create("b.py", "".join(f"n {n}\n" for n in range(200))))
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("n", "n", *["j"] * 50)
        view = app.screen.query_one(DiffView)
        place = view.rows[view.cursor]
        await pilot.press("v", "escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await reviewing(pilot)
        view = app.screen.query_one(DiffView)
        assert view.rows[view.cursor] == place and "n 48" in seen(app)


async def test_a_change_of_several_files_begins_with_a_list_from_which_enter_goes_to_one() -> None:
    files = [modify(f"src/{name}.py", "a\n", "b\n") for name in "abc"]
    fake, app = _app(*files, modify("Makefile", "a:\n", "b:\n"), create("z.txt", "x\u202ey\n"))
    async with app.run_test(size=(100, 24)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        view = app.screen.query_one(DiffView)
        listed = [row for row in view.rows if isinstance(row, IndexRow)]
        assert [row.path for row in listed if row.warned] == ["Makefile", "z.txt"]
        assert "these can run or steer something: Makefile." in seen(app)
        view.move_to(view.rows.index(listed[2]))
        await pilot.press("space")
        await until_seen(pilot, "without 1 hunk")
        assert "left out" in next(row for row in rows(app) if "src/c.py" in row)
        await pilot.press("enter")
        row = view.rows[view.cursor]
        assert isinstance(row, HunkRow) and row.file == 2
        await pilot.press("enter")
        assert view.rows[view.cursor] is listed[2] or view.rows[view.cursor] == listed[2]
        await pilot.press("n")
        assert isinstance(row := view.rows[view.cursor], FileRow) and row.file == 0
        assert fake.applied == []


async def test_in_the_whole_file_the_hunk_keys_go_from_change_to_change() -> None:
    _, app = _app(modify("a.py", BASE, RESULT))
    async with app.run_test(size=(100, 24)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        view = app.screen.query_one(DiffView)
        assert "@@ -27,7 +27,7 @@ def one():" in seen(app)
        await pilot.press("right_square_bracket", "w", "w")
        await until(pilot, lambda: view.context > 1000 and len(view.rows) > 60)

        def line() -> str:
            row = view.rows[view.cursor]
            assert isinstance(row, CodeRow)
            shown = row.old or row.new
            return shown.text.strip() if shown is not None else ""

        assert line() == "line 30"
        await pilot.press("right_square_bracket")
        assert line() == "def two():"
        await pilot.press("left_square_bracket", "left_square_bracket")
        assert line() == "line 5"
        await pilot.press("space")
        await until_seen(pilot, "without 1 hunk")
