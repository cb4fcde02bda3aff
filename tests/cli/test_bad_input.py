"""Every command with every kind of bad input: a documented exit code, at most one sentence, never a traceback."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from steward.cli.commands import ENTRIES
from tests.cli.forks import Forks
from tests.cli.program import Program, Ran

WORDS = {
    "nothing": "",
    "blanks": "  ",
    "nonsense": "nonsense",
    "control characters": "\x1b[31m\x07\x9b",
    "two lines": "a\nb",
    "a sign that turns text": "abc\u202egnp.exe",
    "a negative number": "-1",
    "zero": "0",
    "a huge number": "9" * 5_000,
    "digits that are not ASCII": "٣²",
    "above": "../../..",
    "an absolute path": "/etc/passwd",
    "a long word": "x" * 5_000,
    "many directories": "a/" * 3_000,
    "bytes that are no text": os.fsdecode(b"\xff\xfe"),
    "a format": "%s%n{0}",
    "brackets": "[" * 20_000,
    "a beginning of an id": "change-",
    "markup": "[bold]x[/bold]<b>&amp;",
    "an option": "--nonsense",
    "a short option": "-x",
    "many words": "one two three",
}

TAKES: dict[str, tuple[Callable[[str], Sequence[str]], ...]] = {
    "open": (lambda word: [word],),
    "ask": (
        lambda word: ["ask", "q", "--max-rounds", word],
        lambda word: ["ask", "q", "--max-cost", word],
        lambda word: ["ask", "q", "--schema", word],
        lambda word: ["ask", "q", "--read", f"missing/{word}"],
        lambda word: ["ask", "--file", f"missing/{word}"],
        lambda word: ["ask", "q", "--profile", f"no {word}"],
        lambda word: ["ask", "q", "--config", f"missing/{word}"],
        lambda word: ["ask", "q", word],
    ),
    "changes": (lambda word: ["changes", word], lambda word: ["changes", "--workspace", f"missing/{word}"]),
    "show-change": (lambda word: ["show-change", word], lambda word: ["show-change", "--format", word]),
    "apply-change": (
        lambda word: ["apply-change", word],
        lambda word: ["apply-change", "1", "--stamp", word],
    ),
    "discard-change": (
        lambda word: ["discard-change", word],
        lambda word: ["discard-change", "9", "--reason", word],
    ),
    "undo-change": (lambda word: ["undo-change", word],),
    "rebase-change": (lambda word: ["rebase-change", word],),
    "propose": (lambda word: ["propose", "--patch", word], lambda word: ["propose", word]),
    "instructions": (lambda word: ["instructions", word], lambda word: ["instructions", "--read", word]),
    "tool": (lambda word: ["tool", word], lambda word: ["tool", "readFile", word]),
    "skills": (lambda word: ["skills", word],),
    "trust": (lambda word: ["trust", word],),
    "config": (lambda word: ["config", word],),
    "sessions": (lambda word: ["sessions", word], lambda word: ["sessions", "--search", word]),
    "replay": (lambda word: ["replay", word],),
    "rename-session": (
        lambda word: ["rename-session", word, "title"],
        lambda word: ["rename-session", "x", word],
    ),
    "delete-session": (lambda word: ["delete-session", word],),
    "doctor": (lambda word: ["doctor", word],),
    "check-model": (
        lambda word: ["check-model", "offline/guide", word],
        lambda word: ["check-model", "--tries", f"x{word}"],
    ),
    "help": (lambda word: ["help", word],),
    "completion": (lambda word: ["completion", word],),
    "acp": (lambda word: ["acp", word],),
}


@pytest.fixture
def forks(steward: Program) -> Iterator[Forks]:
    """The program in the monorepo."""
    with Forks(steward) as running:
        yield running


def tree(root: Path) -> list[tuple[str, bytes]]:
    return sorted(
        (path.relative_to(root).as_posix(), path.read_bytes()) for path in root.rglob("*") if path.is_file()
    )


def judge(arguments: Sequence[str], ran: Ran, state: Path) -> str:
    """What is wrong with the end of the command, empty for nothing."""
    shown = [argument if len(argument) < 40 else f"{argument[:40]}…" for argument in arguments]
    if ran.code not in (0, 1, 2, 3, 4, 5):
        return f"{shown}: exit code {ran.code}"
    if "Traceback" in ran.out + ran.err or "went wrong" in ran.err or any(state.glob("crashes/*")):
        return f"{shown}: {ran.err or ran.out[-300:]}"
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", ran.out + ran.err):
        return f"{shown}: something would act on the terminal: {ran.out[:200]!r} {ran.err[:200]!r}"
    if ran.code and arguments[0] != "tool" and not re.fullmatch(r"steward: [^\n]{1,700}[.?]\n", ran.err):
        return f"{shown}: {ran.err!r} is not one sentence"
    return ""


def test_every_command_is_in_the_matrix():
    assert set(TAKES) == {entry.name for entry in ENTRIES}


@pytest.mark.parametrize("command", TAKES)
def test_bad_input_is_one_sentence_and_a_documented_exit_code(forks: Forks, steward: Program, command: str):
    before = tree(steward.directory)
    words = tuple(WORDS.values())
    faults: list[str] = []
    for number, form in enumerate(TAKES[command]):
        # All words for what the command is about; every second one, in turn, for its options.
        for word in words if number == 0 else words[number % 2 :: 2]:
            faults.append(judge(form(word), forks(*form(word)), steward.home / "state"))
    faults = [fault for fault in faults if fault]
    assert not faults, "\n".join(faults)
    assert tree(steward.directory) == before


@pytest.mark.parametrize("command", [name for name in TAKES if name != "open"])
def test_an_option_that_is_empty_is_refused_and_an_unknown_one_is_named(
    forks: Forks, steward: Program, command: str
):
    for wrong in (["--workspace", ""], ["--config", ""], ["--workspace"], ["--nonsense"], ["--json=1"]):
        ran = forks(command, *wrong)
        assert ran.code == 2 and not judge([command, *wrong], ran, steward.home / "state"), (wrong, ran)
        assert wrong[0].split("=")[0] in ran.err
