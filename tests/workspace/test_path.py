"""A parsed path names a place inside the workspace, whatever text it came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.errors import PathRefused
from steward.workspace import ROOT, RepoPath, quoted

wild = st.lists(
    st.sampled_from(["a", "..", ".", "", "/", "//", "é", "~", "\0", "\ud800", " ", "\\", "..."])
).map("/".join)


@given(st.one_of(wild, st.text()))
def test_every_text_is_refused_or_stays_inside(text: str) -> None:
    try:
        path = RepoPath.parse(text)
    except PathRefused as refused:
        assert refused.kind in ("empty", "absolute", "escapes", "nul", "too-long", "not-text")
        return
    for name in path.parts:
        assert name not in ("", ".", "..")
        assert "/" not in name
        assert "\0" not in name
        name.encode()
    assert RepoPath.parse(path.text) == path
    assert str(path) == path.text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (".", ()),
        ("./", ()),
        ("a/..", ()),
        ("a", ("a",)),
        ("./a//b/./c/", ("a", "b", "c")),
        ("a/../b", ("b",)),
        ("a/b/../../c", ("c",)),
        ("~", ("~",)),
        ("%2e%2e/x", ("%2e%2e", "x")),
        ("[id]/x", ("[id]", "x")),
        ("a\\..\\b", ("a\\..\\b",)),
        (" ", (" ",)),
        ("...", ("...",)),
        ("-rf", ("-rf",)),
    ],
)
def test_paths_are_normalised_as_text_and_otherwise_literal(text: str, parts: tuple[str, ...]) -> None:
    assert RepoPath.parse(text).parts == parts


def test_a_path_knows_its_parent_its_name_and_what_it_is_beneath() -> None:
    path = RepoPath.parse("src/lib/util.py")
    assert path.parent == RepoPath.parse("src/lib")
    assert path.name == "util.py"
    assert path.parent.child("util.py") == path
    assert path.within(RepoPath.parse("src"))
    assert path.within(path)
    assert path.within(ROOT)
    assert not RepoPath.parse("src-twin/x").within(RepoPath.parse("src"))
    assert ROOT.parent == ROOT
    assert ROOT.name == ""
    assert ROOT.text == "."


def test_paths_sort_by_their_names_so_that_a_directory_comes_right_before_what_it_holds() -> None:
    texts = ["a-b", "a/c", "a", "a/b/d", "b"]
    assert [str(p) for p in sorted(map(RepoPath.parse, texts))] == ["a", "a/b/d", "a/c", "a-b", "b"]


def test_a_quoted_path_is_short_and_shows_everything() -> None:
    assert quoted("a\nb\x1b") == "a␊b␛"
    assert len(quoted("x" * 5000)) < 200
