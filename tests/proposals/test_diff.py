"""The diff that people see: it holds the whole truth about the result."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.proposals.diff import WHOLE, Line, between, counts, file_diff
from steward.proposals.lines import split
from steward.proposals.proposal import FileChange
from tests.proposals.hostile import any_bytes, utf8, versions
from tests.proposals.reading import apply_diff


def _modify(base: bytes, result: bytes) -> FileChange:
    return FileChange("x", "modify", base, result, 0o644, 0o644)


@settings(max_examples=2000)
@given(versions(any_bytes()), st.sampled_from([0, 1, 3, WHOLE]))
def test_what_is_shown_can_be_read_back_into_the_result(states: tuple[bytes, bytes], context: int) -> None:
    base, result = states
    diff = file_diff(_modify(base, result), context)
    assert apply_diff(base, diff) == result
    assert (diff.added, diff.removed) == counts(diff.change)
    lines = [line for hunk in diff.hunks for line in hunk.lines]
    assert diff.added == sum(line.sign == "+" for line in lines)
    assert diff.removed == sum(line.sign == "-" for line in lines)


@settings(max_examples=500)
@given(versions(any_bytes()), st.sampled_from([0, 1, 3, WHOLE]))
def test_line_numbers_and_hunk_headers_are_those_of_the_files(
    states: tuple[bytes, bytes], context: int
) -> None:
    base, result = states
    old, new = split(base), split(result)
    for hunk in file_diff(_modify(base, result), context).hunks:
        counted = {"old": 0, "new": 0}
        for line in hunk.lines:
            if line.old_no is not None:
                assert old[line.old_no - 1] == line.raw
                assert line.old_no == hunk.old_start + counted["old"]
                counted["old"] += 1
            if line.new_no is not None:
                assert new[line.new_no - 1] == line.raw
                assert line.new_no == hunk.new_start + counted["new"]
                counted["new"] += 1
        assert (counted["old"], counted["new"]) == (hunk.old_lines, hunk.new_lines)


@settings(max_examples=500)
@given(versions(any_bytes()))
def test_text_and_ending_of_a_line_are_all_of_its_bytes(states: tuple[bytes, bytes]) -> None:
    for hunk in file_diff(_modify(*states), WHOLE).hunks:
        for line in hunk.lines:
            if line.sign != "\\":
                assert (line.text + line.ending).encode("utf-8", "surrogateescape") == line.raw
                assert "\n" not in line.text


@settings(max_examples=500)
@given(versions(utf8))
def test_emphasis_lies_in_the_line_and_what_lies_outside_is_in_the_other_line_too(
    states: tuple[bytes, bytes],
) -> None:
    for hunk in file_diff(_modify(*states)).hunks:
        for line in hunk.lines:
            last = 0
            rest = ""
            for start, end in line.spans:
                assert last <= start < end <= len(line.text)
                rest += line.text[last:start]
                last = end
            if line.spans:
                other = Line("+", line.other or b"").text
                at = 0
                for character in rest + line.text[last:]:
                    at = other.index(character, at) + 1


def test_emphasis_marks_the_words_that_changed() -> None:
    (hunk,) = between("x", b"return compute(alpha, 1)\n", b"return compute(beta, 1)\n").hunks
    gone, come = hunk.lines
    assert [gone.text[s:e] for s, e in gone.spans] == ["alpha"]
    assert [come.text[s:e] for s, e in come.spans] == ["beta"]


def test_a_line_that_is_all_new_has_no_emphasis() -> None:
    (hunk,) = between("x", b"alpha\n", b"something else\n").hunks
    assert all(not line.spans for line in hunk.lines)


def test_lines_are_paired_by_their_words_when_counts_differ() -> None:
    (hunk,) = between("x", b"total = a + b\n", b"# sum\ntotal = a + c\n").hunks
    assert [line.other for line in hunk.lines] == [b"total = a + c\n", None, b"total = a + b\n"]


def test_a_line_longer_than_any_is_emphasised_between_its_ends() -> None:
    (hunk,) = between("x", b"a" * 50_000 + b"1" + b"b" * 50_000, b"a" * 50_000 + b"2" + b"b" * 50_000).hunks
    assert [line.spans for line in hunk.lines if line.sign != "\\"] == [((50_000, 50_001),)] * 2


def test_hunks_that_touch_are_one_and_wide_context_shows_the_whole_file() -> None:
    base = b"".join(b"%d\n" % n for n in range(30))
    result = base.replace(b"5\n", b"5!\n", 1).replace(b"\n13\n", b"\n13!\n").replace(b"\n25\n", b"\n25!\n")
    assert len(between("x", base, result, 3).hunks) == 3
    assert len(between("x", base, result, 4).hunks) == 2
    (whole,) = between("x", base, result, WHOLE).hunks
    assert (whole.old_start, whole.old_lines) == (1, 30)


@pytest.mark.parametrize(
    ("base", "result", "said"),
    [
        (b"a\r\nb\r\n", b"a\nb\n", "ending of 2 lines changes from CRLF to LF"),
        (b"a\nb\n", b"a\r\nb\n", "ending of one line changes from LF to CRLF"),
        (b"a\nb\n", b"a\r\nb\n", "Only line endings"),
        (b"a\nb\n", b"a\nb\nc\r\n", "Lines ending in CRLF come into a file that had none"),
        (b"a\n", b"a", "newline at the end of the file is removed"),
        (b"a", b"a\n", "newline at the end of the file is added"),
        (b"a\n", b"a \n", "Only blank space changes"),
        (b"a\n", "a\u200b\n".encode(), "1 invisible character is added"),
        ("a\u202e\u200b\n".encode(), b"a\n", "2 invisible characters are removed"),
        (b"a\n", b"\xef\xbb\xbfa\n", "byte order mark is added"),
        (b"\xef\xbb\xbfa\n", b"a\n", "byte order mark is removed"),
    ],
)
def test_what_lines_alone_do_not_show_is_said(base: bytes, result: bytes, said: str) -> None:
    assert said in " ".join(between("x", base, result).notices)


def test_a_change_of_letters_needs_no_notice() -> None:
    assert between("x", b"a\r\nb\r\n", b"a\r\nc\r\n").notices == ()


def test_a_changed_ending_marks_both_lines() -> None:
    (hunk,) = between("x", b"a\r\n", b"a\n").hunks
    assert [(line.text, line.ending, line.ending_changed) for line in hunk.lines] == [
        ("a", "\r\n", True),
        ("a", "\n", True),
    ]


def test_a_change_of_mode_is_said() -> None:
    change = FileChange("x", "modify", b"a", b"a", 0o644, 0o755)
    assert file_diff(change).notices == ("The mode changes from 644 to 755.",)


def test_created_deleted_and_renamed_files_say_what_no_line_shows() -> None:
    assert file_diff(FileChange("x", "create", None, b"", None, 0o644)).notices == ("The new file is empty.",)
    assert file_diff(FileChange("x", "delete", b"", None, 0o644)).notices == ("The deleted file is empty.",)
    renamed = FileChange("y", "rename", b"a", b"a", 0o644, 0o644, "x")
    assert file_diff(renamed).notices == ("Renamed without a change of its contents.",)
    assert "has mode 755" in file_diff(FileChange("x", "create", None, b"a\n", None, 0o755)).notices[0]
    assert "CRLF" in file_diff(FileChange("x", "create", None, b"a\r\n", None, 0o644)).notices[0]


def test_a_deleted_file_is_shown_line_by_line_and_a_binary_one_by_its_size() -> None:
    deleted = file_diff(FileChange("x", "delete", b"a\nb\n", None, 0o644))
    assert (deleted.added, deleted.removed) == (0, 2)
    binary = file_diff(FileChange("x", "delete", b"a\0b", None, 0o644))
    assert binary.binary and binary.hunks == () and "3 bytes" in binary.notices[0]


def test_hidden_characters_of_added_lines_are_counted() -> None:
    assert between("x", "\u202e\n".encode(), "\u202e\na\u200b\u200b\r\n".encode()).hidden == 2


def test_a_diff_of_another_base_is_refused() -> None:
    diff = between("x", b"a\nb\n", b"a\nc\n")
    with pytest.raises(ValueError, match="line 2"):
        apply_diff(b"a\nx\n", diff)


def test_the_diff_of_two_versions_of_one_change_shows_what_moved_since() -> None:
    first = _modify(b"a\nb\nc\n", b"A\nb\nc\n")
    second = replace(first, result=b"A\nb\nC\n")
    diff = between("x", first.result, second.result)
    assert [line.raw for hunk in diff.hunks for line in hunk.lines if line.sign in "+-"] == [b"c\n", b"C\n"]
