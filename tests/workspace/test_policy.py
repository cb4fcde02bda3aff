"""What is out of bounds by its name, and what only looks like it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.workspace import Policy, RepoPath, Workspace, find_root
from steward.workspace import policy as policies
from steward.workspace.policy import SECRET_GLOBS, all_plain, area_of, looks_secret


@pytest.mark.parametrize(
    "name",
    [
        ".github",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".gitkeep",
        "git",
        "git~",
        "git~x",
        "digit",
        "..git",
        ".git2",
        "xgit~1",
        ".steward",
        "env",
        "environment.py",
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.local.example",
        ".ENV.EXAMPLE",
        "env.py",
        "prod.env.md",
        "id_generator.py",
        "id_rsa.pub",
        "id_ed25519.pub",
        "id_map.ts",
        "keyboard.py",
        "key",
        "monkey",
        "hotkeys.json",
        "netrc.py",
        "npmrc",
        "tfstate.go",
        "main.tf",
        "main.tfstate.md",
        "pem.py",
        "certificate.crt",
    ],
)
def test_ordinary_names_are_open(name: str) -> None:
    assert area_of(name) is None


@pytest.mark.parametrize(
    ("name", "area"),
    [
        (".git", "protected"),
        ("GIT~1", "protected"),
        (".Git. .", "protected"),
        (".env", "secret"),
        (".env.test", "secret"),
        (".envrc", "secret"),
        ("id_rsa", "secret"),
        ("id_rsa.bak", "secret"),
        ("id_ecdsa_sk", "secret"),
        ("a.pem", "secret"),
        ("A.KEY", "secret"),
        ("x.p12", "secret"),
        ("x.pfx", "secret"),
        (".git-credentials", "secret"),
        ("prod.tfstate", "secret"),
        ("prod.tfstate.backup", "secret"),
        ("prod.tfstate.1700000000.backup", "secret"),
    ],
)
def test_a_name_of_git_or_of_a_secret_is_out_of_bounds(name: str, area: str) -> None:
    assert area_of(name) == area


def test_the_state_directory_is_protected_only_when_it_lies_inside(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    for state, expected in (
        (root / ".steward" / "state", "protected"),
        (tmp_path / "elsewhere", None),
        (root, None),
        (None, None),
    ):
        with Workspace.open(root, Policy(state_dir=state)) as workspace:
            assert workspace.area(RepoPath.parse(".steward/state/steward.db")) == expected
            assert workspace.area(RepoPath.parse(".steward/config.toml")) is None
            assert workspace.area(RepoPath.parse(".steward/state-notes.md")) is None


def test_a_state_directory_reached_through_a_link_is_protected_where_it_really_is(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / "real").mkdir(parents=True)
    (tmp_path / "state").symlink_to(root / "real")
    with Workspace.open(root, Policy(state_dir=tmp_path / "state")) as workspace:
        assert workspace.area(RepoPath.parse("real/steward.db")) == "protected"


def test_the_root_of_a_path_is_the_nearest_real_repository(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    (inner / "src").mkdir(parents=True)
    (inner / "src" / "a.py").write_text("x")
    assert find_root(inner / "src") == inner / "src"
    (outer / ".git").mkdir()
    (outer / ".git" / "HEAD").write_text("ref: refs/heads/main")
    assert find_root(inner / "src") == outer
    (inner / ".git").mkdir()
    assert find_root(inner / "src") == outer  # an empty .git is none
    (inner / ".git").rmdir()
    (inner / ".git").write_text("nonsense")
    assert find_root(inner / "src") == outer
    (inner / ".git").write_text("gitdir: ../outer/.git/worktrees/inner\n")
    assert find_root(inner / "src" / "a.py") == inner


def test_a_workspace_is_named_and_identified_by_where_and_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "alias").symlink_to("one")
    with (
        Workspace.open(tmp_path / "one") as one,
        Workspace.open(tmp_path / "alias") as alias,
        Workspace.open(tmp_path / "two") as two,
    ):
        assert one.identity == alias.identity != two.identity
        assert len(one.identity) == 16
        assert alias.name == "one"
        assert alias.root == tmp_path / "one"


def test_files_for_completion_are_those_that_are_not_ignored(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "x.log", ".env"):
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("*.log")
    with Workspace.open(tmp_path) as workspace:
        assert workspace.files() == [".gitignore", "a.py", "b.py"]
        assert workspace.files(2) == [".gitignore", "a.py"]


def test_a_walk_gives_nothing_that_a_read_would_refuse_by_its_name(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    names = [
        "a",
        "b/c",
        "vendor/x",
        "é/secret",
        "deep/vendor",
        "deep/more/.env",
        "state/db",
        "STATE2/db",
        "deep/state/db",
        "plain/vendor/x",
        "plain/state/y",
        "plain/z.log",
    ]
    names += [
        "deep/.GIT/config",
        "x.pem",
        "keep.log",
        "z.log",
        "id_rsa",
        "hid_rsa",
        "a.key.txt",
        "\u017ftate/x",
        ".env.example",
    ]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    for policy in (
        Policy(),
        Policy(state_dir=root / "plain/state"),
        Policy(denied=("vendor/", "/é", "*.log", "!keep.log"), secrets_allowed=True),
        Policy(denied=("b",), state_dir=root / "state"),
    ):
        with Workspace.open(root, policy) as workspace:
            walk = workspace.walk()
            found = {path.text for path, kind in walk if kind == "file"}
            assert found == {name for name in names if workspace.area(RepoPath.parse(name)) is None}
            assert walk.left_out.protected > 0


PATTERNS: list[re.Pattern[str]] = [vars(policies)[name] for name in ("_SECRET", "_GIT")]
NAMES_OF_SECRETS = st.sampled_from(PATTERNS).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True))


@given(
    name=NAMES_OF_SECRETS,
    tail=st.sampled_from(["", ".", " ", ". .", ":stream", "\\x", ":$DATA"]),
    upper=st.booleans(),
)
def test_the_quick_test_of_many_names_overlooks_none(name: str, tail: str, upper: bool) -> None:
    name = (name.upper() if upper else name) + tail
    if name.isascii() and "/" not in name and area_of(name) is not None:
        assert not all_plain(f"/a/{name}/b/")


@pytest.mark.parametrize("glob", SECRET_GLOBS)
def test_what_ripgrep_is_told_to_leave_out_looks_secret(glob: str) -> None:
    for middle in ("", "x", ".y.z"):
        assert looks_secret(glob.replace("*", middle))
