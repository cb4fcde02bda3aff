"""The stamp: everything that will be written is under it, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.proposals import Edit, FileChange, Governing, Proposal, short, stamp_of

FILE = FileChange("a", "modify", b"1", b"2", 0o644, 0o644)
PROPOSAL = Proposal("change-001", "t", "2026-01-01", (FILE,), "workspace")


@pytest.mark.parametrize(
    "other",
    [
        replace(FILE, path="b"),
        replace(FILE, base=b"3"),
        replace(FILE, result=b"3"),
        replace(FILE, base=None, action="create"),
        replace(FILE, result=None, action="delete"),
        replace(FILE, result=b""),
        replace(FILE, base_mode=0o600),
        replace(FILE, result_mode=0o4755),
        replace(FILE, result_mode=None),
        replace(FILE, action="rename", old_path="b"),
    ],
)
def test_whatever_will_be_written_moves_the_stamp(other: FileChange) -> None:
    assert stamp_of("workspace", (other,)) != PROPOSAL.stamp


def test_the_workspace_and_the_number_of_files_move_the_stamp() -> None:
    assert stamp_of("elsewhere", (FILE,)) != PROPOSAL.stamp
    assert stamp_of("workspace", (FILE, replace(FILE, path="b"))) != PROPOSAL.stamp
    assert stamp_of("workspace", ()) != PROPOSAL.stamp


def test_absent_is_not_empty() -> None:
    assert stamp_of("w", (FileChange("a", "create", None, b""),)) != stamp_of(
        "w", (FileChange("a", "create", b"", b""),)
    )


def test_what_is_not_written_leaves_the_stamp() -> None:
    other = replace(
        PROPOSAL,
        id="change-009",
        title="other",
        status="applied",
        notes=("n",),
        instructions=(Governing("a", "AGENTS.md", "0"),),
        files=(replace(FILE, edits=(Edit("1", "2"),)),),
    )
    assert other.stamp == PROPOSAL.stamp


def test_a_stamp_given_from_outside_is_not_believed() -> None:
    assert replace(PROPOSAL, stamp="f" * 64).stamp == PROPOSAL.stamp


@given(st.permutations([replace(FILE, path=name) for name in ("a", "b", "a/b", "é")]))
def test_the_order_of_files_does_not_matter(files: list[FileChange]) -> None:
    assert stamp_of("w", files) == stamp_of("w", sorted(files, key=lambda f: f.path))


_names = st.text("ab/", min_size=1, max_size=3)


@given(st.lists(st.tuples(_names, _names), max_size=3), st.lists(st.tuples(_names, _names), max_size=3))
def test_lengths_keep_neighbouring_fields_apart(
    one: list[tuple[str, str]], two: list[tuple[str, str]]
) -> None:
    def stamp(names: list[tuple[str, str]]) -> str:
        return stamp_of("w", [FileChange(path, "rename", b"", b"", None, None, old) for path, old in names])

    assert (stamp(one) == stamp(two)) == (
        sorted(one, key=lambda n: n[0]) == sorted(two, key=lambda n: n[0])
    ) or len({path for path, _ in one}) < len(one)


def test_people_see_the_first_twelve_digits_in_groups() -> None:
    assert short("3f9a1c2d77b0" + "0" * 52) == "3f9a-1c2d-77b0"
    assert PROPOSAL.short_stamp == short(PROPOSAL.stamp) and len(PROPOSAL.stamp) == 64
