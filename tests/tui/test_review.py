"""The review: what is shown, what is asked, and what can never be an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events
from textual.pilot import Pilot

from steward.events import ChangesMoved
from steward.proposals import FileChange
from steward.tui.app import StewardApp
from steward.tui.review.confirm import SETTLE, Confirm, settle
from steward.tui.review.diff_view import DiffView
from steward.tui.review.rows import CodeRow, FileRow, HunkRow
from steward.tui.review.screen import ReviewScreen
from tests.tui.fake_steward import FakeSteward, create, governed, lines, modify, proposal
from tests.tui.looking import Clock, begun, moment, reviewing, rows, seen, typed, until, until_seen, yes

BASE = "import os\n\n\ndef f(x):\n    return x + 1\n"
RESULT = "import os\n\n\ndef f(x):\n    return x + 20\n"


def _with_change(clock: Clock | None = None) -> tuple[FakeSteward, StewardApp]:
    fake = FakeSteward()
    fake.put(
        proposal(1, modify("src/a.py", BASE, RESULT), title="Add more", instructions=governed("AGENTS.md"))
    )
    return fake, StewardApp(fake.as_steward(), now=clock or Clock())


def _confirm(app: StewardApp) -> Confirm:
    return app.screen.query_one(Confirm)


def _answered(app: StewardApp) -> bool:
    """Whether an answer waits for its moment to pass."""
    return any(confirm.answered for confirm in app.screen.query(Confirm))


async def _asked(pilot: Pilot[int], app: StewardApp, clock: Clock) -> None:
    """Press ``a`` as a person does and wait until the question is drawn."""
    clock.pass_(1)
    await pilot.press("a")
    await until(pilot, lambda: _confirm(app).drawn is not None, "the question")


async def test_a_change_is_reviewed_and_applied_with_two_keys() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        shown = seen(app)
        for piece in (
            "change-001",
            "pending",
            "Add more",
            "Made under AGENTS.md",
            "src/a.py",
            "return x + 20",
        ):
            assert piece in shown, piece
        assert fake.proposals["change-001"].short_stamp in shown
        await _asked(pilot, app, clock)
        assert "stamp " + fake.proposals["change-001"].short_stamp in seen(app)
        clock.pass_(1)
        await yes(pilot, clock)
        await until(pilot, lambda: bool(fake.applied))
        assert fake.applied == [("change-001", fake.proposals["change-001"].stamp)]
        await until_seen(pilot, "change-001 applied: src/a.py")
        await until_seen(pilot, "none pending")


@pytest.mark.parametrize("key", ["enter", "space", "n", "a", "tab", "j", "q", "escape"])
async def test_any_other_key_leaves_the_files_alone(key: str) -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        clock.pass_(1)
        await pilot.press(key)
        await until(pilot, lambda: _confirm(app).deed is None)
        assert "Nothing was written." in seen(app)
        clock.pass_(5)
        await pilot.press("Y")
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)


@pytest.mark.parametrize(
    "keys",
    [["a", "Y"], ["a", "Y", "Y", "Y"], ["enter", "a", "enter", "Y"], [*"sayYes", "enter"], [*"aYaYaY"]],
)
@pytest.mark.parametrize("gap", [0.0, 0.1, 0.25])
async def test_type_ahead_never_applies(keys: list[str], gap: float) -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        clock.pass_(1)
        for key in keys:
            await pilot.press("space" if key == " " else key)
            clock.pass_(gap)
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)


async def test_keys_typed_before_the_review_is_drawn_never_apply() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        clock.pass_(5)
        for key in ("f4", "a", "Y"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None)
        clock.pass_(5)
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)


@pytest.mark.parametrize(
    "text", ["essay, may, stay", "say yes", "ok pay", "okay it is away", "I stay", "naY, sayYes"]
)
@pytest.mark.parametrize("gap", [0.35, 0.5, 5.0])
async def test_a_sentence_typed_slowly_in_the_wrong_place_does_not_apply(text: str, gap: float) -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        for key in text:
            clock.pass_(gap)
            await pilot.press({" ": "space", ",": "comma"}.get(key, key))
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)


@pytest.mark.parametrize("word", ["way", "pay", "bay", "away", "Way"])
@pytest.mark.parametrize("gap", [0.35, 1.3, 60.0])
async def test_a_word_with_nothing_after_it_does_not_apply(
    word: str, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.tui.review.confirm.SETTLE", 0.0)
    monkeypatch.setattr("steward.tui.review.confirm.RHYTHM", 0.0)
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        for letter in word:
            clock.pass_(gap)
            await pilot.press(letter)
            await pilot.pause()
        await pilot.pause(0.1)
        assert fake.applied == [] and not _answered(app)


async def test_a_small_y_says_what_the_answer_is_and_the_question_stands() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        clock.pass_(1)
        await pilot.press("y")
        await until_seen(pilot, "Type Y, with shift, to answer")
        clock.pass_(1)
        await yes(pilot, clock)
        await until(pilot, lambda: bool(fake.applied))


@pytest.mark.parametrize("key", ["space", "enter", "s", "escape"])
async def test_a_key_right_after_the_answer_stops_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steward.tui.review.confirm.SETTLE", 60.0)
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        for letter in "waY":
            clock.pass_(1)
            await pilot.press(letter)
            await pilot.pause()
        await until_seen(pilot, "Any key now stops it.")
        await pilot.press(key)
        await until_seen(pilot, "A key came right after Y; nothing was written.")
        assert _confirm(app).deed is None and fake.applied == []


async def test_a_screen_that_stood_still_after_the_answer_lets_the_keys_through_that_came_meanwhile() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        clock.pass_(2)
        await pilot.press("Y")
        clock.pass_(5)
        await pilot.pause(SETTLE + 0.1)
        assert fake.applied == [] and _answered(app)
        await pilot.press("escape")
        await until_seen(pilot, "A key came right after Y; nothing was written.")
        await _asked(pilot, app, clock)
        clock.pass_(2)
        await pilot.press("Y")
        clock.pass_(5)
        await pilot.pause(SETTLE + 0.1)
        await moment(pilot, clock)
        await until(pilot, lambda: bool(fake.applied))


def test_who_types_slowly_is_given_more_time_to_go_on_typing() -> None:
    assert settle(0.3) == settle(5) == SETTLE
    assert settle(1.0) > 1.0


async def test_after_keys_that_mean_nothing_a_decision_takes_its_key_twice() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("t")
        for key in ("a", "d", "a"):
            clock.pass_(60)
            await pilot.press(key)
            await until_seen(pilot, "press this one once more")
            assert _confirm(app).deed is None and "Why discard" not in seen(app)
        await _asked(pilot, app, clock)
        await pilot.press("escape", "t", "down")
        await _asked(pilot, app, clock)
        assert fake.applied == []


@pytest.mark.parametrize("text", ["Y", "a\nY\n", "Yes\n", "Y" * 50])
async def test_a_paste_is_never_an_answer(text: str) -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        clock.pass_(5)
        app.post_message(events.Paste(text))
        await until(pilot, lambda: _confirm(app).deed is None)
        clock.pass_(5)
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)


async def test_a_key_that_came_too_soon_says_so_and_a_later_one_counts() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        clock.pass_(0.2)
        await pilot.press("Y")
        await until_seen(pilot, "too soon")
        assert fake.applied == []
        clock.pass_(0.5)
        await yes(pilot, clock)
        await until(pilot, lambda: bool(fake.applied))


async def test_a_stale_change_cannot_be_applied_and_re_anchoring_is_offered() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await until_seen(pilot, "change-001")
        fake.make_stale("change-001", "src/a.py")
        await until_seen(pilot, " stale ")
        await reviewing(pilot)
        assert "b rebase" in seen(app) and "a apply" not in seen(app)
        clock.pass_(1)
        await pilot.press("a")
        await until_seen(pilot, "cannot be applied; b re-anchors it")
        assert _confirm(app).deed is None
        before = fake.proposals["change-001"].short_stamp
        clock.pass_(1)
        await pilot.press("b")
        await until(pilot, lambda: fake.proposals["change-001"].short_stamp != before)
        await until_seen(pilot, "Read it again")
        await until_seen(pilot, fake.proposals["change-001"].short_stamp)
        assert fake.applied == []


async def test_a_change_that_turns_stale_while_the_question_stands_is_not_applied() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await _asked(pilot, app, clock)
        fake.make_stale("change-001", "src/a.py")
        await until_seen(
            pilot, "Something has changed meanwhile: the question is gone, and nothing was written."
        )
        assert _confirm(app).deed is None
        clock.pass_(1)
        await pilot.press("Y")
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)
        assert "stale" in seen(app)


async def test_a_change_amended_while_it_is_read_is_shown_anew_and_says_so() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        old = fake.proposals["change-001"]
        await _asked(pilot, app, clock)
        fake.put(replace(old, files=(modify("src/a.py", BASE, RESULT.replace("20", "999")),)))
        fake.tell(ChangesMoved(("change-001",)))
        await until_seen(pilot, "x + 999")
        assert "is not what you were reading" in seen(app)
        clock.pass_(1)
        await pilot.press("Y")
        await pilot.pause(0.05)
        assert fake.applied == [] and not _answered(app)
        clock.pass_(1)
        await pilot.press("a")
        await until_seen(pilot, "press this one once more")
        await _asked(pilot, app, clock)
        clock.pass_(1)
        await yes(pilot, clock)
        await until(pilot, lambda: bool(fake.applied))
        assert fake.applied == [("change-001", fake.proposals["change-001"].stamp)]
        assert fake.applied[0][1] != old.stamp


async def test_discarding_asks_for_the_reason() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        clock.pass_(1)
        await pilot.press("d")
        await until_seen(pilot, "Why discard change-001?")
        clock.pass_(1)
        await typed(pilot, "not needed")
        await pilot.press("enter")
        await until(pilot, lambda: fake.discarded == [("change-001", "not needed")])
        await until_seen(pilot, "change-001 discarded: not needed")


async def test_a_sentence_typed_for_another_window_discards_nothing() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        clock.pass_(1)
        keys = ["d", "o", "space", "t", "h", "i", "s", "enter"]
        for key in keys:
            await pilot.press(key)
            clock.pass_(0.4)
        await until_seen(pilot, "enter once more discards")
        await pilot.press("a", "enter")
        await pilot.pause(0.05)
        assert fake.discarded == []
        clock.pass_(1)
        await pilot.press("enter")
        await until(pilot, lambda: fake.discarded == [("change-001", "o thisa")])


@pytest.mark.parametrize("key", ["d", "c", "slash"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
async def test_a_line_to_type_in_says_what_enter_and_escape_do_at_any_width(
    key: str, size: tuple[int, int]
) -> None:
    clock = Clock()
    _, app = _with_change(clock)
    async with app.run_test(size=size) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        clock.pass_(1)
        await pilot.press("G")
        clock.pass_(1)
        await pilot.press(key)
        hint, *words = {
            "d": ("Why discard change-001?", "enter discards it", "esc keeps it"),
            "c": ("comment on line 5", "enter keeps it", "esc leaves it"),
            "slash": ("find in this change", "enter finds", "esc leaves"),
        }[key]
        await until(pilot, lambda: all(word in rows(app)[-1] for word in words))
        assert hint in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: "a apply" in rows(app)[-1])


async def test_the_question_stands_alone_on_the_smallest_screen() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(40, 12)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        await pilot.press("u")
        await until_seen(pilot, "That key came too soon")
        await _asked(pilot, app, clock)
        assert "too soon" not in seen(app) and "a apply" not in seen(app)
        assert "Y  apply" in seen(app)
        await pilot.press("escape")
        await until(pilot, lambda: "a apply" in rows(app)[-1])
        assert fake.applied == []


async def test_escape_from_the_reason_keeps_the_change() -> None:
    clock = Clock()
    fake, app = _with_change(clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        clock.pass_(1)
        await pilot.press("d")
        await until_seen(pilot, "Why discard")
        await pilot.press("escape")
        await until(pilot, lambda: screen.query_one(DiffView).has_focus)
        assert app.screen is screen and fake.discarded == []
        await pilot.press("escape")
        await until(pilot, lambda: len(app.screen_stack) == 1)


async def test_an_applied_change_is_undone_after_the_same_question() -> None:
    clock = Clock()
    fake = FakeSteward()
    fake.put(proposal(1, modify("src/a.py", BASE, RESULT), status="applied"))
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "/undo-change")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and _confirm(app).drawn is not None)
        clock.pass_(1)
        await yes(pilot, clock)
        await until(pilot, lambda: fake.proposals["change-001"].status == "undone")
        await until_seen(pilot, "change-001 undone: src/a.py")


async def test_what_can_execute_overlap_or_hide_is_said_in_the_review_and_in_the_question() -> None:
    clock = Clock()
    fake = FakeSteward()
    fake.put(
        proposal(2, modify("Makefile", "a:\n", "b:\n")),
        proposal(1, modify("Makefile", "a:\n", "a\u202e:\n")),
    )
    app = StewardApp(fake.as_steward(), now=clock)
    async with app.run_test(size=(110, 40)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        shown = seen(app)
        for piece in (
            "1 hidden",
            "overlaps",
            "Adds 1 hidden character",
            "⟨U+202E⟩",
            "Changes the same files as change-002",
        ):
            assert piece in shown, piece
        await _asked(pilot, app, clock)
        shown = seen(app)
        assert "Makefile" in shown and "It adds 1 hidden character." in shown
        assert "Other pending changes touch the same files: change-002." in shown


async def test_moving_by_hunk_file_and_ends() -> None:
    text = list(lines(200))
    changed = list(text)
    for index in (10, 80, 150):
        changed[index] = f"changed {index}\n"
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.txt", "".join(text), "".join(changed)), modify("b.txt", "x\n", "y\n")))
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        assert isinstance(view.rows[view.cursor], HunkRow)
        await pilot.press("right_square_bracket")
        await until_seen(pilot, "changed 80")
        await pilot.press("right_square_bracket")
        await until_seen(pilot, "changed 150")
        await pilot.press("left_square_bracket")
        assert isinstance(row := view.rows[view.cursor], HunkRow) and row.hunk == 1
        await pilot.press("n")
        assert isinstance(row := view.rows[view.cursor], FileRow) and row.path == "b.txt"
        assert "b.txt (2 of 2)" in seen(app)
        await pilot.press("p")
        assert isinstance(row := view.rows[view.cursor], FileRow) and row.path == "a.txt"
        await pilot.press("G")
        assert view.cursor == len(view.rows) - 1
        await pilot.press("g", "j", "j", "k")
        assert view.cursor == 1
        await pilot.press("pagedown")
        assert view.scroll_offset.y > 0


async def test_searching_finds_and_walks_the_hits() -> None:
    text = "".join(lines(300))
    fake = FakeSteward()
    fake.put(proposal(1, create("a.txt", text)))
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        await pilot.press("slash")
        await typed(pilot, "line 27")
        await pilot.press("enter")
        view = screen.query_one(DiffView)
        await until(pilot, lambda: view.hits == (1, 11))
        await pilot.press("full_stop")
        assert view.hits == (2, 11)
        await until_seen(pilot, "line 270")
        await pilot.press("comma", "comma")
        assert view.hits == (11, 11)
        await pilot.press("slash")
        await typed(pilot, "nowhere")
        await pilot.press("enter")
        await until_seen(pilot, "is not in this change")


async def test_what_is_typed_in_one_burst_with_the_key_that_opens_a_line_goes_into_the_line() -> None:
    fake = FakeSteward()
    fake.put(proposal(1, create("a.txt", "".join(lines(300)))))
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        for key in (
            "j",
            "j",
            "slash",
            *"linx27",
            "enter",
            "slash",
            *"line",
            "space",
            *"27",
            "enter",
            "j",
            "c",
            *"axe",
            "enter",
        ):
            app.post_message(events.Key(key, {"slash": "/", "space": " ", "enter": "\r"}.get(key, key)))
        view = screen.query_one(DiffView)
        await until_seen(pilot, "· axe")
        assert view.hits[1] == 11 and "without" not in seen(app) and fake.applied == []
        assert isinstance(row := view.rows[view.cursor], CodeRow) and row.new is not None
        assert row.new.text == "line 28"


async def test_context_widens_to_the_whole_file_with_the_cursor_on_its_line() -> None:
    text = list(lines(100))
    changed = [*text[:50], "new\n", *text[50:]]
    fake = FakeSteward()
    fake.put(proposal(1, modify("a.txt", "".join(text), "".join(changed))))
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        await pilot.press("j", "j", "j", "j")
        assert (
            isinstance(row := view.rows[view.cursor], CodeRow)
            and row.new is not None
            and row.new.text == "new"
        )
        await pilot.press("w")
        await until(pilot, lambda: view.context == 12 and len(view.rows) > 20)
        await pilot.press("w")
        await until(pilot, lambda: len(view.rows) > 100)
        assert (
            isinstance(row := view.rows[view.cursor], CodeRow)
            and row.new is not None
            and row.new.text == "new"
        )
        assert "whole file" in seen(app)


async def test_side_by_side_is_automatic_by_width_and_switched_by_hand() -> None:
    fake, app = _with_change()
    async with app.run_test(size=(160, 30)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        assert view.is_split
        row = next(row for row in rows(app) if "x + 20" in row)
        assert "x + 1 " in row
        await pilot.press("v")
        assert not view.is_split
        await pilot.pause()
        assert "x + 1 " not in next(row for row in rows(app) if "x + 20" in row)
        await pilot.press("v")
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        assert view.is_split
        assert fake.applied == []


@pytest.mark.parametrize("split", [True, False])
async def test_long_lines_wrap_and_lose_no_character(split: bool) -> None:
    long = "".join(f"<{i}>" for i in range(400))
    fake = FakeSteward()
    fake.put(proposal(1, create("a.txt", long + "\n")))
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(80, 100)) as pilot:
        await begun(pilot)
        screen = await reviewing(pilot)
        view = screen.query_one(DiffView)
        if view.is_split != split:
            await pilot.press("v")
            await pilot.pause()
        gutter = view._shape.gutter  # pyright: ignore[reportPrivateUsage]
        start = view._shape.half + 1 if split else 0  # pyright: ignore[reportPrivateUsage]
        body = [row[start + gutter : 79] for row in rows(app)]
        assert long in "".join(part.rstrip() for part in body).replace(" ", "")


async def test_tabs_returns_missing_newlines_and_bytes_that_are_not_text_are_all_seen() -> None:
    fake = FakeSteward()
    fake.put(
        proposal(
            1,
            modify("a.txt", b"one\r\n\ttwo\r\n", b"one\n\ttwo\xff\r\nthree"),
            FileChange("bin.dat", "delete", b"\0\1\2", None, 0o644, None),
            FileChange("new.txt", "rename", b"same\n", b"same\n", 0o644, 0o755, "old.txt"),
        )
    )
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 50)) as pilot:
        await begun(pilot)
        await reviewing(pilot)
        shown = seen(app)
        for piece in (
            "one␍",
            "→   two",
            "⟨U+DCFF⟩",
            "No newline at end of file",
            "Binary: 3 B → absent",
            "old.txt → new.txt",
        ):
            assert piece in shown, piece


async def test_nothing_pending_is_said_and_no_empty_review_opens() -> None:
    fake = FakeSteward()
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("f4")
        await until_seen(pilot, "No change is pending.")
        assert len(app.screen_stack) == 1


async def test_the_list_of_changes_opens_a_review() -> None:
    fake = FakeSteward()
    fake.put(
        proposal(1, modify("a.py", "a\n", "b\n")),
        proposal(2, modify("b.py", "a\n", "b\n"), status="discarded"),
    )
    app = StewardApp(fake.as_steward(), now=Clock())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await pilot.press("f3")
        await until_seen(pilot, "discarded")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen) and app.screen.drawn is not None)
        assert "change-002" in seen(app) and "discarded" in seen(app)
