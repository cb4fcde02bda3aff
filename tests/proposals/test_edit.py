"""Replacing one exact piece of text: every case of the fixtures, and every byte outside the match."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from steward.errors import EditRefused
from steward.proposals import Draft, FileChange, file_diff
from steward.proposals.edit import locate, replace
from steward.proposals.lines import BOM
from steward.workspace import RepoPath, Workspace
from tests.proposals.hostile import line_contents, texts
from tests.proposals.memory_shelf import MemoryShelf

_FIXTURES = Path(__file__).parents[2] / "fixtures" / "edits"


def _cases() -> list[Any]:
    return [
        pytest.param(case, id=case["id"])
        for name in ("shared.toml", "kinds.toml")
        for case in cast(list[dict[str, str]], tomllib.loads((_FIXTURES / name).read_text("utf-8"))["case"])
    ]


def _data(case: dict[str, str], key: str) -> bytes | None:
    if f"{key}_hex" in case:
        return bytes.fromhex(case[f"{key}_hex"])
    return case[key].encode() if key in case else None


@pytest.mark.parametrize("case", _cases())
def test_a_case_gives_its_result_or_its_refusal(case: dict[str, str]) -> None:
    data = _data(case, "file")
    if "refused" in case:
        with pytest.raises(EditRefused) as refusal:
            replace(data, case["old"], case["new"])
        assert refusal.value.kind == case["refused"]
        assert case.get("hint", "") in str(refusal.value)
        return
    result = replace(data, case["old"], case["new"])
    assert result == _data(case, "result")
    change = FileChange("x", "create" if data is None else "modify", data, result)
    assert case.get("notice", "") in " ".join(file_diff(change).notices)


@pytest.mark.parametrize("case", _cases())
def test_a_case_comes_out_the_same_when_the_file_is_on_disk(case: dict[str, str], tmp_path: Path) -> None:
    data = _data(case, "file")
    if data is not None:
        (tmp_path / "file.txt").write_bytes(data)
    shelf = MemoryShelf()
    with Workspace.open(tmp_path) as workspace:
        draft = Draft(workspace, shelf, lambda path: ())
        if "refused" in case:
            with pytest.raises(EditRefused) as refusal:
                draft.propose(RepoPath.parse("file.txt"), case["old"], case["new"])
            assert refusal.value.kind == case["refused"]
            assert not shelf.kept
        else:
            accepted = draft.propose(RepoPath.parse("file.txt"), case["old"], case["new"])
            assert accepted.file is not None
            assert (accepted.file.base, accepted.file.result) == (data, _data(case, "result"))
    assert ((tmp_path / "file.txt").read_bytes() if data is not None else None) == data


def test_there_are_at_least_forty_kinds_beyond_the_shared_cases() -> None:
    assert len(tomllib.loads((_FIXTURES / "kinds.toml").read_text("utf-8"))["case"]) >= 40


@settings(max_examples=500)
@given(texts(), line_contents, texts(most=3), texts(), st.booleans())
def test_bytes_outside_the_match_are_identical(
    before: str, key: str, new: str, after: str, bom: bool
) -> None:
    old = key + "§"
    data = (BOM if bom else b"") + f"{before}{old}{after}".encode()
    assume(new != old and "\ufeff" not in new[:1] + old[:1])
    if before.endswith("\r") and old.startswith("\n"):
        return
    at = len(BOM if bom else b"") + len(before.encode())
    result = replace(data, old, new)
    assert result[:at] == data[:at]
    assert result[len(result) - len(after.encode()) :] == after.encode()
    inserted = result[at : len(result) - len(after.encode())]
    assert inserted.replace(b"\r\n", b"\n") == new.encode().replace(b"\r\n", b"\n")
    if "\r\n" in new:
        assert inserted == new.encode()


@settings(max_examples=300)
@given(texts(), texts(most=3), texts(most=3), st.data())
def test_in_a_file_of_lf_lines_it_is_a_plain_replacement(
    text: str, old: str, new: str, data: st.DataObject
) -> None:
    text, old, new = (t.replace("\r", "") for t in (text, old, new))
    if text and data.draw(st.booleans()):
        start = data.draw(st.integers(0, len(text) - 1))
        old = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(old and old != new and not text.startswith("\ufeff"))
    count = sum(text.startswith(old, at) for at in range(len(text)))
    if count == 1:
        assert replace(text.encode(), old, new) == text.replace(old, new).encode()
    else:
        with pytest.raises(EditRefused) as refusal:
            replace(text.encode(), old, new)
        assert refusal.value.kind == ("not-unique" if count else "not-found")


@settings(max_examples=300)
@given(texts(), texts(most=3), st.data())
def test_in_a_file_of_crlf_lines_it_is_the_same_edit_seen_through_lf(
    text: str, new: str, data: st.DataObject
) -> None:
    text, new = text.replace("\r", ""), new.replace("\r", "")
    assume("\n" in text and not text.startswith("\ufeff"))
    start = data.draw(st.integers(0, len(text) - 1))
    old = text[start : data.draw(st.integers(start + 1, len(text)))]
    assume(old != new and sum(text.startswith(old, at) for at in range(len(text))) == 1)
    wanted = text.replace(old, new).replace("\n", "\r\n")
    if "\n" not in text.replace(old, "", 1) and "\n" not in old:
        return
    assert replace(text.replace("\n", "\r\n").encode(), old, new) == wanted.encode()


@settings(max_examples=300)
@given(texts(), st.data())
def test_lines_that_old_and_new_text_share_keep_their_endings(text: str, data: st.DataObject) -> None:
    lines = text.split("\n")
    assume(len(lines) > 3 and not text.startswith("\ufeff"))
    first = data.draw(st.integers(0, len(lines) - 3))
    last = data.draw(st.integers(first + 2, len(lines) - 1))
    chosen = [line.removesuffix("\r") for line in lines[first:last]]
    old = "\n".join([*chosen, ""])
    at = data.draw(st.integers(0, len(chosen)))
    new = "\n".join([*chosen[:at], "§", *chosen[at:], ""])
    try:
        result = replace(text.encode(), old, new)
    except EditRefused as refusal:
        assert refusal.kind in ("not-unique", "not-found")
        return
    kept = result.replace(b"\xc2\xa7\r\n", b"").replace(b"\xc2\xa7\n", b"")
    assert kept == text.encode()


@pytest.mark.parametrize("name", ["oldText", "newText"])
def test_half_a_surrogate_pair_is_refused_by_the_name_of_its_argument(name: str) -> None:
    old, new = ("\ud800", "b") if name == "oldText" else ("a", "b\udfff")
    with pytest.raises(EditRefused, match=name) as refusal:
        replace(b"a\n", old, new)
    assert refusal.value.kind == "arguments"


def test_the_mark_of_a_cut_line_is_what_is_said_even_where_the_rest_is_twice_there() -> None:
    with pytest.raises(EditRefused) as refusal:
        replace(b"aaaa\naaaa\n", "aaaa… [cut: 4 of 2,000 characters]", "b")
    assert refusal.value.kind == "cut-line"


def test_matches_without_end_are_counted_up_to_a_bound() -> None:
    with pytest.raises(EditRefused, match="more than 1000 times"):
        replace(b"a" * 1_000_000, "aa", "b")


def test_a_place_is_found_in_bytes_that_hold_crlf() -> None:
    span = locate(b"\r\n\r\nx\r\ny\r\n", "x\ny\n")
    assert (span.start, span.end) == (4, 10)
