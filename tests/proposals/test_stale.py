"""Whether the disk still is what a change was made against."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.proposals import FileChange, Proposal, StaleFile, stale_files
from steward.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "a.py").write_bytes(b"a\n")
    (tmp_path / "a.py").chmod(0o644)
    with Workspace.open(tmp_path) as opened:
        yield opened


def _reasons(workspace: Workspace, *files: FileChange) -> list[tuple[str, str]]:
    found = stale_files(Proposal("change-001", "t", "", files, workspace.identity), workspace)
    assert all(isinstance(one, StaleFile) for one in found)
    return [(one.path, one.reason) for one in found]


MODIFY = FileChange("a.py", "modify", b"a\n", b"b\n", 0o644, 0o644)
CREATE = FileChange("x/new.py", "create", None, b"b\n", None, 0o644)
RENAME = FileChange("x/b.py", "rename", b"a\n", b"a\n", 0o644, 0o644, "a.py")
DELETE = FileChange("a.py", "delete", b"a\n", None, 0o644, None)


def test_a_change_that_fits_the_disk_is_fresh(workspace: Workspace) -> None:
    for change in (MODIFY, CREATE, RENAME, DELETE):
        assert _reasons(workspace, change) == []


@pytest.mark.parametrize("change", [MODIFY, DELETE, RENAME], ids=lambda c: c.action)
def test_each_way_in_which_a_base_can_be_gone_has_its_word(workspace: Workspace, change: FileChange) -> None:
    file = workspace.root / "a.py"

    def reason() -> str:
        ((path, word),) = _reasons(workspace, change)
        assert path == "a.py"
        return word

    file.write_bytes(b"longer\n")
    assert reason() == "changed"
    file.write_bytes(b"b\n")
    assert reason() == "changed"
    file.write_bytes(b"a\n")
    file.chmod(0o755)
    assert reason() == "mode changed"
    file.chmod(0o644)
    os.link(file, workspace.root / "second")
    assert reason() == "has several hard links"
    file.unlink()
    assert reason() == "missing"
    file.symlink_to("second")
    assert reason() == "became a link"
    file.unlink()
    file.mkdir()
    assert reason() == "became a directory"
    file.rmdir()
    os.mkfifo(file)
    assert reason() == "became a special file"


@pytest.mark.parametrize("change", [CREATE, RENAME], ids=lambda c: c.action)
def test_each_way_in_which_a_new_path_can_be_taken_has_its_word(
    workspace: Workspace, change: FileChange
) -> None:
    folder, target = workspace.root / "x", workspace.root / change.path

    def reason() -> str:
        ((path, word),) = _reasons(workspace, change)
        assert path == change.path
        return word

    folder.write_bytes(b"")
    assert "directory" in reason()
    folder.unlink()
    folder.symlink_to(".")
    assert reason() == "its directory became a link"
    folder.unlink()
    folder.mkdir()
    assert _reasons(workspace, change) == []
    target.write_bytes(b"")
    assert reason() == "exists now"
    target.unlink()
    target.symlink_to("nowhere")
    assert reason() == "exists now"


def test_a_directory_that_became_a_link_is_not_followed(workspace: Workspace) -> None:
    inner = workspace.root / "dir"
    inner.mkdir()
    (inner / "a.py").write_bytes(b"a\n")
    change = FileChange("dir/a.py", "modify", b"a\n", b"b\n", None, None)
    assert _reasons(workspace, change) == []
    inner.rename(workspace.root / "real")
    inner.symlink_to("real")
    assert _reasons(workspace, change) == [("dir/a.py", "became a link")]


def test_a_secret_or_protected_path_in_a_stored_change_is_stale(workspace: Workspace) -> None:
    assert _reasons(workspace, FileChange(".git/x", "create", None, b"")) == [(".git/x", "protected")]
    assert _reasons(workspace, FileChange(".env", "create", None, b"")) == [(".env", "protected as a secret")]


def test_a_rename_that_is_both_changed_and_taken_says_both(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_bytes(b"z\n")
    (workspace.root / "x").mkdir()
    (workspace.root / "x/b.py").write_bytes(b"")
    assert _reasons(workspace, RENAME) == [("a.py", "changed"), ("x/b.py", "exists now")]


def test_a_file_that_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    file = tmp_path / "a.py"
    file.write_bytes(b"a\n")
    file.chmod(0o200)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # root reads anything: look as somebody else
        said = b"failed"
        try:
            with Workspace.open(tmp_path) as workspace:
                if os.geteuid() == 0:
                    os.chown(file, 65534, 65534)
                    os.setgid(65534)
                    os.setuid(65534)
                change = FileChange("a.py", "modify", b"a\n", b"b\n", 0o200, 0o200)
                said = repr(_reasons(workspace, change)).encode()
        finally:
            os.write(writer, said)
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == repr([("a.py", "unreadable")]).encode()
