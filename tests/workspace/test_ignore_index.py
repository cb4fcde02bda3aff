"""Many names asked at once get the answer that each rule by itself, in its order, gives for each name."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from steward.workspace.ignore import FEW_ENDINGS, Rules, Verdict, parse
from steward.workspace.wildmatch import lowered

NAMES = ["a", "b", "A", "a.b", "a.b.a", "a.B", "x.a.b", "xab", ".a", "a~", "a.", "aa", "b-a", "#a#", "a.bb"]
PATTERNS = [
    *("a", "b", "a.b", "*.b", "*.B", "*.a", "*.a.*", "*.b.a", "*~", "*.", ".*", "a*", "*a", "*a*", "?", "??"),
    *(
        "[ab]",
        "*.[ab]",
        "a.*",
        "\\#*#",
        "b-*",
        "*.bb",
        "*.b\\b",
        "x/a",
        "x/*.b",
        "/a",
        "/*.a",
        "**/a.b",
        "x/**",
    ),
]


def line(negated: bool, pattern: str, below: bool) -> str:
    """A line of an ignore file."""
    return "!" * negated + pattern + "/" * below


LINES = st.builds(line, st.booleans(), st.sampled_from(PATTERNS), st.booleans())


def one_by_one(rules: Rules, name: str, above: str, directory: bool, fold: bool) -> Verdict | None:
    """What the last rule that matches says, every rule tried."""
    said: Verdict | None = None
    for rule in rules.rules:
        if rule.directories_only and not directory:
            continue
        asked = name if rule.by_name else above + name
        if re.fullmatch(rule.source, lowered(asked) if fold else asked, re.DOTALL):
            said = "kept" if rule.negated else "git"
    return said


@given(
    st.lists(LINES, min_size=1, max_size=6),
    st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
    st.sets(st.sampled_from(NAMES)),
    st.sampled_from(["", "x/"]),
    st.booleans(),
    st.booleans(),
)
@example(["a", "a/"], ["a"], set(), "", False, False)
@example(["*.b", "*.b/"], ["a.b"], set(), "", False, False)
@example(["*.b", "*.a"], ["a.b", "a.b.a"], set(), "", False, True)
@example(["x/a", "x/a/"], ["a"], set(), "x/", False, False)
def test_asking_for_many_names_is_asking_for_each(
    lines: list[str], names: list[str], directories: set[str], above: str, fold: bool, crowded: bool
) -> None:
    endings = [f"*.z{number}" for number in range(FEW_ENDINGS)] if crowded else []
    rules = parse("\n".join((*endings, *lines)).encode(), fold=fold)
    # The text may hold names that are not asked for.
    joined = f"/{'/'.join({*names, *directories})}/"
    expected = {name: one_by_one(rules, name, above, name in directories, fold) for name in names}
    found = rules.verdicts(names, directories, joined, above)
    assert found == {name: said for name, said in expected.items() if said is not None}
    for name in names:
        assert rules.verdict(name, above + name, name in directories) == expected[name]
