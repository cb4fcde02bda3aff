"""``demo.tape`` is played, key by key, against the real program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import tape
from tests.monorepo import PROJECT
from tests.pty_screen import PtyScreen

TEXT = (PROJECT / "demo.tape").read_text("utf-8")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[PtyScreen]:
    """The shell that VHS would open, at the top of the repository."""
    columns, lines = tape.size(tape.parse(TEXT))
    environment = {
        "PATH": os.pathsep.join((str(_program(tmp_path)), os.environ.get("PATH", os.defpath))),
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PYTHONPATH": str(PROJECT),
        "LANG": "C.UTF-8",
        "PS1": "> ",
    }
    command = ["bash", "--norc", "--noprofile"]
    with PtyScreen(command, cwd=PROJECT, environment=environment, columns=columns, lines=lines) as screen:
        screen.wait_until(lambda: screen.line == "> ", "the shell's prompt")
        yield screen


def _program(folder: Path) -> Path:
    """A directory with ``steward`` in it, whichever way the project is installed."""
    place = folder / "bin"
    place.mkdir()
    (place / "steward").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steward "$@"\n')
    (place / "steward").chmod(0o755)
    return place


def test_the_tape_plays_and_shows_what_it_promises(shell: PtyScreen, tmp_path: Path):
    file = "services/billing/billing/tax.py"
    before = (PROJECT / "fixtures/monorepo" / file).read_bytes()
    proposed_at = applied_at = 0
    for step in tape.parse(TEXT):
        tape.play(step, shell)
        if (found := list(tmp_path.glob(f"tmp.*/shop/{file}"))) and found[0].read_bytes() != before:
            applied_at = applied_at or step.number
        if "waits for your review" in shell.text:
            proposed_at = proposed_at or step.number
    asked_at = next(s.number for s in tape.parse(TEXT) if "Why is the tax" in s.argument)
    confirmed_at = next(s.number for s in tape.parse(TEXT) if s.name == "Type" and s.argument == '"Y"')
    assert asked_at < proposed_at < confirmed_at <= applied_at
    (written,) = tmp_path.glob(f"tmp.*/shop/{file}")
    assert written.read_bytes() == before.replace(b"net_cents * rate //", b"(net_cents * rate + 5000) //")


@pytest.mark.parametrize(
    "needed",
    [
        "/workspace",
        "/instructions web/src/cart/cart.ts",
        "Why is the tax",
        "1 pending",
        "/show-change",
        "change-001 applied",
        "git status",
    ],
)
def test_the_tape_holds_each_part_of_the_main_job(needed: str):
    assert any(needed in step.argument for step in tape.parse(TEXT))


@pytest.mark.parametrize(
    "line", ["Typ 'x'", 'Type "a" "b"', "Wait /x", "Sleep soon", "Ctrl Q", "F4", "Enter twice"]
)
def test_a_line_that_is_no_tape_is_refused(line: str):
    with pytest.raises(tape.BadTape):
        tape.parse(line)
