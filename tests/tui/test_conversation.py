"""The conversation as a person sees it."""

from __future__ import annotations

from steward.conversation import Assistant, ToolAnswer, ToolCall, Usage, User
from steward.events import (
    AnswerText,
    CallForming,
    DocumentState,
    InstructionsChanged,
    LimitNotice,
    Notice,
    ProposalMade,
    ReasoningText,
    Retrying,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from steward.tui.app import StewardApp
from steward.tui.conversation.tool_block import ToolBlock
from steward.tui.looks import looks_of
from steward.tui.sentences import ended
from steward.tui.themes import DARK
from steward.tui.welcome import Facts, Welcome
from tests.tui.fake_steward import FakeSteward, answer, modify, proposal
from tests.tui.looking import ask, begun, rows, seen, typed, until, until_seen


async def test_the_first_screen_says_where_one_is_what_governs_and_who_answers() -> None:
    fake = FakeSteward(model="offline/guide")
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await until_seen(pilot, "Instructions here: AGENTS.md")
        text = seen(app)
        assert "shop" in text
        assert "No language model is in use" in text
        assert app.prompt.has_focus


def test_a_model_answers_on_this_machine_or_at_a_host() -> None:
    def said(host: str) -> str:
        lines = Welcome(Facts("shop", "script/demo", host)).lay_out(200, looks_of(DARK))
        return "".join(span.text for line in lines for span in line)

    assert "script/demo answers on this machine." in said("this machine")
    assert "script/demo answers at api.example.org." in said("api.example.org")
    assert "script/demo answers. " in said("")


async def test_a_streamed_answer_is_laid_out_as_markdown() -> None:
    fake = FakeSteward()
    text = "# Head\n\nSome **bold** and `code`.\n\n- one\n- two\n\n```python\ndef f(): pass\n```\nend\n"
    fake.scripts = [answer(*text)]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await ask(pilot)
        shown = seen(app)
        for piece in ("Head", "Some bold and code.", "• one", "• two", "def f(): pass", "end"):
            assert piece in shown
        assert "**" not in shown and "```" not in shown
        assert app.feed.answers == [text]


async def test_a_call_is_one_line_that_opens_to_show_arguments_and_result() -> None:
    fake = FakeSteward()
    fake.scripts = [
        [
            RoundStarted(1),
            CallForming("readFile", 12),
            ToolStarted("c1", "readFile", '{"path": "src/a.py", "startLine": 1, "lineCount": 80}'),
            ToolFinished("c1", "readFile", True, "1\tfirst line\n2\tsecond line", "80 lines"),
            RoundEnded(1, Usage(), 100, 1000),
            TurnEnded("answered", 1, Usage(), 0.1),
        ]
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await ask(pilot)
        assert any("readFile src/a.py 1–80 · 80 lines" in row for row in rows(app))
        assert "second line" not in seen(app)
        await pilot.press("tab", "p", "enter")
        await until_seen(pilot, "second line")
        assert "path: src/a.py" in seen(app)
        await pilot.press("enter")
        await until(pilot, lambda: "second line" not in seen(app))
        await pilot.press("escape")
        assert app.prompt.has_focus
        await pilot.press("ctrl+o")
        await until_seen(pilot, "second line")


async def test_a_click_opens_a_call() -> None:
    fake = FakeSteward()
    fake.scripts = [
        [
            ToolStarted("c1", "listFiles", "{}"),
            ToolFinished("c1", "listFiles", True, "a.py\nb.py", "2 entries"),
            TurnEnded("answered", 1, Usage(), 0.1),
        ]
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 40)) as pilot:
        await begun(pilot)
        await ask(pilot)
        y = next(i for i, row in enumerate(rows(app)) if "listFiles" in row)
        await pilot.click(offset=(8, y))
        await until_seen(pilot, "b.py")


async def test_a_change_is_announced_once_below_the_calls_that_make_it() -> None:
    fake = FakeSteward()
    small = proposal(1, modify("a.py", "a\n", "b\n"))
    grown = proposal(1, modify("a.py", "a\n", "b\n"), modify("b.py", "a\n", "b\n"))
    fake.scripts = [
        [
            ToolStarted("c1", "proposePatch", '{"path": "a.py", "oldText": "a", "newText": "b"}'),
            ToolFinished("c1", "proposePatch", True, "stored", "change-001 pending: modify a.py (+1 -1)"),
            ProposalMade(small),
            ToolStarted("c2", "proposePatch", '{"path": "b.py"}'),
            ToolFinished("c2", "proposePatch", True, "stored", "pending"),
            ProposalMade(grown, amended=True),
            AnswerText("It is proposed."),
            TurnEnded("answered", 1, Usage(), 0.1),
        ]
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(80, 40)) as pilot:
        await begun(pilot)
        await ask(pilot)
        shown = [row.strip() for row in rows(app)]
        at = [i for i, row in enumerate(shown) if "for your review" in row]
        assert len(at) == 1 and "change-001 waits for your review · 2 files" in shown[at[0]]
        calls = shown[at[0] - 3 : at[0] - 1]
        assert [row[:14] for row in calls] == ["▸ proposePatch"] * 2
        # The file and its counts once, as they came out.
        assert calls[0].startswith("▸ proposePatch · change-001 pending: modify a.py (+1 -1)")
        assert "It is proposed." in shown[at[0] + 2]


async def test_everything_a_turn_can_tell_is_said() -> None:
    fake = FakeSteward()
    document = DocumentState("src/AGENTS.md", "src", 100, 30, "c" * 64, "arrived")
    fake.scripts = [
        [
            RoundStarted(1),
            ReasoningText("thinking about it"),
            Retrying(2, 3.0, "the server is busy"),
            InstructionsChanged("src/a.py", (document,), (), ("src/AGENTS.md",)),
            LimitNotice("src/a.py", "size-limit", 2, 300_000, 262_144),
            Notice("Something was cut.", "warning"),
            ProposalMade(proposal(1, modify("a.py", "a\n", "b\n"), title="Rename a")),
            ToolStarted("c9", "readFile", '{"path": ".env"}'),
            ToolFinished("c9", "readFile", False, "refused", "refused: secret"),
            TurnEnded("failed", 1, Usage(), 0.1, "The model's server closed the connection."),
        ]
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(110, 44)) as pilot:
        await begun(pilot)
        await ask(pilot)
        shown = " ".join(seen(app).split())
        for sentence in (
            "thought",
            "Asking the model again in 3 s (attempt 2): the server is busy",
            "src/AGENTS.md now governs src",
            "stopped at a limit (size-limit)",
            "Something was cut.",
            "change-001 waits for your review",
            "F4 to review",
            "refused: secret",
            "The model's server closed the connection.",
        ):
            assert sentence in shown, sentence


async def test_the_view_follows_the_end_only_while_it_is_at_the_end_and_says_what_is_below() -> None:
    fake = FakeSteward()
    fake.scripts = [answer("\n\n".join(f"paragraph {i}" for i in range(100))), answer("more\n\n" * 10)]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 24)) as pilot:
        await begun(pilot)
        await ask(pilot)
        assert "paragraph 99" in seen(app)
        await pilot.press("pageup", "pageup")
        await until_seen(pilot, "lines below")
        top = app.transcript.scroll_offset.y
        fake.tell(Notice("Something happened meanwhile."))
        await until(pilot, lambda: "meanwhile" in str([b.text() for b in app.transcript.blocks]))
        await pilot.pause(0.2)
        assert app.transcript.scroll_offset.y == top
        await pilot.press("ctrl+end")
        await until_seen(pilot, "meanwhile")
        assert "lines below" not in seen(app)


