"""Text that wants to act, sent through every door, on the real program in a real terminal: it is only ever seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program
from tests.monorepo import copy_monorepo
from tests.pty_screen import PtyScreen

CLIPBOARD = "\x1b]52;c;U1RFV0FSRA==\x07"
LINK = "\x1b]8;;http://example.invalid/\x1b\\here\x1b]8;;\x1b\\"
CLEAR = "\x1b[2J"
C1 = "\x9b31m"
BIDI = "\u202etxt.exe"
TAGS = "\U000e0068\U000e0069"
MARKUP = ("[/", "[/x]", "[@click=app.quit]x[/]", "[red]r[/red]", "[link=x]y")
ALL = " ".join((CLIPBOARD, CLEAR, C1, BIDI, TAGS, *MARKUP))

RAW = (b"\x1b]52", b"\x1b]8;", b"\x1b[2J", C1.encode(), "\u202e".encode(), TAGS.encode(), b"\x9b")
"""What must never reach the terminal. The last is also part of some letters' encoding: see ``leaked``."""

SEEN = ("␛]52;c;U1RFV0FSRA==␇", "␛[2J", "⟨U+009B⟩31m", "⟨U+202E⟩txt.exe", "⟨U+E0068⟩⟨U+E0069⟩", *MARKUP)
"""What must be read on the screen instead."""


def leaked(raw: bytes | bytearray) -> list[bytes]:
    """Which of the sequences are in what the program wrote."""
    alone = raw.decode("utf-8", "replace")
    return [bad for bad in RAW[:-1] if bad in raw] + ([b"\x9b"] if "\x9b" in alone else [])


@pytest.fixture
def place(tmp_path: Path) -> Program:
    """A repository in which names, contents and rules are hostile."""
    root = copy_monorepo(tmp_path / "shop")
    (tmp_path / "home").mkdir()
    (root / "evil").mkdir()
    (root / f"evil/n{CLIPBOARD}{CLEAR}{BIDI}.txt").write_text("named\n")
    (root / "evil/[@click=app.quit]x[").write_text("markup\n")
    (root / "evil/AGENTS.md").write_text(f"Rules {ALL}\n")
    (root / "evil/text.txt").write_text(f"first\n{ALL}\nlast\n")
    return Program(root, tmp_path / "home")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A call of the scripted model."""
    return {"name": name, "arguments": arguments}


@pytest.fixture
def screen(place: Program, tmp_path: Path) -> Iterator[PtyScreen]:
    """The program with a hostile model."""
    rounds: list[dict[str, Any]] = [
        {
            "text": f"Looking {ALL}\n",
            "calls": [call("listFiles", path="evil"), call("readFile", path="evil/text.txt")],
        },
        {
            "text": "",
            "calls": [call("readFile", path=f"evil/{ALL}"), call("searchFiles", query=ALL, path="evil")],
        },
        {
            "text": "",
            "calls": [call("proposePatch", path="evil/text.txt", oldText="last\n", newText=f"last\n{ALL}\n")],
        },
        {"text": f"Answer {ALL}\n\n- {' and '.join(MARKUP)}\n\n```\n{ALL}\n```\n"},
    ]
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, rounds)))
    command = place.command("--model", f"script/{tmp_path / 'script.jsonl'}")
    with PtyScreen(command, cwd=place.directory, environment=place.environment, columns=180, lines=60) as pty:
        yield pty


def flat(text: str) -> str:
    """The screen's text without its frames and wrapping."""
    return "".join("".join(line.split("▏")[0].split()) for line in text.split("\n"))


def lost(text: str) -> list[str]:
    """Which of the marks are not to be read on the screen."""
    return [mark for mark in SEEN if "".join(mark.split()) not in flat(text)]


def test_nothing_acts_and_nothing_is_lost(screen: PtyScreen):
    screen.wait_for("Instructions here")
    screen.type(f"Hello {MARKUP[1]}")
    screen.press("enter")
    screen.wait_until(
        lambda: "1 pending" in screen.text and "4 rounds" in screen.text, "the end of the turn", 60
    )
    screen.wait_until(lambda: lost(screen.text) == [], "every mark in the conversation")
    assert leaked(screen.raw) == []

    screen.press("ctrl+o")
    listed = {"evil/[@click=app.quit]x[", "n␛]52;c;U1RFV0FSRA==␇␛[2J⟨U+202E⟩txt.exe.txt"}
    for _ in range(60):
        listed -= {name for name in listed if name in flat(screen.settle(0.5))}
        if not listed:
            break
        screen.press("pageup")
    assert not listed
    assert leaked(screen.raw) == []

    screen.press("f4")
    screen.wait_until(lambda: lost(screen.text) == [] and screen.shows("a apply"), "every mark in the review")
    screen.press("escape")
    screen.wait_gone("a apply")
    screen.press("f3")
    screen.wait_for("type to narrow")
    screen.wait_for("change-001")
    screen.press("escape")
    screen.wait_gone("type to narrow")
    assert screen.code is None
    assert leaked(screen.raw) == []
    screen.press("ctrl+q")
    assert screen.wait_end() == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("tool", "readFile", '{"path": "evil/text.txt"}'),
        ("instructions", "evil/text.txt"),
        ("instructions", f"evil/{ALL}"),
        (f"no {ALL}",),
        ("changes", f"--{ALL}"),
        ("show-change", ALL),
        ("help", ALL),
        ("--workspace", ALL, "changes"),
        ("--config", ALL, "changes"),
        ("tool", ALL, "{}"),
        ("discard-change", ALL, "--reason", ALL),
    ],
)
def test_no_command_passes_it_on(place: Program, arguments: tuple[str, ...]):
    command = place.command(*arguments)
    with PtyScreen(command, cwd=place.directory, environment=place.environment, columns=180) as pty:
        pty.wait_end()
        assert leaked(pty.raw) == []


def test_a_diff_on_a_terminal_shows_every_mark(place: Program):
    arguments = json.dumps({"path": "new.txt", "oldText": "", "newText": f"{ALL}\n"})
    assert place("tool", "proposePatch", arguments).code == 0
    command = place.command("show-change")
    with PtyScreen(command, cwd=place.directory, environment=place.environment, columns=180) as pty:
        assert pty.wait_end() == 0
        assert lost(pty.text) == []
        assert leaked(pty.raw) == []
