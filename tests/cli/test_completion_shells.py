"""The completion script in the shells themselves, as a person has it after TAB."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.cli.test_completion import propose
from tests.pty_screen import PtyScreen


def found(shell: str) -> str | None:
    """The shell, or ``None`` where only its half of the protocol can be tried; never so in continuous integration."""
    path = shutil.which(shell)
    if path is None and os.environ.get("CI"):
        pytest.fail(f"{shell} is missing; its completion has to be tried in it (Debian: apt install {shell})")
    return path


def environment(steward: Program, folder: Path) -> dict[str, str]:
    """One in which ``steward`` is this program."""
    wrapper = folder / "bin" / "steward"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(steward.command())} "$@"\n')
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{steward.environment['PATH']}"
    return {**steward.environment, "PATH": path, "TERM": "xterm", "ZDOTDIR": str(folder)}


def offered(steward: Program, shell: str, words: str) -> str:
    """What the program answers to the shell's script."""
    current = {"zsh": str(words.count(" ")), "fish": words.rpartition(" ")[2]}[shell]
    ran = steward(COMP_WORDS=words, COMP_CWORD=current, _STEWARD_COMPLETE=f"{shell}_complete")
    assert ran.err == ""
    return ran.out


def test_zsh_completes_an_id_a_command_a_topic_and_a_path(steward: Program, tmp_path: Path):
    propose(steward)
    assert offered(steward, "zsh", "steward apply-change ch").split("\n")[:2] == ["plain", "change-001"]
    zsh = found("zsh")
    if zsh is None:
        return
    with PtyScreen(
        [zsh, "-f", "-i"], environment=environment(steward, tmp_path), cwd=steward.directory
    ) as screen:
        dump = shlex.quote(str(tmp_path / "dump"))
        screen.type(
            f"PS1='$ '; autoload -U compinit; compinit -u -d {dump}; "
            'eval "$(steward completion zsh)"; print ready$((1+1))\r'
        )
        screen.wait_for("ready2")
        for typed, completed in (
            ("steward apply-change ch", "steward apply-change change-001"),
            ("steward reba", "steward rebase-change"),
            ("steward help sess", "steward help sessions"),
            ("steward ask --profile rev", "steward ask --profile reviewer"),
            ("steward instructions serv", "steward instructions services/"),
        ):
            screen.type(f"{typed}\t")
            screen.wait_for(completed)
            screen.type("\x15")
        screen.type("steward re\t")
        screen.wait_for("Re-anchor a stale change")
        screen.type("\x15exit\r")
        screen.wait_end()


def test_fish_completes_an_id_a_command_a_topic_and_a_path(steward: Program, tmp_path: Path):
    propose(steward)
    assert offered(steward, "fish", "steward apply-change ch").startswith("plain,change-001")
    fish = found("fish")
    if fish is None:
        return
    asked = {
        "steward apply-change ch": ["change-001"],
        "steward reba": ["rebase-change"],
        "steward help sess": ["sessions"],
        "steward ask --profile rev": ["reviewer"],
        "steward instructions serv": ["services/"],
    }
    lines = "; ".join(f"complete -C {shlex.quote(words)}; echo ==" for words in asked)
    done = subprocess.run(
        [fish, "--no-config", "-c", f"steward completion fish | source; {lines}"],
        cwd=steward.directory,
        env=environment(steward, tmp_path),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [part.strip().split("\n") for part in done.stdout.split("==\n")[:-1]]
    got = [[row.split("\t")[0] for row in answer] for answer in answers]
    assert got == list(asked.values()), done.stderr


def test_a_title_cannot_act_on_the_terminal_or_break_the_answer(steward: Program):
    arguments = '{"path": "new.txt", "oldText": "", "newText": "x\\n"}'
    assert steward("tool", "proposePatch", arguments).code == 0
    patch = "--- /dev/null\n+++ b/other.txt\n@@ -0,0 +1 @@\n+x\n"
    title = "a \x1b]0;owned\x07 b\x9b2J :c\u202e" + "d" * 100
    assert steward("propose", "--patch", "-", "--title", title, stdin=patch).code == 0
    for shell, parts in (("zsh", 3), ("fish", 1)):
        out = offered(steward, shell, "steward apply-change ch")
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)
        assert out.count("\n") == 2 * parts and "d" * 60 not in out