async def test_resizing_keeps_the_place_in_a_long_conversation() -> None:
    fake = FakeSteward()
    words = "several words that wrap when the screen is narrow and take more lines then " * 2
    fake.scripts = [answer("\n\n".join(f"MARK{i} {words}" for i in range(300)))]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(120, 30)) as pilot:
        await begun(pilot)
        await ask(pilot)
        app.transcript.scroll_to(y=app.transcript.max_scroll_y // 2, animate=False, immediate=True)
        await pilot.pause()
        first = next(row for row in rows(app) if "MARK" in row).split("MARK")[1].split()[0]
        await pilot.resize_terminal(60, 20)
        await until_seen(pilot, f"MARK{first}")
        await pilot.resize_terminal(200, 50)
        await until_seen(pilot, f"MARK{first}")


async def test_a_stored_conversation_of_5000_messages_opens_at_its_end() -> None:
    fake = FakeSteward()
    fake.session_id = "s1"
    fake.messages = tuple(
        message
        for i in range(1250)
        for message in (
            User(f"question {i}"),
            Assistant(f"Answer **{i}**", (ToolCall(f"c{i}", "readFile", '{"path": "a.py"}'),)),
            ToolAnswer(f"c{i}", "readFile", "text"),
            Assistant("- done\n- really"),
        )
    )
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await until_seen(pilot, "question 1249")
        assert len(app.transcript.blocks) > 4000
        await pilot.press("ctrl+home")
        await until_seen(pilot, "question 0")
        for _ in range(10):
            await pilot.press("pagedown")
        await pilot.press("ctrl+end")
        await until_seen(pilot, "question 1249")


async def test_scrolling_up_over_estimated_blocks_shows_every_block_once_and_in_order() -> None:
    fake = FakeSteward()
    fake.session_id = "s1"
    fake.messages = tuple(
        message
        for i in range(120)
        for message in (
            User(f"Q{i:03d}"),
            Assistant(f"| a | b |\n|---|---|\n| {i} | {'x ' * 60} |\n\nend of {i:03d}"),
        )
    )
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(90, 24)) as pilot:
        await begun(pilot)
        await until_seen(pilot, "Q119")
        met: list[str] = []
        for _ in range(400):
            for row in reversed(rows(app)):
                if "❯ Q" in row and (found := row.split("❯ ")[1][:4]) not in met:
                    met.append(found)
            if app.transcript.scroll_offset.y == 0:
                break
            app.transcript.scroll_to(y=app.transcript.scroll_offset.y - 10, animate=False, immediate=True)
            await pilot.pause()
        assert met == [f"Q{i:03d}" for i in reversed(range(120))]


