"""What git tracks and what the user's own git configuration ignores is read from git's files as git reads them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from steward.workspace import Policy, RepoPath, Workspace
from steward.workspace.engine import choose
from steward.workspace.git import Git
from steward.workspace.git_index import index_names
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


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=trees,
    top=ignore_files,
    nested=ignore_files,
    where=st.sampled_from(["a", "b", "ab"]),
    excludes=ignore_files,
    named=st.booleans(),
    fold=st.booleans(),
    split=st.booleans(),
    below=st.sampled_from(["", "", "a", "b/a", "ab"]),
    data=st.data(),
)
def test_a_walk_gives_what_git_tracks_or_does_not_ignore(
    tree: list[list[str]],
    top: str,
    nested: str,
    where: str,
    excludes: str,
    named: bool,
    fold: bool,
    split: bool,
    below: str,
    data: st.DataObject,
) -> None:
    """Also from a directory ``below`` the repository's, where case makes no difference, and with a split index."""
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
        made = make_tree(root, tree)
        place = root / below
        # Where case makes no difference, no two names differ in nothing else.
        assume(place.is_dir() and (not fold or len({path.lower() for path in made}) == len(made)))
        if fold:
            repository.git("config", "core.ignoreCase", "true")
        files = [path for path in made if (root / path).is_file()]
        chosen = data.draw(st.lists(st.sampled_from(files), unique=True))
        if chosen:
            repository.git("add", "-f", "--", *(f":(literal){path}" for path in chosen))
        if split:
            repository.git("update-index", "--split-index")
            gone = data.draw(st.lists(st.sampled_from(chosen), unique=True)) if chosen else []
            if gone:
                repository.git("rm", "-q", "--cached", "--", *(f":(literal){path}" for path in gone))
            repository.git("add", "-f", "--", f":(literal){data.draw(st.sampled_from(files))}")
        listed = repository.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", where=place)
        expected = {path for path in listed.split("\0") if path}
        policy = Policy(git_environment=repository.environment)
        with Workspace.open(place, policy) as workspace:
            walk = workspace.walk(secrets=True)
            found = {path.text for path, kind in walk if kind == "file"}
            if walk.asked_for_ignored:
                # All of it is ignored but what is tracked, and somebody made it the workspace all the same.
                assert found >= expected
                return
            assert found == expected
            files = [
                path.removeprefix(f"{below}/") for path in files if path.startswith(f"{below}/" * bool(below))
            ]
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


@pytest.mark.parametrize("digest", ["sha1", "sha256"])
def test_an_index_in_two_files_is_read_as_one(tmp_path: Path, digest: str) -> None:
    repository = Repository(tmp_path, "--object-format", digest)
    many = {f"many/{number}.log": "x" for number in range(300)}
    repository.write({**FILES, **many, ".gitignore": "*.log\n"})
    repository.git("add", "-f", ".")
    repository.git("update-index", "--split-index")
    repository.write({"more.log": "x", "a/b.log": "changed"})
    repository.git("add", "-f", "more.log", "a/b.log")
    repository.git("rm", "-q", "--cached", *(f"many/{number}.log" for number in range(70, 200)))
    index = (repository.root / ".git/index").read_bytes()
    assert b"link" in index
    expected = set(repository.git("ls-files", "-z").split("\0")[:-1])
    assert set(repository.ours()) == expected - {".gitignore"} and "many/199.log" not in expected

    (base,) = (repository.root / ".git").glob("sharedindex.*")
    whole = base.read_bytes()
    for damaged in (whole[:-40], whole[: len(whole) // 2], b"", index):
        base.chmod(0o600)
        base.write_bytes(damaged)
        repository.ours()
    for at in range(len(index)):
        index_names(index[:at] + b"\xff" + index[at + 1 :], 20, lambda name: whole)


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


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("gitdir:{home}/../ws/", True),
        ("gitdir:{root}/", True),
        ("gitdir:{root}/.git", True),
        ("gitdir:{root}", False),
        ("gitdir:ws/", True),
        ("gitdir:WS/", False),
        ("gitdir/i:WS/", True),
        ("gitdir:**/ws/**", True),
        ("gitdir:w?/.git", True),
        ("gitdir:w[a-s]/", True),
        ("gitdir:other/", False),
        ("gitdir:~/", False),
        ("gitdir:./", False),
        ("onbranch:trunk", True),
        ("onbranch:t*", True),
        ("onbranch:trunk/", False),
        ("onbranch:main", False),
        ("hasconfig:remote.*.url:https://example.org/**", True),
        ("hasconfig:remote.*.url:https://example.com/**", False),
        ("unheard:of", False),
    ],
)
def test_a_conditional_include_counts_when_git_says_so(tmp_path: Path, condition: str, holds: bool) -> None:
    repository = Repository(tmp_path)
    repository.git("checkout", "-q", "-b", "trunk")
    repository.git("remote", "add", "origin", "https://example.org/a/b.git")
    said = condition.format(home=repository.home, root=repository.root)
    repository.write(
        {
            ".gitconfig": f'[core]\nexcludesFile = ~/one\n[includeIf "{said}"]\npath = more\n',
            "more": "[core]\nexcludesFile = ~/two\n",
            "one": "1\n",
            "two": "2\n",
        },
        below=repository.home,
    )
    repository.write(dict.fromkeys(("1", "2"), "x"))
    expected = repository.git("ls-files", "-o", "-z", "--exclude-standard").split("\0")[:-1]
    assert repository.ours() == expected
    if ".." not in said:
        assert expected == (["1"] if holds else ["2"])
    policy = Policy(git_environment=repository.environment)
    with Workspace.open(repository.root, policy) as workspace:
        assert repository.home / "more" in workspace.outside()


def test_what_the_repositorys_own_configuration_includes_is_not_read(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({"more": "[core]\nexcludesFile = ~/one\n", "one": "1\n"}, below=repository.home)
    repository.git("config", "include.path", str(repository.home / "more"))
    repository.write(dict.fromkeys(("1", "2"), "x"))
    assert repository.git("ls-files", "-o", "-z", "--exclude-standard").split("\0")[:-1] == ["2"]
    assert repository.ours() == ["1", "2"]
    with Workspace.open(repository.root, Policy(git_environment=repository.environment)) as workspace:
        assert repository.home / "more" not in workspace.outside()


def test_a_workspace_that_is_ignored_itself_is_walked_without_rules(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({".gitignore": "build/\n*.log\n", "build/a.log": "x", "build/b": "x"})
    with Workspace.open(repository.root / "build") as workspace:
        walk = workspace.walk()
        assert [path.text for path, _ in walk] == ["a.log", "b"] and walk.asked_for_ignored
    repository.git("add", "-f", "build/b")
    with Workspace.open(repository.root / "build") as workspace:
        assert workspace.files() == ["a.log", "b"]
        assert [workspace.ignored(RepoPath.parse(name)) for name in ("a.log", "b")] == [True, False]


def test_what_is_read_above_a_workspace_is_named(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write({"a/b/c": "x", "a/.gitignore": "d\n", "a/b/d": "x"})
    with Workspace.open(repository.root / "a/b") as workspace:
        assert workspace.files() == ["c"]
        named = {repository.root / name for name in (".git", ".gitignore", "a/.gitignore")}
        assert named <= set(workspace.outside())


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
