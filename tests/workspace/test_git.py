"""What git tracks and what the user's own git configuration ignores is read from git's files as git reads them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.workspace import Policy, RepoPath, Workspace
from steward.workspace.engine import choose
from steward.workspace.git import Git, index_names
from tests.workspace.test_ignore import ignore_files, make_tree, trees


class Repository:
    """A repository in ``room/ws`` of a user whose home is ``room/home``."""

    def __init__(self, room: Path, *options: str) -> None:
        self.root = room / "ws"
        self.home = room / "home"
        self.home.mkdir()
        self.environment = {"HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "-q", *options, str(self.root), where=room)

    def git(self, *arguments: str, where: Path | None = None) -> str:
        environment = {**self.environment, "PATH": os.environ["PATH"]}
        names = ("AUTHOR", "COMMITTER")
        environment |= {f"GIT_{name}_{what}": "x@y" for name in names for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *arguments], cwd=where or self.root, env=environment, check=True, capture_output=True
        )
        return os.fsdecode(done.stdout)

    def write(self, files: dict[str, str], *, below: Path | None = None) -> None:
        for name, text in files.items():
            target = (below or self.root) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def ours(self, root: Path | None = None) -> list[str]:
        """The files that a walk gives, without ignore files."""
        policy = Policy(git_environment=self.environment)
        with Workspace.open(root or self.root, policy) as workspace:
            walk = workspace.walk(secrets=True)
            return [p.text for p, kind in walk if kind == "file" and p.name != ".gitignore"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=trees,
    top=ignore_files,
    nested=ignore_files,
    where=st.sampled_from(["a", "b", "ab"]),
    excludes=ignore_files,
    named=st.booleans(),
    data=st.data(),
)
def test_a_walk_gives_what_git_tracks_or_does_not_ignore(
    tree: list[list[str]],
    top: str,
    nested: str,
    where: str,
    excludes: str,
    named: bool,
    data: st.DataObject,
) -> None:
    with tempfile.TemporaryDirectory() as room:
        repository = Repository(Path(room))
        root = repository.root
        if named:
            repository.write(
                {".gitconfig": '[core]\n\texcludesFile = "~/my rules"\n', "my rules": excludes},
                below=repository.home,
            )
        else:
            repository.write({".config/git/ignore": excludes}, below=repository.home)
        repository.write({".gitignore": top, f"{where}/.gitignore": nested})
        files = [path for path in make_tree(root, tree) if (root / path).is_file()]
        chosen = data.draw(st.lists(st.sampled_from(files), unique=True))
        if chosen:
            repository.git("add", "-f", "--", *(f":(literal){path}" for path in chosen))
        listed = repository.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        expected = {path for path in listed.split("\0") if path}
        policy = Policy(git_environment=repository.environment)
        with Workspace.open(root, policy) as workspace:
            assert {path.text for path, kind in workspace.walk(secrets=True) if kind == "file"} == expected
            for path in files:
                assert workspace.ignored(RepoPath.parse(path)) == (path not in expected), path


FILES = {"a/b.log": "x", "a/c": "x", "build/keep": "x", "build/lose": "x", "é/ü.log": "x", "z": "x"}


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("digest", ["sha1", "sha256"])
def test_every_version_of_the_index_is_read(tmp_path: Path, version: str, digest: str) -> None:
    repository = Repository(tmp_path, "--object-format", digest)
    deep = "/".join(["d" * 50] * 20)
    repository.write({**FILES, f"{deep}/{'n' * 200}": "x", "later": "x"})
    repository.git("add", "-f", ".")
    if version == "3":
        repository.git("reset", "-q", "later")
        repository.git("add", "-N", "later")
    repository.git("update-index", "--index-version", version)
    index = (repository.root / ".git/index").read_bytes()
    assert int.from_bytes(index[4:8], "big") == int(version)
    names = [os.fsencode(name) for name in repository.git("ls-files", "-z").split("\0")[:-1]]
    assert index_names(index, 32 if digest == "sha256" else 20) == sorted(names)
    repository.write({".gitignore": "*.log\n/build/\n" + "d" * 50, "build/new": "x", "new.log": "x"})
    assert set(repository.ours()) == {*FILES, f"{deep}/{'n' * 200}", "later"}


def test_an_index_that_is_cut_or_changed_anywhere_does_no_harm(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write(FILES)
    repository.git("add", ".")
    for version in ("2", "4"):
        repository.git("update-index", "--index-version", version)
        index = (repository.root / ".git/index").read_bytes()
        for at in range(len(index)):
            index_names(index[:at])
            index_names(index[:at] + b"\xff" + index[at + 1 :])


def test_an_index_in_two_files_is_not_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({**FILES, ".gitignore": "*.log\n"})
    repository.git("add", "-f", ".")
    repository.git("update-index", "--split-index")
    repository.write({"more.log": "x"})
    repository.git("add", "-f", "more.log")
    assert not {"a/b.log", "more.log"} & set(repository.ours())


def test_a_changed_index_is_read_again(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({**FILES, ".gitignore": "*.log\n"})
    with Workspace.open(repository.root) as workspace:
        assert "a/b.log" not in workspace.files()
        repository.git("add", "-f", "a/b.log")
        assert "a/b.log" in workspace.files()
        repository.git("rm", "-q", "--cached", "a/b.log")
        assert "a/b.log" not in workspace.files()


def test_what_stewardignore_names_is_left_out_though_it_is_tracked(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({**FILES, ".gitignore": "build/\n", ".stewardignore": "a\n"})
    repository.write({"build/.stewardignore": "lose\n"})
    repository.git("add", "-f", "a", "build", "z")
    assert repository.ours() == [".stewardignore", "build/.stewardignore", "build/keep", "z", "é/ü.log"]


def test_the_word_of_a_stewardignore_further_up_holds_for_what_is_tracked(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({**FILES, ".stewardignore": "b.log\n", "a/.gitignore": "*.log\n", "a/d.log": "x"})
    repository.git("add", "-f", "a")
    assert repository.ours() == [".stewardignore", "a/c", "a/d.log", *sorted(FILES)[2:]]


def test_of_an_ignored_directory_only_what_is_tracked_is_given_and_the_rest_counted(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({**FILES, ".gitignore": "build/\n", "build/deep/x": "x", "build/other/y": "x"})
    repository.git("add", "-f", "build/keep", "build/deep/x")
    with Workspace.open(repository.root) as workspace:
        walk = workspace.walk(RepoPath.parse("."))
        found = {path: noted for path, _, noted in walk.entries()}
        assert {path for path in found if path.startswith("build")} == {
            "build",
            "build/deep",
            "build/deep/x",
            "build/keep",
        }
        assert all(noted for path, noted in found.items() if path.startswith("build"))
        assert walk.left_out.ignored == 2
        assert workspace.ignored(RepoPath.parse("build/lose"))
        assert not workspace.ignored(RepoPath.parse("build/deep/x"))


def test_a_worktree_finds_its_index_and_the_excludes_that_it_shares(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({"a.log": "x", "b": "x"})
    repository.git("add", ".")
    repository.git("commit", "-q", "-m", "x")
    repository.git("worktree", "add", "-q", "../other")
    repository.write({"info/exclude": "*.log\n"}, below=repository.root / ".git")
    repository.write({"c.log": "x"}, below=tmp_path / "other")
    assert repository.ours(tmp_path / "other") == ["a.log", "b"]


def test_a_git_file_that_leads_to_no_repository_leads_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "elsewhere/info").mkdir(parents=True)
    (tmp_path / "elsewhere/info/exclude").write_text("*\n")
    (root / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
    (root / "a").write_text("x")
    with Workspace.open(root) as workspace:
        assert workspace.files() == ["a"]


CONFIGURATIONS = [
    "[core]\nexcludesFile = ~/one\n",
    "[core]\n\texcludesfile=~/one # comment\n",
    '[CORE] EXCLUDESFILE = "~/with space" ; comment\n',
    "[core]\nexcludesFile = ~/with\\\n space\n",
    '[core]\nexcludesFile = "~/qu\\"ote"\n',
    '[core]\nexcludesFile = ~/with" "space  \n',
    "[core]\nexcludesFile = ~/one\nexcludesFile = ~/two\n",
    "[core]\nexcludesFile = ~/one\n[core]\nexcludesFile =\n",
    '[core "sub"]\nexcludesFile = ~/one\n',
    "[other]\nexcludesFile = ~/one\n",
    "[core]\nexcludesFile\n",
    "[include]\npath = more\n[core]\nx = y\n",
    "[core]\nexcludesFile = ~/two\n[include]\npath = ~/more\n",
    "# [core]\n[core] # excludesFile = ~/two\n  excludesFile = ~/one\n",
]


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_the_configuration_is_read_as_git_reads_it(tmp_path: Path, text: str) -> None:
    repository = Repository(tmp_path)
    rules = {
        "one": "1\n",
        "two": "2\n",
        "with space": "s\n",
        'qu"ote': "q\n",
        ".config/git/ignore": "default\n",
    }
    more = "[core]\nexcludesFile = ~/one\n"
    repository.write({".gitconfig": text, "more": more, **rules}, below=repository.home)
    repository.write(dict.fromkeys(("1", "2", "s", "q", "default", "z"), "x"))
    try:
        expected = repository.git("ls-files", "-o", "-z", "--exclude-standard").split("\0")[:-1]
    except subprocess.CalledProcessError:
        assert text.endswith("excludesFile\n")  # Git gives up where the steward reads on.
        return
    assert repository.ours() == expected


def test_where_the_configuration_stands_is_told_by_the_environment(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write(dict.fromkeys(("h", "x", "g", "l", "s", "z"), "x"))
    home = repository.home
    repository.write(
        {".config/git/ignore": "h\n", "xdg/git/ignore": "x\n", "g-rules": "g\n", "s-rules": "s\n"}, below=home
    )
    repository.write({"global": "[core]\nexcludesFile = ~/g-rules\n", "l-rules": "l\n"}, below=home)
    repository.write({"system": "[core]\nexcludesFile = ~/s-rules\n"}, below=home)

    def left_out(environment: dict[str, str]) -> set[str]:
        repository.environment = environment
        listed = set(repository.git("ls-files", "-o", "-z", "--exclude-standard").split("\0")[:-1])
        assert set(repository.ours()) == listed
        return {"h", "x", "g", "l", "s", "z"} - listed

    base = {"HOME": str(home), "GIT_CONFIG_SYSTEM": f"{home}/system"}
    assert left_out(base) == {"s"}
    assert left_out({**base, "GIT_CONFIG_NOSYSTEM": "1"}) == {"h"}
    assert left_out({**base, "GIT_CONFIG_NOSYSTEM": "1", "XDG_CONFIG_HOME": f"{home}/xdg"}) == {"x"}
    assert left_out({**base, "GIT_CONFIG_GLOBAL": f"{home}/global"}) == {"g"}
    repository.git("config", "core.excludesFile", "~/l-rules")
    assert left_out({**base, "GIT_CONFIG_GLOBAL": f"{home}/global"}) == {"l"}


def test_without_a_home_nothing_of_a_user_is_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    descriptor = os.open(repository.root, os.O_RDONLY)
    try:
        git = Git(choose(descriptor, "auto"), repository.root, {"GIT_CONFIG_SYSTEM": "/nowhere"})
        assert git.users_excludes() == b""
    finally:
        os.close(descriptor)
