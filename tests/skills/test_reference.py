"""Generated SKILL.md files: our verdict on what is valid is the reference validator's."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from steward.skills.check import check
from tests.skills.test_cases import reference_says, skills_ref_errors

_PIECES = [
    "name: ", "name:", "description: ", "license: ", "allowed-tools: ", "metadata:", "compatibility: ", "version: ",
    "x", "X", "é", "a-b", "--", "---", "-", " ", "  ", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", ": ", ":", " #c", "#",
    "'", '"', "''", '\\"', "[", "]", "{", "}", ", ", "&a ", "*a", "!t ", "|", ">", ">-", "|2", "? ", "@", "`", "%",
    "on", "~", "123", "1.0", "null", "\t", "a: b", "k: v", "...", "<<: ", "Use when", "’", "\u00a0", "\r\n",
]  # fmt: skip
_words = st.lists(st.sampled_from(_PIECES), max_size=8).map("".join)
_line = st.tuples(
    st.sampled_from(
        ["name", "description", "license", "compatibility", "allowed-tools", "metadata", "version", "x y"]
    ),
    st.sampled_from([": ", ":\n  ", ": |\n  ", ": >-\n  ", ":\n  - ", ":\n  k: "]),
    _words,
).map("".join)
_block = st.one_of(
    st.lists(_line, max_size=4).map("\n".join),
    st.tuples(st.just("name: x\ndescription: A"), st.lists(_line, max_size=2)).map(
        lambda t: "\n".join([t[0], *t[1]])
    ),
    st.lists(st.sampled_from(_PIECES), max_size=12).map("".join),
)
_file = st.one_of(
    st.tuples(
        st.just("---\n"),
        _block,
        st.sampled_from(["\n---\n", "\n---\nBody\n", "\n--- \nBody", "\n", "\n...\n"]),
    ),
    st.tuples(
        st.sampled_from(["", "\n", "--- \n", "----\n", "---x\n", "\ufeff---\n"]),
        _block,
        st.just("\n---\nB\n"),
    ),
).map("".join)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(_file)
def test_what_is_valid_is_what_the_reference_validator_says(text: str) -> None:
    # PyYAML and the validator's parser differ on keys that are empty.
    assume("- :" not in text)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory) / "x"
        folder.mkdir()
        (folder / "SKILL.md").write_bytes(text.encode())
        (skill,) = check(folder).skills
        dashes = any("---" in line and line.rstrip() != "---" for line in text[3:].split("\n"))
        if dashes and not skill.valid and reference_says(folder):
            return  # it stops reading at the first three dashes, and so misses the faults behind them
        assert skill.valid == reference_says(folder), (text, skill.diagnostics, skills_ref_errors(folder))
