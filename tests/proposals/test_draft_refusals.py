"""What cannot be proposed is refused with its reason, and nothing is stored."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.errors import EditRefused
from steward.proposals import Draft, Governing
from steward.workspace import Policy, Workspace
from tests.proposals.drafting import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Workspace.open(tmp_path) as workspace:
        yield Bench(tmp_path, workspace)


def test_links_and_special_files_are_refused_with_where_a_link_points(bench: Bench) -> None:
    bench.write("real/a.py", b"a\n")
    (bench.root / "link.py").symlink_to("real/a.py")
    (bench.root / "dir").symlink_to("real")
    (bench.root / "dangling").symlink_to("nowhere")
    os.mkfifo(bench.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(bench.root)
        listening.bind("socket")
        os.chdir(here)
    kind, said = bench.refused("link.py", "a", "b")
    assert kind == "link" and "real/a.py" in said
    assert bench.refused("dir/a.py", "a", "b")[0] == "link"
    assert bench.refused("dir/new.py", "", "b")[0] == "link"
    assert bench.refused("dangling", "", "b")[0] == "link"
    assert bench.refused("link.py", delete=True)[0] == "link"
    assert bench.refused("link.py", to="b.py")[0] == "link"
    assert bench.refused("real/a.py", to="dangling")[0] == "link"
    assert bench.refused("pipe", "a", "b")[0] == "special"
    assert bench.refused("pipe", "", "b")[0] == "special"
    assert bench.refused("socket", delete=True)[0] == "special"


def test_directories_protected_and_secret_paths_are_refused(bench: Bench) -> None:
    bench.write(".git/config", b"a\n")
    bench.write(".env", b"KEY=1\n")
    (bench.root / "dir").mkdir()
    assert bench.refused(".git/config", "a", "b")[0] == "protected"
    assert bench.refused(".git/hooks/x", "", "b")[0] == "protected"
    assert bench.refused(".env", "1", "2")[0] == "secret"
    assert bench.refused("sub/.env", "", "KEY=2")[0] == "secret"
    assert bench.refused("dir", "a", "b")[0] == "not-a-file"
    assert bench.refused("dir", "", "b")[0] == "exists"
    assert bench.refused(".", "", "b")[0] == "exists"
    assert bench.refused("dir", delete=True)[0] == "not-a-file"


def test_hard_links_and_read_only_files_are_refused(bench: Bench) -> None:
    file = bench.write("a.py", b"a\n")
    os.link(file, bench.root / "b.py")
    bench.write("c.py", b"c = 1\n", 0o444)
    for path, kind in (("a.py", "hard-link"), ("c.py", "read-only")):
        assert bench.refused(path, path[0], "x")[0] == kind
        assert bench.refused(path, delete=True)[0] == kind
        assert bench.refused(path, to="d.py")[0] == kind
    assert bench.refused("c.py", "", "x")[0] == "exists"


def test_what_is_too_large_before_or_after_is_refused(bench: Bench) -> None:
    bench.turn(limit=10)
    bench.write("big", b"a" * 11)
    bench.write("small", b"a\n")
    assert bench.refused("big", "aaaaaaaaaaa", "b")[0] == "too-large"
    assert bench.refused("small", "a", "b" * 10)[0] == "too-large"
    assert bench.refused("new", "", "b" * 11)[0] == "too-large"
    bench.propose("new", "", "b" * 10)


def test_the_limit_is_that_of_the_workspace_unless_said_otherwise(tmp_path: Path) -> None:
    with Workspace.open(tmp_path, Policy(max_file_bytes=5)) as workspace:
        assert Bench(tmp_path, workspace).refused("new", "", "b" * 6)[0] == "too-large"


def test_nothing_is_stored_when_instructions_must_be_read_first(bench: Bench) -> None:
    bench.write("a.py", b"a\n")

    def unread(path: str) -> tuple[Governing, ...]:
        raise EditRefused("instructions", f"Read the instructions of {path} first.")

    bench.draft = Draft(bench.workspace, bench.shelf, unread)
    assert bench.refused("a.py", "a", "b")[0] == "instructions"
    assert not bench.shelf.kept


def test_a_refusal_says_which_text_was_looked_at(bench: Bench) -> None:
    bench.write("a.py", b"one\ntwo\n")
    bench.propose("a.py", "one", "1")
    assert "pending text of change-001" in bench.refused("a.py", "one", "eins")[1]
    bench.turn()
    assert 'pass change="change-001"' in bench.refused("a.py", "1\ntwo", "x")[1]
    bench.propose("b.py", "", "b\n", change="new")
    bench.turn()
    kind, said = bench.refused("b.py", "b", "c")
    assert kind == "missing" and 'pass change="change-002"' in said


def test_deletion_takes_no_texts(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    for old, new, to in (("a", "", ""), ("", "b", ""), ("", "", "c.py")):
        assert bench.refused("a.py", old, new, delete=True, to=to)[0] == "arguments"


def test_a_rename_never_replaces(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    bench.write("b.py", b"b\n")
    (bench.root / "dir").mkdir()
    assert bench.refused("a.py", to="b.py")[0] == "exists"
    kind, said = bench.refused("a.py", to="dir")
    assert kind == "exists" and "whole new path" in said
    assert bench.refused("a.py", to="a.py")[0] == "arguments"
    assert bench.refused("c.py", to="d.py")[0] == "missing"
    assert bench.refused("a.py", to=".git/hooks/pre-commit")[0] == "protected"
    assert bench.refused("a.py", to="b.py/c.py")[0] == "not-a-directory"


def test_two_files_of_a_change_never_share_a_path(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    bench.write("b.py", b"b\n")
    bench.propose("a.py", to="c.py")
    assert bench.refused("b.py", to="a.py")[0] == "exists"
    assert bench.refused("b.py", to="c.py")[0] == "conflict"
    assert bench.refused("a.py", "", "new")[0] == "conflict"
    bench.propose("d", "", "file")
    assert bench.refused("d/e", "", "below it")[0] == "conflict"
    bench.propose("f/g", "", "below")
    assert bench.refused("f", "", "above it")[0] == "conflict"
