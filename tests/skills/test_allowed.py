"""What allowed-tools locks, word by word."""

from __future__ import annotations

import time

import pytest

from steward.skills.allowed import EVERY, SKILL, Lock, parse_rules


def lock_of(value: str) -> Lock:
    """The lock of one skill with that allowed-tools field."""
    return Lock().with_skill("s", parse_rules(value)[0])


@pytest.mark.parametrize(
    ("value", "open_tools"),
    [
        ("Read", {"readFile"}),
        ("read", {"readFile"}),
        ("Grep", {"searchFiles"}),
        ("Glob", {"listFiles"}),
        ("LS", {"listFiles"}),
        ("Edit", {"proposePatch"}),
        ("MultiEdit", {"proposePatch"}),
        ("Write", {"proposePatch"}),
        ("Read,Grep", {"readFile", "searchFiles"}),
        ("Read, Bash(git log:*, git diff:*), Grep", {"readFile", "searchFiles"}),
        ("Bash(echo (a b))", set[str]()),
        ("Bash(never closed Read", set[str]()),
        ("listFiles searchFiles readFile proposePatch Skill", set(EVERY) - {SKILL}),
        ("Skill", set[str]()),
    ],
)
def test_a_lock_leaves_what_it_names(value: str, open_tools: set[str]) -> None:
    lock = lock_of(value)
    assert {tool for tool in EVERY if lock.allows(tool) is None} == open_tools | {SKILL}


@pytest.mark.parametrize(
    ("pattern", "path", "free"),
    [
        ("docs/**", "docs/a.md", True),
        ("docs/**", "docs/a/b/c.md", True),
        ("docs/**", "docs", True),
        ("docs/**", "docs2/a.md", False),
        ("docs/*", "docs/a/b.md", False),
        ("docs/*.md", "docs/a.md", True),
        ("docs/*.md", "docs/a.py", False),
        ("./docs/a.md", "docs/a.md", True),
        ("/docs/a.md", "docs/a.md", True),
        ("**/test_*.py", "test_a.py", True),
        ("**/test_*.py", "a/b/test_a.py", True),
        ("**/test_*.py", "a/b/a.py", False),
        ("src/**/x/*.py", "src/a/b/x/c.py", True),
        ("src/**/x/*.py", "src/x/c.py", True),
        ("**", "anything/at/all", True),
        ("*", "anything/at/all", True),
        ("DOCS/**", "docs/a.md", False),
    ],
)
def test_a_pattern_limits_a_tool_to_paths(pattern: str, path: str, free: bool) -> None:
    refusal = lock_of(f"Edit({pattern})").allows("proposePatch", path)
    assert (refusal is None) == free
    if refusal is not None:
        assert path in refusal and pattern.removeprefix("./") in refusal


def test_a_search_must_stay_whole_inside_a_pattern() -> None:
    lock = lock_of("Grep(src/**) Glob(src/*.py)")
    assert lock.allows("searchFiles", "src/a") is None
    assert lock.allows("searchFiles") is not None
    assert lock.allows("searchFiles", ".") is not None
    assert lock.allows("listFiles", "src") is not None


def test_every_path_of_a_call_must_be_allowed() -> None:
    lock = lock_of("Edit(docs/**)")
    assert lock.allows("proposePatch", "docs/a.md", "docs/b.md") is None
    assert lock.allows("proposePatch", "docs/a.md", "src/b.py") is not None
    assert lock.allows("proposePatch") is not None


def test_skills_can_only_narrow_each_other() -> None:
    lock = Lock().with_skill("a", parse_rules("Read Grep")[0])
    wider = lock.with_skill("b", parse_rules("Read Grep Glob Edit")[0]).with_skill("c", None)
    assert {tool for tool in EVERY if wider.allows(tool) is None} == {"readFile", "searchFiles", SKILL}
    assert "'a'" in (wider.allows("proposePatch") or "")
    assert lock.with_skill("a", parse_rules("Edit")[0]) == lock


def test_an_open_lock_is_false_and_says_nothing() -> None:
    assert not Lock() and Lock().sentence() == ""
    assert Lock().allows("proposePatch") is None


def test_a_pattern_made_of_stars_is_matched_in_no_time() -> None:
    lock = lock_of("Edit(" + "**/*a*/" * 40 + "x)")
    started = time.process_time()
    assert lock.allows("proposePatch", "/".join(["aaaaaaaa"] * 200)) is not None
    assert time.process_time() - started < 5
