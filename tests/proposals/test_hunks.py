"""Taking parts of a change."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from steward.proposals.diff import file_diff
from steward.proposals.edit import replace as edited
from steward.proposals.hunks import Choice, choose, choose_files, edits_between, with_result
from steward.proposals.lines import split
from steward.proposals.proposal import Edit, FileChange, Governing, Proposal
from tests.proposals.hostile import any_bytes, utf8, versions
from tests.proposals.reading import apply_diff

_TEN = b"".join(b"line %d\n" % n for n in range(30))


def _modify(base: bytes, result: bytes) -> FileChange:
    return FileChange("x", "modify", base, result, 0o644, 0o644, None, (Edit("a", "b"),))


@settings(max_examples=500)
@given(versions(any_bytes()), st.sampled_from([0, 1, 3]))
def test_all_hunks_give_the_change_and_none_gives_the_base(states: tuple[bytes, bytes], context: int) -> None:
    change = _modify(*states)
    diff = file_diff(change, context)
    assert choose(change, Choice(range(len(diff.hunks)), context=context)).result == change.result
    assert choose(change, Choice(context=context)).result == change.base
    lines = {h: range(len(hunk.lines)) for h, hunk in enumerate(diff.hunks)}
    assert choose(change, Choice((), lines, context)) == change
    nothing = dict.fromkeys(lines, ())
    assert choose(change, Choice((), nothing, context)).result == change.base


@settings(max_examples=500)
@given(versions(any_bytes()), st.data())
def test_chosen_hunks_make_the_result_that_the_other_hunks_are_missing_from(
    states: tuple[bytes, bytes], data: st.DataObject
) -> None:
    change = _modify(*states)
    diff = file_diff(change, 0)
    keep = data.draw(st.sets(st.integers(0, max(0, len(diff.hunks) - 1))))
    part = choose(change, Choice(keep, context=0)).result
    wanted = tuple(hunk for h, hunk in enumerate(diff.hunks) if h in keep)
    straight = apply_diff(change.base or b"", type(diff)(change, wanted, 0, 0))
    # They differ only where a last line without newline came to stand before others.
    if part != straight:
        missing = [
            line
            for line in split(change.base or b"") + split(change.result or b"")
            if not line.endswith(b"\n")
        ]
        assert missing
        assert (part or b"").replace(b"\r", b"").replace(b"\n", b"") == straight.replace(b"\r", b"").replace(
            b"\n", b""
        )


@settings(max_examples=500)
@given(versions(utf8), st.data())
def test_chosen_lines_keep_every_line_that_was_not_chosen_away(
    states: tuple[bytes, bytes], data: st.DataObject
) -> None:
    change = _modify(*states)
    diff = file_diff(change)
    lines: dict[int, list[int]] = {}
    for h, hunk in enumerate(diff.hunks):
        lines[h] = [i for i in range(len(hunk.lines)) if data.draw(st.booleans())]
    part = choose(change, Choice((), lines)).result or b""
    expected = len(split(change.base or b""))
    for h, hunk in enumerate(diff.hunks):
        for i, line in enumerate(hunk.lines):
            if i in lines[h]:
                expected += {"+": 1, "-": -1}.get(line.sign, 0)
    assert len(split(part)) == expected


def test_a_line_without_newline_that_others_follow_gets_one_in_the_files_style() -> None:
    change = _modify(b"x\r\na", b"x\r\na\r\nb\r\n")
    diff = file_diff(change)
    added = [i for i, line in enumerate(diff.hunks[0].lines) if line.raw == b"b\r\n"]
    assert choose(change, Choice((), {0: added})).result == b"x\r\na\r\nb\r\n"


def test_what_is_left_out_gives_another_stamp_and_edits_that_lead_to_the_result() -> None:
    change = _modify(_TEN, _TEN.replace(b"line 3\n", b"three\n").replace(b"line 20\n", b"twenty\n"))
    part = choose(change, Choice([1]))
    assert part.result == _TEN.replace(b"line 20\n", b"twenty\n")
    whole = Proposal("change-001", "t", "", (change,), "w")
    assert choose_files(whole, {"x": Choice([1])}).stamp != whole.stamp
    assert choose_files(whole, {"x": Choice([0, 1])}).stamp == whole.stamp
    data = change.base
    for one in part.edits:
        data = edited(data, one.old, one.new)
    assert data == part.result


@settings(max_examples=300)
@given(versions(utf8))
def test_edits_between_two_states_lead_from_one_to_the_other(states: tuple[bytes, bytes]) -> None:
    data = states[0]
    for one in edits_between(*states):
        at = data.find(one.old.encode())
        assert at >= 0 and data.find(one.old.encode(), at + 1) < 0
        data = data[:at] + one.new.encode() + data[at + len(one.old.encode()) :]
    assert data == states[1] or not states[0]


def test_edits_of_lines_that_repeat_take_more_lines_around_them() -> None:
    base = b"x\n" * 20 + b"y\n" + b"x\n" * 20
    for result in (b"X\n" + base[2:], base[:-2] + b"X\n", b"X\n" + base[2:-2] + b"X\n"):
        data = base
        for one in edits_between(base, result):
            data = edited(data, one.old, one.new)
        assert data == result


def test_a_part_of_a_new_file_is_a_new_file_and_none_of_it_is_none() -> None:
    change = FileChange("x", "create", None, b"a\nb\nc\n", None, 0o644)
    assert choose(change, Choice((), {0: [0, 2]})).result == b"a\nc\n"
    assert choose(change, Choice()).result is None
    assert choose_files(Proposal("change-001", "t", "", (change,), "w"), {"x": Choice()}).files == ()


def test_a_part_of_a_deletion_is_a_modification() -> None:
    change = FileChange("x", "delete", b"a\nb\nc\n", None, 0o755)
    part = choose(change, Choice((), {0: [1]}))
    assert (part.action, part.result, part.result_mode) == ("modify", b"a\nc\n", 0o755)
    assert choose(change, Choice([0])) == change
    assert choose(change, Choice()).result == change.base


def test_a_rename_stays_when_its_hunks_are_left_out() -> None:
    change = FileChange("y", "rename", b"a\n", b"b\n", 0o644, 0o644, "x")
    part = choose(change, Choice())
    assert (part.action, part.path, part.old_path, part.result) == ("rename", "y", "x", b"a\n")


def test_a_binary_deletion_is_taken_whole_or_not() -> None:
    change = FileChange("x", "delete", b"\0", None, 0o644)
    assert choose(change, Choice([0])) == change
    assert choose(change, Choice()).result == b"\0"


def test_a_file_left_out_takes_its_instructions_with_it() -> None:
    one, two = FileChange("a/x", "create", None, b"1"), FileChange("b/y", "create", None, b"2")
    documents = (Governing("a/x", "a/AGENTS.md", "0" * 64), Governing("b/y", "b/AGENTS.md", "0" * 64))
    proposal = Proposal("change-001", "t", "", (one, two), "w", instructions=documents)
    part = choose_files(proposal, {"a/x": None})
    assert part.files == (two,) and part.instructions == documents[1:]


def test_a_persons_own_edit_is_a_result_like_any_other() -> None:
    change = _modify(_TEN, _TEN.replace(b"line 3\n", b"three\n"))
    own = with_result(change, _TEN.replace(b"line 3\n", b"drei\n"))
    assert own.edits and own.edits != change.edits and own.action == "modify"
    gone = with_result(change, None)
    assert (gone.action, gone.result_mode, gone.edits) == ("delete", None, ())
