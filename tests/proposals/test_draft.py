"""Patches of a turn becoming one pending change, on a real directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from steward.errors import NoSuchThing, WrongStatus
from steward.proposals import Pending, Proposal
from steward.proposals.draft import WITHDRAWN
from steward.workspace import RepoPath, Workspace
from tests.proposals.drafting import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Workspace.open(tmp_path) as workspace:
        yield Bench(tmp_path, workspace)


def _shape(proposal: Proposal) -> list[tuple[str, str, bytes | None, bytes | None]]:
    return [(f.action, f.path, f.base, f.result) for f in proposal.files]


def test_all_patches_of_a_turn_form_one_change_over_its_files(bench: Bench) -> None:
    bench.write("a.py", b"one\ntwo\n")
    bench.write("b.py", b"x\n")
    bench.propose("a.py", "one", "1")
    bench.propose("b.py", "x", "y")
    proposal = bench.propose("c/d/new.py", "", "new\n")
    assert proposal.id == "change-001" and proposal.status == "pending"
    assert (proposal.title, proposal.session, proposal.model) == ("Make it so", "s1", "m1")
    assert proposal.workspace == bench.workspace.identity and proposal.created.endswith("+00:00")
    assert _shape(proposal) == [
        ("modify", "a.py", b"one\ntwo\n", b"1\ntwo\n"),
        ("modify", "b.py", b"x\n", b"y\n"),
        ("create", "c/d/new.py", None, b"new\n"),
    ]
    assert (bench.root / "a.py").read_bytes() == b"one\ntwo\n" and not (bench.root / "c").exists()


def test_patches_on_one_file_chain_on_its_pending_text_and_the_base_stays(bench: Bench) -> None:
    bench.write("a.py", b"one\ntwo\n", 0o640)
    first = bench.propose("a.py", "one", "1")
    second = bench.propose("a.py", "1\ntwo", "1\n2")
    assert _shape(second) == [("modify", "a.py", b"one\ntwo\n", b"1\n2\n")]
    assert second.id == first.id and second.stamp != first.stamp
    (file,) = second.files
    assert (file.base_mode, file.result_mode) == (0o640, 0o640)
    assert [(e.old, e.new) for e in file.edits] == [("one", "1"), ("1\ntwo", "1\n2")]


def test_what_the_turn_made_is_seen_and_nothing_else(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    bench.write("b.py", b"b\n")
    bench.write("c.py", b"c\n")
    bench.propose("a.py", "a", "A")
    bench.propose("b.py", delete=True)
    bench.propose("c.py", to="d.py")
    assert bench.draft.views() == {
        "a.py": Pending("change-001", b"A\n"),
        "b.py": Pending("change-001", None),
        "c.py": Pending("change-001", None, "d.py"),
        "d.py": Pending("change-001", b"c\n"),
    }
    assert bench.draft.view(RepoPath.parse("e.py")) is None
    bench.turn()
    assert bench.draft.views() == {}


def test_the_next_turn_begins_another_change(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.propose("a.py", "a", "A")
    bench.turn()
    proposal = bench.propose("a.py", "b", "B")
    assert proposal.id == "change-002" and proposal.files[0].result == b"a\nB\n"


def test_new_starts_another_change_and_a_refused_patch_starts_none(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.propose("a.py", "a", "A")
    bench.refused("a.py", "nowhere", "B", change="new")
    assert bench.draft.change == "change-001"
    assert bench.propose("a.py", "b", "B", change="new").id == "change-002"
    assert bench.propose("x.py", "", "x").id == "change-002"


def test_an_earlier_change_is_amended_by_its_id_and_becomes_the_turns_own(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.propose("a.py", "a", "A")
    bench.turn()
    proposal = bench.propose("a.py", "A\nb", "A\nB", change="change-001")
    assert proposal.id == "change-001" and proposal.files[0].result == b"A\nB\n"
    assert bench.propose("x.py", "", "x").id == "change-001"


def test_a_change_that_does_not_exist_or_is_dealt_with_is_not_amended(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    with pytest.raises(NoSuchThing):
        bench.propose("a.py", "a", "A", change="change-999")
    made = bench.propose("a.py", "a", "A")
    bench.shelf.put(replace(made, status="applied"))
    with pytest.raises(WrongStatus, match="change-001 is applied"):
        bench.propose("a.py", "b", "B", change="change-001")


def test_a_change_the_person_dealt_with_meanwhile_is_not_what_the_next_patch_joins(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    made = bench.propose("a.py", "a", "A")
    bench.shelf.put(replace(made, status="discarded"))
    assert bench.draft.views() == {}
    proposal = bench.propose("a.py", "b", "B")
    assert proposal.id == "change-002" and proposal.files[0].result == b"a\nB\n"


def _relinked(file: Path) -> None:
    file.unlink()
    file.symlink_to("b.py")


def _made_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


_MEDDLING: list[tuple[Callable[[Path], object], str]] = [
    (lambda file: file.write_bytes(b"other\n"), "changed"),
    (lambda file: file.write_bytes(b"0ne\ntwo\n"), "changed"),
    (lambda file: file.unlink(), "missing"),
    (lambda file: file.chmod(0o600), "mode changed"),
    (_relinked, "became a link"),
    (_made_directory, "became a directory"),
    (lambda file: os.link(file, file.with_name("second")), "hard links"),
]


@pytest.mark.parametrize(("meddle", "word"), _MEDDLING)
def test_a_base_that_is_no_longer_on_disk_is_a_conflict_that_says_what_to_do(
    bench: Bench, meddle: Callable[[Path], object], word: str
) -> None:
    file = bench.write("a.py", b"one\ntwo\n")
    bench.propose("a.py", "one", "1")
    meddle(file)
    kind, said = bench.refused("a.py", "two", "2")
    assert kind == "conflict" and word in said and 'change="new"' in said and "change-001" in said


def test_a_created_file_that_someone_else_created_meanwhile_is_a_conflict(bench: Bench) -> None:
    bench.propose("a.py", "", "one\n")
    bench.write("a.py", b"theirs\n")
    assert bench.refused("a.py", "one", "1")[0] == "conflict"


def test_a_file_patched_back_to_its_base_leaves_the_change(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    bench.documents = (("AGENTS.md", "0" * 64),)
    bench.propose("a.py", "a", "A")
    bench.propose("b.py", "", "b\n")
    accepted = bench.draft.propose(RepoPath.parse("a.py"), "A", "a")
    assert accepted.file is None and not accepted.withdrawn
    assert [f.path for f in accepted.proposal.files] == ["b.py"]
    assert {g.file for g in accepted.proposal.instructions} == {"b.py"}


def test_a_change_of_which_nothing_is_left_is_withdrawn(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    made = bench.propose("a.py", "a", "A")
    accepted = bench.draft.propose(RepoPath.parse("a.py"), "A", "a")
    assert accepted.withdrawn and accepted.file is None
    kept = bench.shelf.get(made.id)
    assert (kept.status, kept.reason, kept.files) == ("discarded", WITHDRAWN, made.files)
    assert bench.propose("a.py", "a", "B").id == "change-002"


def test_a_file_is_deleted_and_a_deletion_is_taken_back_by_creating_it_anew(bench: Bench) -> None:
    bench.write("a.py", b"a\n", 0o755)
    deleted = bench.propose("a.py", delete=True)
    assert _shape(deleted) == [("delete", "a.py", b"a\n", None)]
    assert deleted.files[0].result_mode is None
    assert bench.refused("a.py", delete=True)[0] == "unchanged"
    assert bench.refused("a.py", "a", "b")[0] == "missing"
    again = bench.propose("a.py", "", "whole\n")
    assert _shape(again) == [("modify", "a.py", b"a\n", b"whole\n")]
    assert (again.files[0].result_mode, again.files[0].edits) == (0o755, ())
    assert bench.propose("a.py", "whole", "part").files[0].edits == ()


def test_deleting_what_was_only_created_leaves_nothing(bench: Bench) -> None:
    bench.propose("a.py", "", "a\n")
    bench.propose("b.py", "", "b\n")
    assert [f.path for f in bench.propose("a.py", delete=True).files] == ["b.py"]


def test_a_binary_file_can_be_deleted_or_renamed_but_not_patched(bench: Bench) -> None:
    bench.write("a.bin", b"\0\xff")
    bench.write("b.bin", b"\0\xff")
    assert bench.refused("a.bin", "x", "y")[0] == "binary"
    proposal = bench.propose("a.bin", delete=True)
    proposal = bench.propose("b.bin", to="c.bin")
    assert [f.action for f in proposal.files] == ["delete", "rename"]


def test_a_rename_keeps_its_source_with_and_without_edits(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n", 0o755)
    bench.propose("a.py", to="x/b.py")
    proposal = bench.propose("x/b.py", "b", "B")
    (file,) = proposal.files
    assert (file.action, file.path, file.old_path) == ("rename", "x/b.py", "a.py")
    assert (file.base, file.result, file.base_mode, file.result_mode) == (b"a\nb\n", b"a\nB\n", 0o755, 0o755)
    assert bench.refused("a.py", "a", "A") == (
        "conflict",
        "a.py is renamed to x/b.py in change-001; propose the patch for that path. "
        "A new file can take its place once the person has applied change-001.",
    )
    (file,) = bench.propose("x/b.py", "a", "A", to="c.py").files
    assert (file.path, file.old_path, file.result) == ("c.py", "a.py", b"A\nB\n")


def test_an_edited_file_that_is_renamed_keeps_its_edits(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.propose("a.py", "a", "A")
    (file,) = bench.propose("a.py", to="b.py").files
    assert (file.action, file.old_path, file.result) == ("rename", "a.py", b"A\nb\n")


def test_a_rename_back_is_no_rename(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.propose("a.py", "a", "A", to="b.py")
    (file,) = bench.propose("b.py", to="a.py").files
    assert (file.action, file.path, file.old_path, file.result) == ("modify", "a.py", None, b"A\nb\n")


def test_a_created_file_that_is_renamed_is_created_at_its_new_path(bench: Bench) -> None:
    bench.propose("a.py", "", "a\n")
    proposal = bench.propose("a.py", to="b.py")
    assert _shape(proposal) == [("create", "b.py", None, b"a\n")]


def test_a_renamed_file_that_is_deleted_is_a_deletion_of_its_source(bench: Bench) -> None:
    bench.write("a.py", b"a\n")
    bench.propose("a.py", to="b.py")
    assert _shape(bench.propose("b.py", delete=True)) == [("delete", "a.py", b"a\n", None)]


def test_only_the_case_of_a_name_can_change(bench: Bench) -> None:
    bench.write("readme.md", b"a\n")
    (file,) = bench.propose("readme.md", to="README.md").files
    assert (file.action, file.path, file.old_path) == ("rename", "README.md", "readme.md")


def test_special_mode_bits_are_part_of_the_change(bench: Bench) -> None:
    file = bench.write("a.sh", b"a\n")
    file.chmod(0o6755)
    (change,) = bench.propose("a.sh", "a", "b").files
    assert change.base_mode == change.result_mode == stat.S_IMODE(file.stat().st_mode) == 0o6755


def test_the_umask_of_the_moment_decides_on_the_mode_of_a_new_file(bench: Bench) -> None:
    before = os.umask(0o027)
    try:
        proposal = bench.propose("a.py", "", "a\n")
        os.umask(0o022)
        proposal = bench.propose("b.py", "", "#!/bin/sh\n")
    finally:
        os.umask(before)
    assert [(f.base_mode, f.result_mode) for f in proposal.files] == [(None, 0o640), (None, 0o644)]


def test_documents_that_governed_each_path_are_recorded_and_kept_up_to_date(bench: Bench) -> None:
    bench.write("a.py", b"a\nb\n")
    bench.documents = (("AGENTS.md", "1" * 64),)
    bench.propose("a.py", "a", "A")
    bench.documents = (("AGENTS.md", "2" * 64), ("sub/AGENTS.md", "3" * 64))
    bench.propose("b.py", "", "b\n")
    proposal = bench.propose("a.py", "b", "B")
    assert [(g.file, g.path, g.sha256[0]) for g in proposal.instructions] == [
        ("b.py", "AGENTS.md", "2"),
        ("b.py", "sub/AGENTS.md", "3"),
        ("a.py", "AGENTS.md", "2"),
        ("a.py", "sub/AGENTS.md", "3"),
    ]
    renamed = bench.propose("a.py", to="c.py")
    assert {g.file for g in renamed.instructions} == {"a.py", "b.py", "c.py"}


def test_patches_from_many_threads_are_all_in_the_change(bench: Bench) -> None:
    def one(number: int) -> None:
        bench.propose(f"{number}.txt", "", f"{number}\n")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(40)))
    assert list(bench.shelf.kept) == ["change-001"]
    assert len(bench.shelf.get("change-001").files) == 40
