"""What a refused edit says of the text that was nearly meant."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given, settings

from steward.proposals.near_miss import not_found
from steward.visible import hidden
from tests.proposals.hostile import texts


def test_only_the_differences_that_matter_are_named() -> None:
    text = "\tif “a”:\r\n\n\n\n\n\n\nCafe\u0301\u00a0is \u200b shut  \n"
    said = not_found(text.encode(), '    if "a":')
    assert "tab" in said and "quotes" in said
    assert "NFC" not in said and "case" not in said and "number" not in said and "NBSP" not in said


def test_a_list_of_numbers_in_the_file_is_no_copied_prefix() -> None:
    said = not_found(b"1: one\n2: two\n", "1:  one\n2: two")
    assert "line number" not in said and "spaces" in said


def test_trailing_spaces_are_seen() -> None:
    assert "1: a = 1··" in not_found(b"a = 1  \nb\n", "a = 1\nb")


def test_the_whole_window_of_the_nearest_text_is_chosen_not_one_line_of_it() -> None:
    text = (
        "def a():\n    x = load()\n    return x\n\ndef b():\n    x = load()\n    y = save(x)\n    return y\n"
    )
    said = not_found(text.encode(), "def b():\n    x = load()\n    y = safe(x)\n    return y\n")
    assert "at line 5" in said and "differ at line 7" in said


def test_what_is_already_there_is_said_with_its_line() -> None:
    assert "already there (line 2)" in not_found(b"a\nb = 3\n", "b = 2", "b = 3")


def test_a_new_text_of_a_brace_is_not_taken_for_already_applied() -> None:
    assert "already" not in not_found(b"a {\n}\n", "b", "}")


def test_long_lines_and_long_windows_are_cut_in_the_answer() -> None:
    body = "\n".join(f"value_{i} = {'x' * 5000}" for i in range(100))
    assert len(not_found(body.encode(), body.replace("value_50 ", "value_5O "))) < 4000


@settings(max_examples=200)
@given(texts(), texts())
def test_any_texts_give_a_sentence_without_hidden_characters(text: str, old: str) -> None:
    said = not_found(text.encode(), old, "new")
    assert said.startswith("oldText was not found")
    assert not hidden(said)


def test_runs_of_blanks_and_of_newlines_do_not_make_it_hang() -> None:
    blanks = "a" + " " * 300_000 + "b\n"
    for old in ("a b c", "a" + " " * 200_000 + "c", "\n" * 5000 + "...x", "." * 5000 + " " * 5000):
        assert not_found(blanks.encode(), old)
        assert not_found(("x" + "\n" * 300_000 + "y").encode(), old)


def test_the_matcher_is_imported_only_by_a_refusal() -> None:
    code = "import sys, steward.proposals; sys.exit('rapidfuzz' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