async def test_escape_interrupts_the_turn() -> None:
    fake = FakeSteward()
    fake.scripts = [[RoundStarted(1), AnswerText("half an "), 30.0, AnswerText("answer")]]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "go")
        await pilot.press("enter")
        await until_seen(pilot, "half an")
        assert "esc stops" in seen(app)
        await pilot.press("escape")
        await until_seen(pilot, "Interrupted")
        await until(pilot, lambda: not app.turns.running)
        assert "ready" in seen(app)


async def test_a_question_sent_meanwhile_waits_in_sight_and_is_sent_after_the_turn() -> None:
    fake = FakeSteward()
    gate: list[bool] = []
    fake.scripts = [
        [RoundStarted(1), *([0.05] * 40), lambda: gate.append(True), *answer("first done")],
        answer("second done"),
    ]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "one")
        await pilot.press("enter")
        await until(pilot, lambda: app.turns.running)
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "queued · two")
        await until_seen(pilot, "second done")
        assert fake.asked == ["one", "two"]
        assert "queued" not in seen(app)


async def test_interrupting_puts_the_waiting_question_back_into_the_prompt() -> None:
    fake = FakeSteward()
    fake.scripts = [[RoundStarted(1), 30.0]]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "one")
        await pilot.press("enter")
        await until(pilot, lambda: app.turns.running)
        await typed(pilot, "two")
        await pilot.press("enter")
        await until_seen(pilot, "queued · two")
        await pilot.press("escape")
        await until(pilot, lambda: not app.turns.running)
        assert app.prompt.text == "two"
        assert fake.asked == ["one"]


async def test_ctrl_c_stops_first_and_twice_leaves() -> None:
    fake = FakeSteward()
    fake.scripts = [[RoundStarted(1), 30.0]]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await typed(pilot, "one")
        await pilot.press("enter")
        await until(pilot, lambda: app.turns.running)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.turns.running)
        assert app.is_running
        await pilot.press("ctrl+c", "ctrl+c")
        await until(pilot, lambda: app._exit)  # pyright: ignore[reportPrivateUsage]
    assert app.return_code == 0


async def test_a_failure_inside_becomes_one_sentence_and_the_screen_stays() -> None:
    fake = FakeSteward()

    def fail() -> None:
        raise RuntimeError("secret detail")

    fake.scripts = [[RoundStarted(1), fail]]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await ask(pilot)
        assert "Something failed inside the steward (RuntimeError)" in " ".join(seen(app).split())
        assert "secret detail" not in seen(app)
        await ask(pilot, "again")
        assert "You asked: again" in seen(app)


async def test_selecting_and_copying_takes_the_text_of_the_transcript() -> None:
    fake = FakeSteward()
    fake.scripts = [answer("first words\n\nsecond words")]
    app = StewardApp(fake.as_steward())
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        await ask(pilot)
        y = next(i for i, row in enumerate(rows(app)) if "first words" in row)
        await pilot.mouse_down(offset=(3, y))
        await pilot.hover(offset=(15, y + 2))
        await pilot.mouse_up(offset=(15, y + 2))
        await pilot.press("ctrl+c")
        assert "first words" in app.clipboard and "second" in app.clipboard
        assert app.prompt.has_focus
        await typed(pilot, "next")
        assert app.prompt.text == "next"


def test_a_headline_names_what_a_call_is_about() -> None:
    from steward.tui.conversation.tool_block import headline_of

    assert headline_of("readFile", '{"path": "a.py", "startLine": 5, "lineCount": 10}') == "a.py 5–14"
    assert headline_of("searchFiles", '{"query": "x y", "path": "src"}') == "“x y” in src"
    assert headline_of("proposePatch", '{"path": "a", "oldText": "", "newText": "b"}') == "a new file"
    assert headline_of("other", "not json") == "arguments=not json"
    assert "\x1b" not in headline_of("readFile", '{"path": "a\\u001b]52;c;x"}')
    assert ToolBlock("x").estimate(80) == 1


def test_the_end_of_a_turn_says_why_it_was_stopped() -> None:
    spent = Usage()
    why = "Stopped: the model kept repeating the same words."
    assert ended(TurnEnded("loop", 1, spent, 1.0, why))[0] == f"{why[:-1]} · 1.0 s · 1 round"
    assert ended(TurnEnded("budget", 1, spent, 1.0))[0].startswith("Stopped: the budget of the turn is spent")
