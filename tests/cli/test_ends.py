"""Every way a command can end: an exit code, at most one sentence, never a traceback."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import Program, propose_fix


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("--version",), 0),
        (("ask", "--help"), 0),
        (("nonsense",), 2),
        (("chnages",), 2),
        (("changes", "--nonsense"), 2),
        (("changes", "extra"), 2),
        (("--config", "missing.toml", "instructions"), 2),
        (("--workspace", "missing", "changes"), 4),
        (("changes", "--workspace", "missing"), 4),
        (("help", "nonsense"), 4),
        (("help", "index"), 0),
        (("help", "--list"), 0),
        (("discard-change",), 2),
        ((), 5),
        (("docs",), 5),
        (("--resume", "x"), 5),
        (("tool", "listFiles", "{}"), 0),
        (("sessions",), 0),
        (("skills",), 0),
        (("doctor",), 0),
        (("ask", "q", "--continue"), 4),
        (("ask", "q", "--json", "--json-lines"), 2),
        (("ask", "q", "--max-rounds", "0"), 2),
        (("ask", "q", "--schema", "missing.json"), 4),
        (("ask", "q", "--read", "missing.md"), 4),
        (("ask", "q", "--file", "missing.md"), 4),
        (("ask", "q", "--max-cost", "nan"), 2),
        (("ask", "q", "--continue", "--resume", ""), 2),
        (("show-change",), 4),
        (("undo-change",), 4),
        (("skills", "check", "README.md"), 4),
        (("skills", "check", "x" * 5_000), 4),
        (("trust",), 5),
        (("trust", "--forget", "--yes"), 2),
        (("acp",), 2),
        (("--config", "/", "changes"), 2),
        (("--workspace", "README.md", "changes"), 4),
        (("--workspace", "/dev/null", "changes"), 4),
    ],
)
def test_the_exit_code_is_the_promised_one(steward: Program, arguments: tuple[str, ...], code: int):
    ran = steward(*arguments)
    assert ran.code == code, ran.err
    if code:
        assert ran.err.startswith("steward: ") and ran.err.count("\n") == 1
        assert ran.err.endswith((".\n", "?\n"))
        assert str(steward.directory) not in ran.err
    assert "Traceback" not in ran.out + ran.err


def test_a_wrong_word_is_answered_with_the_likely_one(steward: Program):
    assert "Did you mean changes?" in steward("chnages").err


def test_the_global_options_work_before_and_after_the_command(steward: Program, tmp_path: Path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "AGENTS.md").write_text("Other.\n")
    for arguments in (
        ("--workspace", "../other", "instructions"),
        ("instructions", "--workspace", "../other"),
    ):
        assert [d["bytes"] for d in steward(*arguments, "--json").json["documents"]] == [7]


def test_a_wrong_setting_names_its_line(steward: Program, tmp_path: Path):
    (tmp_path / "bad.toml").write_text("theme = 'dark'\n[limits]\nround = 3\n")
    ran = steward("--config", "../bad.toml", "changes")
    assert ran.code == 2
    assert "bad.toml, line 3" in ran.err and "limits.rounds" in ran.err


def test_an_error_inside_is_one_sentence_and_its_details_are_kept_privately(steward: Program):
    state = steward.home / "state"
    ran = steward(
        "doctor", PYTHONPATH=f"{_broken(steward.home)}{os.pathsep}{steward.environment['PYTHONPATH']}"
    )
    assert ran.code == 1
    assert ran.err.startswith("steward: Something inside the steward went wrong (ZeroDivisionError)")
    assert ran.err.count("\n") == 1
    (report,) = (state / "crashes").iterdir()
    assert "ZeroDivisionError" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    assert (state / "crashes").stat().st_mode & 0o777 == 0o700


def _broken(folder: Path) -> Path:
    """A folder that makes the program fail inside, put before the real packages."""
    (folder / "platformdirs.py").write_text("def user_config_dir(*a, **k):\n    1 / 0\n")
    return folder


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", ["changes", "--help", "instructions --json", "nonsense"])
def test_closed_descriptors_do_no_harm(steward: Program, closed: str, arguments: str):
    command = " ".join((*steward.command(), arguments, closed))
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=steward.directory,
        env=steward.environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == (2 if arguments == "nonsense" else 0)
    assert b"Traceback" not in done.stdout + done.stderr
    database = list((steward.home / "state").rglob("steward.db"))
    assert all(file.read_bytes().startswith(b"SQLite format 3") for file in database)


def test_a_reader_that_is_gone_is_no_error(steward: Program):
    done = subprocess.run(
        ["bash", "-c", " ".join((*steward.command("help", "command-line"), "| true; echo ${PIPESTATUS[0]}"))],
        cwd=steward.directory,
        env=steward.environment,
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"0\n", b"")


@pytest.mark.parametrize("arguments", ["--help", "--version", "ask --help", "help"])
def test_a_full_disk_is_an_error_and_a_reader_that_is_gone_is_none(steward: Program, arguments: str):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            steward.command(*arguments.split()),
            cwd=steward.directory,
            env=steward.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"steward: Standard output cannot be written: no space left on device.\n"
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(steward.command())} {arguments} | true; echo ${{PIPESTATUS[0]}}"],
        cwd=steward.directory,
        env=steward.environment,
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"0\n", b"")


@pytest.mark.parametrize("command", ["tool readFile -", "propose --patch -"])
def test_standard_input_that_cannot_be_read_is_said(steward: Program, command: str):
    done = subprocess.run(
        ["sh", "-c", f"{' '.join(steward.command())} {command} 0>/dev/null"],
        cwd=steward.directory,
        env=steward.environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == b"steward: Standard input cannot be read: bad file descriptor.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("undo-change", ""),
        ("apply-change", ""),
        ("show-change", ""),
        ("discard-change", "", "--reason", "x"),
        ("instructions", ""),
        ("skills", "check", ""),
        ("sessions", "--export", ""),
        ("sessions", "--export", "last", "--output", ""),
        ("ask", "q", "--resume", ""),
        ("--model", "", "changes"),
        ("changes", "--profile", ""),
        ("help", ""),
        ("",),
    ],
)
def test_a_word_that_is_empty_never_stands_for_one_that_was_left_out(
    steward: Program, arguments: tuple[str, ...]
):
    propose_fix(steward)
    ran = steward(*arguments)
    assert ran.code == 2 and ran.out == ""
    assert ran.err.endswith(" is empty, as from a variable that was not set.\n")
    assert [change["status"] for change in steward("changes", "--all", "--json").json] == ["pending"]


def test_the_options_that_go_with_every_command_stand_apart(steward: Program):
    text = steward("--help").out
    own, _, common = text.partition("Options of every command:")
    common = common.partition("Commands:")[0]
    named = ("--workspace", "--model", "--config", "--profile", "--trust", "--help")
    assert all(option in common and option not in own.partition("\nOptions:")[2] for option in named)
    assert "--plain" in own and "--plain" not in common


def test_a_state_directory_that_cannot_be_made_fails_its_check_and_no_other(steward: Program):
    (steward.home / "file").write_text("x")
    ran = steward("doctor", "--json", STEWARD_STATE_DIR=str(steward.home / "file" / "state"))
    assert ran.code == 1 and re.fullmatch(r"steward: \d checks? failed\.\n", ran.err)
    assert {"state", "workspace", "skills", "confinement"} <= {finding["check"] for finding in ran.json}


def test_a_damaged_database_is_one_sentence_and_other_news_are_told_beside_an_error(steward: Program):
    propose_fix(steward)
    (database,) = (steward.home / "state").rglob("steward.db")
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'changes'").fetchone()
    connection.close()
    with database.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xa5" * 4096)
    for arguments in (("apply-change", "1", "--stamp", "1" * 12), ("changes",)):
        ran = steward(*arguments)
        assert ran.code == 1 and ran.err.count("\n") == 1
        assert ran.err.startswith("steward: The steward's database is damaged;")
    empty = steward("propose", "--patch", "-", stdin="no patch\n")
    assert empty.code == 2 and empty.err.startswith("Warning: Old changes could not be cleared: ")


def test_other_locales_do_not_break_the_text(steward: Program):
    for locale in ({"LANG": "C", "LC_ALL": "C"}, {"LANG": "", "PYTHONIOENCODING": "latin-1"}):
        ran = steward("skills", **locale)
        assert (ran.code, ran.err) == (0, "")


def test_it_runs_with_an_empty_environment(steward: Program):
    done = subprocess.run(
        steward.command("instructions", "--json"),
        cwd=steward.directory,
        env={
            "PYTHONPATH": steward.environment["PYTHONPATH"],
            "STEWARD_STATE_DIR": str(steward.home / "s"),
            "STEWARD_TRUST": "always",
        },
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("home", ["/dev/null", "/nowhere/at/all", "relative", ""])
def test_a_home_that_is_none_means_no_configuration_of_ones_own(steward: Program, home: str):
    for arguments in (("instructions",), ("skills",), ("changes",), ("config",), ("tool", "listFiles")):
        ran = steward(*arguments, HOME=home)
        assert (ran.code, ran.err) == (0, ""), arguments
    assert steward("--config", "README.md/x.toml", "changes").code == 2
    assert steward("instructions", "--read", "README.md/x").code == 4


def test_a_directory_that_was_removed_is_said(steward: Program, tmp_path: Path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f"rmdir {gone}; exec {' '.join(steward.command('changes'))}"],
        cwd=gone,
        env=steward.environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == b"steward: The current directory is no longer there.\n"


def test_a_state_directory_below_the_home_is_none_in_the_repository(steward: Program):
    before = sorted(steward.directory.iterdir())
    assert steward("changes", STEWARD_STATE_DIR="~/kept").code == 0
    assert sorted(steward.directory.iterdir()) == before and (steward.home / "kept").is_dir()
