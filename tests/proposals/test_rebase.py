"""Carrying a stale change over to what is on disk now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import Conflict, WrongStatus
from steward.proposals import Choice, Draft, Edit, FileChange, Proposal, choose, overlaps, stale_files
from steward.proposals.rebase import rebase
from steward.workspace import RepoPath, Workspace
from tests.proposals.memory_shelf import MemoryShelf


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.open(tmp_path) as opened:
        yield opened


def _write(workspace: Workspace, path: str, data: bytes, mode: int = 0o644) -> None:
    file = workspace.root / path
    file.write_bytes(data)
    file.chmod(mode)


def _draft(workspace: Workspace) -> Draft:
    return Draft(workspace, MemoryShelf(), lambda path: ())


def _change(workspace: Workspace, *edits: tuple[str, str], path: str = "a.py") -> Proposal:
    draft = _draft(workspace)
    for old, new in edits[:-1]:
        draft.propose(RepoPath.parse(path), old, new)
    return draft.propose(RepoPath.parse(path), *edits[-1]).proposal


def test_edits_whose_old_text_is_still_unique_move_with_it(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\ntwo\nthree\n")
    proposal = _change(workspace, ("one", "1"), ("three", "3\n4"))
    _write(workspace, "a.py", b"# top\none\ntwo and a half\nthree\nend", 0o755)
    moved = rebase(proposal, workspace)
    (file,) = moved.files
    assert file.base == b"# top\none\ntwo and a half\nthree\nend"
    assert file.result == b"# top\n1\ntwo and a half\n3\n4\nend"
    assert (file.base_mode, file.result_mode) == (0o755, 0o755)
    assert moved.id == proposal.id and moved.stamp != proposal.stamp
    assert not stale_files(moved, workspace)


def test_a_fresh_change_comes_back_as_it_is(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\n")
    proposal = _change(workspace, ("one", "1"))
    assert rebase(proposal, workspace) == proposal
    assert rebase(proposal, workspace).stamp == proposal.stamp


def test_an_old_text_that_is_gone_or_twice_there_is_a_conflict_that_names_the_file(
    workspace: Workspace,
) -> None:
    _write(workspace, "a.py", b"one\n")
    proposal = _change(workspace, ("one", "1"))
    for data, why in ((b"two\n", "gone"), (b"one\none\n", "unique"), (b"", "gone")):
        _write(workspace, "a.py", data)
        with pytest.raises(Conflict, match=rf"a\.py .*{why}"):
            rebase(proposal, workspace)
    (workspace.root / "a.py").unlink()
    with pytest.raises(Conflict, match="missing"):
        rebase(proposal, workspace)


def test_a_word_that_grew_is_not_the_old_text_any_more(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"return 1\n")
    proposal = _change(workspace, ("return 1", "return 11"))
    for data in (b"return 100\n", b"noreturn 1\n", b"return 1_0\n"):
        _write(workspace, "a.py", data)
        with pytest.raises(Conflict, match="right beside"):
            rebase(proposal, workspace)
    _write(workspace, "a.py", b"return 1  # one\n")
    assert rebase(proposal, workspace).files[0].result == b"return 11  # one\n"


def test_endings_of_the_file_now_on_disk_are_kept(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\ntwo\n")
    proposal = _change(workspace, ("one\ntwo", "one\nx\ntwo"))
    _write(workspace, "a.py", b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert rebase(proposal, workspace).files[0].result == b"\xef\xbb\xbfone\r\nx\r\ntwo\r\n"


def test_one_file_that_cannot_move_leaves_the_whole_change_as_it_was(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\n")
    _write(workspace, "b.py", b"two\n")
    draft = _draft(workspace)
    draft.propose(RepoPath.parse("a.py"), "one", "1")
    proposal = draft.propose(RepoPath.parse("b.py"), "two", "2").proposal
    _write(workspace, "a.py", b"one\nmore\n")
    _write(workspace, "b.py", b"gone\n")
    with pytest.raises(Conflict) as conflict:
        rebase(proposal, workspace)
    assert "b.py" in str(conflict.value) and "a.py" not in str(conflict.value)


def test_a_created_file_that_exists_now_cannot_move(workspace: Workspace) -> None:
    proposal = _change(workspace, ("", "new\n"))
    _write(workspace, "a.py", b"theirs\n")
    with pytest.raises(Conflict, match="exists now"):
        rebase(proposal, workspace)


def test_a_deletion_is_only_of_what_was_seen(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\n")
    proposal = _draft(workspace).propose(RepoPath.parse("a.py"), "", "", delete=True).proposal
    _write(workspace, "a.py", b"one\n", 0o600)
    assert rebase(proposal, workspace).files[0].base_mode == 0o600
    _write(workspace, "a.py", b"two\n")
    with pytest.raises(Conflict, match="deletion"):
        rebase(proposal, workspace)


def test_a_rename_takes_the_changed_source_along(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\ntwo\n")
    proposal = (
        _draft(workspace)
        .propose(RepoPath.parse("a.py"), "one", "1", rename_to=RepoPath.parse("b.py"))
        .proposal
    )
    _write(workspace, "a.py", b"one\nthree\n")
    (file,) = rebase(proposal, workspace).files
    assert (file.action, file.old_path, file.path, file.result) == ("rename", "a.py", "b.py", b"1\nthree\n")
    _write(workspace, "b.py", b"")
    with pytest.raises(Conflict):
        rebase(proposal, workspace)


def test_chosen_hunks_and_a_persons_own_edit_can_be_rebased_too(workspace: Workspace) -> None:
    lines = [b"line %d\n" % n for n in range(40)]
    _write(workspace, "a.py", b"".join(lines))
    proposal = _change(workspace, ("line 5\n", "five\n"), ("line 30\n", "thirty\n"))
    part = replace(proposal, files=(choose(proposal.files[0], Choice([1])),))
    _write(workspace, "a.py", b"top\n" + b"".join(lines))
    result = rebase(part, workspace).files[0].result
    assert result == b"top\n" + b"".join(lines).replace(b"line 30\n", b"thirty\n")


def test_a_file_written_anew_is_carried_over_by_its_hunks(workspace: Workspace) -> None:
    lines = [b"line %d\n" % n for n in range(40)]
    base = b"".join(lines)
    change = FileChange("a.py", "modify", base, base.replace(b"line 20\n", b"twenty\n"), 0o644, 0o644)
    _write(workspace, "a.py", b"top\n" + base)
    moved = rebase(Proposal("change-001", "t", "", (change,), workspace.identity), workspace)
    assert moved.files[0].result == b"top\n" + base.replace(b"line 20\n", b"twenty\n")


def test_what_the_disk_already_holds_is_no_change_any_more(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\n")
    proposal = _change(workspace, ("one", "one\ntwo"))
    assert proposal.files[0].edits == (Edit("one", "one\ntwo"),)
    for data in (b"one\ntwo\n", b"top\none\ntwo\n"):
        _write(workspace, "a.py", data)
        with pytest.raises(Conflict, match="already holds all of it"):
            rebase(proposal, workspace)


def test_a_change_of_the_mode_alone_is_carried_over_too(workspace: Workspace) -> None:
    _write(workspace, "run.sh", b"one\n")
    _write(workspace, "a.py", b"one\n")
    mode = FileChange("run.sh", "modify", b"one\n", b"one\n", 0o644, 0o755)
    change = FileChange("a.py", "modify", b"one\n", b"1\n", 0o644, 0o644)
    proposal = Proposal("change-001", "t", "", (mode, change), workspace.identity)
    _write(workspace, "a.py", b"top\none\n")
    assert rebase(proposal, workspace).files[0] == mode
    _write(workspace, "run.sh", b"two\n")
    assert rebase(proposal, workspace).files[0] == replace(mode, base=b"two\n", result=b"two\n")
    _write(workspace, "run.sh", b"one\n", 0o755)
    assert [file.path for file in rebase(proposal, workspace).files] == ["a.py"]


def test_what_is_written_already_but_for_the_mode_is_carried_over_as_a_change_of_the_mode(
    workspace: Workspace,
) -> None:
    _write(workspace, "run.sh", b"one\n")
    change = FileChange("run.sh", "modify", b"one\n", b"1\n", 0o644, 0o755)
    _write(workspace, "run.sh", b"1\n", 0o600)
    (file,) = rebase(Proposal("change-001", "t", "", (change,), workspace.identity), workspace).files
    assert (file.base, file.result, file.base_mode, file.result_mode) == (b"1\n", b"1\n", 0o600, 0o755)


def test_an_insertion_that_is_there_already_is_not_made_twice(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\nthree\n")
    proposal = _change(workspace, ("one", "one\ntwo"), ("three", "3"))
    _write(workspace, "a.py", b"one\ntwo\nthree\n")
    assert rebase(proposal, workspace).files[0].result == b"one\ntwo\n3\n"


def test_only_a_pending_change_is_rebased(workspace: Workspace) -> None:
    _write(workspace, "a.py", b"one\n")
    proposal = replace(_change(workspace, ("one", "1")), status="applied")
    with pytest.raises(WrongStatus):
        rebase(proposal, workspace)


def test_changes_overlap_where_they_name_one_path(workspace: Workspace) -> None:
    def proposal(*files: FileChange) -> Proposal:
        return Proposal("change-001", "t", "", files, workspace.identity)

    one = proposal(FileChange("a", "modify", b"1", b"2"), FileChange("c", "rename", b"1", b"1", 0, 0, "b"))
    two = proposal(FileChange("b", "modify", b"1", b"3"), FileChange("a", "delete", b"1", None))
    assert overlaps(one, two) == ("a", "b")
    assert overlaps(one, proposal(FileChange("d", "create", None, b""))) == ()
