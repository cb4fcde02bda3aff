"""Patches as text: real git applies them, and other readers count the same lines."""

from __future__ import annotations

import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from unidiff.patch import PatchSet

from steward.proposals.diff import counts
from steward.proposals.patch_format import file_patch, git_quoted, patch_text
from steward.proposals.proposal import FileChange, Proposal
from tests.proposals.hostile import any_bytes, utf8, versions

_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C",
    "PATH": os.environ["PATH"],
}

NAMES = [
    "plain.txt",
    "with space.txt",
    "two  spaces/in dir/x y",
    "tab\tname",
    'quote"name',
    "back\\slash",
    "ünïcode/日本.txt",
    "new\nline",
    "esc\x1b[2J",
    "cr\rname",
    "--- a",
    "b/x",
    "a/b/c",
    "emoji 👩‍👧.md",
    "del\x7f",
    "trailing ",
    " leading",
    "[id].tsx",
    "/dev/null".lstrip("/"),
]


def _apply(patch: bytes, before: dict[str, tuple[bytes, int]], where: Path) -> dict[str, tuple[bytes, int]]:
    for name, (data, mode) in before.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"],
        input=patch,
        cwd=where,
        env=_GIT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace") + patch.decode(errors="replace")
    return {
        str(path.relative_to(where)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in where.rglob("*")
        if path.is_file()
    }


def _after(file: FileChange) -> dict[str, tuple[bytes, int]]:
    return (
        {}
        if file.result is None
        else {file.path: (file.result, 0o755 if (file.result_mode or 0) & 0o100 else 0o644)}
    )


def _before(file: FileChange) -> dict[str, tuple[bytes, int]]:
    return {} if file.base is None else {file.source: (file.base, file.base_mode or 0o644)}


def _changes(name: str) -> list[FileChange]:
    other = f"moved/{name}"
    return [
        FileChange(name, "modify", b"a\nb\nc\n", b"a\nB\nc\n", 0o644, 0o644),
        FileChange(name, "modify", b"a\nb", b"a\nb\n", 0o644, 0o644),
        FileChange(name, "modify", b"a\nb\n", b"a\nb", 0o755, 0o755),
        FileChange(name, "modify", b"a\r\nb\r\n", b"a\nb\r\n", 0o644, 0o644),
        FileChange(name, "modify", b"", b"a", 0o644, 0o644),
        FileChange(name, "modify", b"a\n", b"", 0o644, 0o644),
        FileChange(name, "modify", b"a\n", b"a\n", 0o644, 0o755),
        FileChange(name, "modify", b"a\n", b"b\n", 0o755, 0o644),
        FileChange(name, "create", None, b"a\nb", None, 0o644),
        FileChange(name, "create", None, b"", None, 0o755),
        FileChange(name, "delete", b"a\nb\n", None, 0o644, None),
        FileChange(name, "delete", b"", None, 0o644, None),
        FileChange(name, "delete", b"\0\x01\xff" * 1000, None, 0o644, None),
        FileChange(name, "modify", b"\0a" * 30, b"\0b" * 500, 0o644, 0o644),
        FileChange(name, "delete", b"caf\xe9\n", None, 0o755, None),
        FileChange(other, "rename", b"a\n", b"a\n", 0o644, 0o644, name),
        FileChange(other, "rename", b"a\nb\nc\n", b"a\nx\nc", 0o755, 0o755, name),
        FileChange(other, "rename", b"a\0b", b"a\0b", 0o644, 0o644, name),
    ]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_git_applies_every_kind_of_change_under_every_kind_of_name(name: str, tmp_path: Path) -> None:
    # One file of each kind beside the others, all in one patch.
    changes: list[FileChange] = []
    for index, change in enumerate(_changes(name)):
        moved = None if change.old_path is None else f"{index}/{change.old_path}"
        changes.append(replace(change, path=f"{index}/{change.path}", old_path=moved))
    proposal = Proposal("change-001", "t", "", tuple(changes), "w")
    before = {path: state for change in changes for path, state in _before(change).items()}
    after = {path: state for change in changes for path, state in _after(change).items()}
    assert _apply(patch_text(proposal), before, tmp_path) == after


@pytest.mark.parametrize("name", [n for n in NAMES if "\t" not in n], ids=ascii)
def test_unidiff_reads_the_same_files_and_counts(name: str) -> None:
    for change in _changes(name):
        if b"\0" in (change.base or b""):
            continue
        # unidiff cuts at LF only when it is given lines.
        text = file_patch(change).decode("utf-8", "surrogateescape")
        parsed = PatchSet([line + "\n" for line in text.split("\n")[:-1]])
        assert len(parsed) == 1
        assert (parsed[0].added, parsed[0].removed) == counts(change)
        if git_quoted(name) == name:
            assert parsed[0].path == change.path
            assert parsed[0].is_rename == (change.action == "rename")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(versions(any_bytes()))
def test_git_makes_the_result_of_hostile_text(
    tmp_path_factory: pytest.TempPathFactory, states: tuple[bytes, bytes]
) -> None:
    change = FileChange("x", "modify", *states, 0o644, 0o644)
    if states[0] != states[1]:
        assert _apply(file_patch(change), _before(change), tmp_path_factory.mktemp("git")) == _after(change)


@settings(max_examples=300)
@given(versions(utf8))
def test_unidiff_counts_hostile_text_the_same(states: tuple[bytes, bytes]) -> None:
    change = FileChange("x", "modify", *states, 0o644, 0o644)
    if states[0] == states[1]:
        return
    text = file_patch(change).decode("utf-8")
    parsed = PatchSet([line + "\n" for line in text.split("\n")[:-1]])
    assert (parsed.added, parsed.removed) == counts(change)


def test_names_are_quoted_as_git_quotes_them() -> None:
    assert git_quoted("a b") == "a b"
    assert git_quoted('a"b\t\n\\\x01\x7f') == '"a\\"b\\t\\n\\\\\\001\\177"'
    assert git_quoted("é") == "é"


def test_git_itself_writes_the_same_patch(tmp_path: Path) -> None:
    change = FileChange(
        "a b.txt", "modify", b"1\n2\n3\n4\n5\n6\n7\n", b"1\n2\n3\nfour\n5\n6\n7", 0o644, 0o644
    )

    def git(*arguments: str) -> bytes:
        return subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=_GIT, check=True, capture_output=True
        ).stdout

    git("init", "-q")
    (tmp_path / "a b.txt").write_bytes(change.base or b"")
    git("add", ".")
    (tmp_path / "a b.txt").write_bytes(change.result or b"")
    assert git("diff") == file_patch(change)
