"""Ignore files mean what git says they mean."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.workspace import RepoPath, Workspace
from steward.workspace.ignore import parse
from steward.workspace.wildmatch import NeverMatches, translate

NAMES = [
    "a",
    "b",
    "ab",
    "abc",
    "a.b",
    "#a",
    "!b",
    "a b",
    "[a]",
    "é",
    "-",
    "a\\b",
    "b ",
    "B",
    "build",
    ".a",
    "a\t",
]
PIECES = [
    "a",
    "b",
    "ab",
    ".b",
    "*",
    "**",
    "?",
    "/",
    "/**/",
    "**/",
    "/**",
    "[a-c]",
    "[!a]",
    "[^b]",
    "[]a]",
    "[a",
    "[[:alpha:]]",
    "[[:upper:]-]",
    "[a-]",
    "[\\]]",
    "\\",
    "\\a",
    "\\ ",
    " ",
    "!",
    "#",
    "é",
    "\t",
    "build",
]
patterns = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
ignore_files = st.lists(
    st.one_of(patterns, patterns.map(lambda p: "!" + p), patterns.map(lambda p: p + "/")), max_size=6
).map("\n".join)
trees = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=1, max_size=14)


def make_tree(root: Path, paths: list[list[str]]) -> list[str]:
    """Make a file at each path, or a directory where others need one; all paths made, in order."""
    for parts in paths:
        target = root.joinpath(*parts)
        if target.exists() or any(p.is_file() for p in target.parents):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x")
    return sorted(
        p.relative_to(root).as_posix() for p in root.rglob("*") if ".git" not in p.relative_to(root).parts
    )


def git_ignores(root: Path, paths: list[str]) -> set[str]:
    """The paths that git, asked itself, ignores."""
    if not paths:
        return set()
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=root,
        input="\0".join(paths).encode(),
        capture_output=True,
        env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(root), "GIT_CONFIG_GLOBAL": "/dev/null"},
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return {name for name in done.stdout.decode().split("\0") if name}


def ours(root: Path) -> tuple[set[str], int]:
    with Workspace.open(root) as workspace:
        walk = workspace.walk(secrets=True)
        return {path.text for path, _ in walk}, walk.left_out.ignored


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=trees,
    top=ignore_files,
    nested=ignore_files,
    exclude=ignore_files,
    where=st.sampled_from(["a", "b", "ab"]),
)
def test_a_walk_gives_exactly_what_git_does_not_ignore(
    tree: list[list[str]], top: str, nested: str, exclude: str, where: str
) -> None:
    with tempfile.TemporaryDirectory() as room:
        root = Path(room)
        subprocess.run(["git", "init", "-q", "--template=", room], check=True)
        (root / ".git" / "info").mkdir()
        (root / ".git" / "info" / "exclude").write_text(exclude)
        (root / ".gitignore").write_text(top)
        (root / where).mkdir()
        (root / where / ".gitignore").write_text(nested)
        paths = make_tree(root, tree)
        ignored = git_ignores(root, paths)
        given_out, _ = ours(root)
        assert given_out == set(paths) - ignored
        with Workspace.open(root) as workspace:
            for path in paths:
                assert workspace.ignored(RepoPath.parse(path)) == (path in ignored), path


CASES = [
    # pattern, path, whether git ignores the path (a trailing slash makes a directory)
    ("foo", "foo", True),
    ("foo/", "foo", False),
    ("foo/", "foo/", True),
    ("/foo", "x/foo", False),
    ("x/foo", "x/foo", True),
    ("x/foo", "y/x/foo", False),
    ("**/foo", "y/x/foo", True),
    ("foo/**", "foo/a/b", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("foo**/bar", "foo/x/bar", True),
    ("*.log", "x/y.log", True),
    ("\\#a", "#a", True),
    ("#a", "#a", False),
    ("\\!a", "!a", True),
    ("a\\ ", "a ", True),
    ("a ", "a", True),
    ("a\t", "a", False),
    ("a\t", "a\t", True),
    ("[[:digit:]]x", "5x", True),
    ("[[:wrong:]]", "5", False),
    ("[a-", "[a-", False),
    ("[]-]", "-", True),
    ("a[/]b", "a/b", False),
    ("?", "é", False),
    ("??", "é", True),
    ("a\\", "a\\", False),
    ("a\\\\b", "a\\b", True),
    ("\ufefffoo", "foo", True),
    ("foo\r", "foo", True),
    ("***/b", "a/b", True),
    ("a*/b", "a/b", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), CASES)
def test_a_single_pattern_means_what_it_means_to_git(
    tmp_path: Path, pattern: str, path: str, expected: bool
) -> None:
    subprocess.run(["git", "init", "-q", "--template=", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_bytes(pattern.encode() + b"\n")
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.endswith("/"):
        target.mkdir()
    else:
        target.write_text("x")
    name = path.rstrip("/")
    assert (name in git_ignores(tmp_path, [name])) == expected
    assert (name not in ours(tmp_path)[0]) == expected


def test_the_nearest_rule_with_an_opinion_wins_and_stewardignore_has_the_last_word(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n*.tmp\n")
    (tmp_path / ".stewardignore").write_text("!b.log\nsecret-plans\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".gitignore").write_text("!keep.tmp\n")
    for name in ("a.log", "b.log", "secret-plans", "sub/keep.tmp", "sub/lose.tmp"):
        (tmp_path / name).write_text("x")
    seen, count = ours(tmp_path)
    assert seen == {".gitignore", ".stewardignore", "b.log", "sub", "sub/.gitignore", "sub/keep.tmp"}
    assert count == 3


def test_a_directory_that_is_ignored_itself_is_walked_when_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "out.txt").write_text("x")
    with Workspace.open(tmp_path) as workspace:
        walk = workspace.walk(RepoPath.parse("build"))
        assert [path.text for path, _ in walk] == ["build/out.txt"]
        assert walk.asked_for_ignored
        assert workspace.read(RepoPath.parse("build/out.txt")).data == b"x"


def test_ignore_files_that_are_links_or_too_large_are_not_applied_and_counted(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text("*\n")
    (tmp_path / ".gitignore").symlink_to("rules")
    (tmp_path / ".stewardignore").write_bytes(b"*\n" + b"#" * 300_000)
    with Workspace.open(tmp_path) as workspace:
        walk = workspace.walk()
        assert {path.text for path, _ in walk} == {".gitignore", ".stewardignore", "rules"}
        assert walk.left_out.not_applied == 2


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 40 + "b",
        "**/*a*a*a*a*a*a*a*a" * 8 + "/b",
        "**/a" * 60 + "/b",
        "*?" * 60 + "b",
        "a**/" * 40 + "**b",
    ],
)
@pytest.mark.timeout(60)
def test_no_pattern_makes_matching_run_away(pattern: str) -> None:
    import re

    compiled = re.compile(translate(pattern))
    for text in ("a" * 255, "a/" * 2000 + "a", ("a" * 250 + "/") * 15 + "a"):
        assert compiled.fullmatch(text) is None


@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "/", "?"]), max_size=9).map("".join),
    st.text("ab/", max_size=9),
)
def test_matching_once_between_stars_changes_nothing(pattern: str, text: str) -> None:
    """The committed matching agrees with plain backtracking over the same pattern."""
    import re

    try:
        source = translate(pattern)
    except NeverMatches:
        return
    plain = source.replace("(?>", "(?:")
    assert bool(re.fullmatch(source, text)) == bool(re.fullmatch(plain, text))


@pytest.mark.timeout(60)
def test_a_large_ignore_file_is_read_in_time() -> None:
    rules = parse(b"\n".join(b"name-%d" % number for number in range(20_000)))
    assert rules.verdict("name-19999", "name-19999", False) == "git"
    assert rules.verdict("other", "other", False) is None
