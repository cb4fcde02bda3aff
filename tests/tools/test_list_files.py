"""listFiles shows what is there, how it would be reached, and what it left out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from steward.errors import PathRefused, UsageError
from steward.proposals.draft import Pending
from steward.tools.base import ToolBox, ToolResult
from steward.tools.list_files import ListFilesArguments, ListFilesTool, ListLimits
from steward.visible import visible
from steward.workspace import Policy, RepoPath, Workspace
from steward.workspace.glob import Glob
from tests.workspace.hostile import OUTSIDE, TRAPS, Trap, build


async def listed(
    root: Path,
    path: str = ".",
    depth: int = 1,
    glob: str | None = None,
    views: Mapping[str, Pending] | None = None,
    limits: ListLimits | None = None,
) -> ToolResult:
    with Workspace.open(root) as workspace:
        tool = ListFilesTool(workspace, lambda: views or {}, limits=limits)
        return await tool.run(ListFilesArguments(path=path, depth=depth, glob=glob))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (
        "src/app.py",
        "src/lib/util.py",
        "src/lib/util.ts",
        "docs/guide.md",
        "README.md",
        "build/out.o",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("12345")
    (tmp_path / ".gitignore").write_text("build/\n")
    return tmp_path


async def test_a_directory_lists_its_entries_with_sizes_and_counts_what_it_left_out(tree: Path) -> None:
    assert (await listed(tree)).text == (
        ".: 4 entries\n.gitignore (7 bytes)\nREADME.md (5 bytes)\ndocs/\nsrc/\n"
        "Left out: 1 ignored.\nDirectories at depth 1 were not entered."
    )


async def test_depth_goes_further_down_in_order_of_paths(tree: Path) -> None:
    text = (await listed(tree, "src", 2)).text
    assert text.split("\n") == [
        "src/: 4 entries down to depth 2",
        "src/app.py (5 bytes)",
        "src/lib/",
        "src/lib/util.py (5 bytes)",
        "src/lib/util.ts (5 bytes)",
    ]


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        (".", "*.py", ["src/app.py", "src/lib/util.py"]),
        (".", "*.{py,md}", ["README.md", "docs/guide.md", "src/app.py", "src/lib/util.py"]),
        (".", "src/**/*.ts", ["src/lib/util.ts"]),
        ("src", "src/**/*.ts", ["src/lib/util.ts"]),
        ("src", "lib/*", ["src/lib/util.py", "src/lib/util.ts"]),
        ("src", "/lib", ["src/lib", "src/lib/util.py", "src/lib/util.ts"]),
        (".", "lib", ["src/lib", "src/lib/util.py", "src/lib/util.ts"]),
        (".", "/*.md", ["README.md"]),
        (".", "**/*.md", ["README.md", "docs/guide.md"]),
        (".", "u???.p[xy]", ["src/lib/util.py"]),
        ("src", "!*.{py,ts}", ["src/lib"]),
        (".", "{docs,src/lib}/util.{py,{ts,js}}", ["src/lib/util.py", "src/lib/util.ts"]),
        (".", "*.rs", []),
    ],
)
async def test_a_glob_narrows_the_list(tree: Path, path: str, glob: str, expected: list[str]) -> None:
    rows = (await listed(tree, path, 9, glob)).text.split("\n")[1:]
    assert [
        row.split(" (")[0].rstrip("/") for row in rows if not row.startswith(("Left out", "Dir"))
    ] == expected


def test_a_question_mark_in_a_glob_is_one_character() -> None:
    assert Glob.parse("?.py").matches(RepoPath.parse("é.py"), RepoPath())
    assert not Glob.parse("?.py").matches(RepoPath.parse("éé.py"), RepoPath())


@pytest.mark.parametrize("glob", ["[a", "a\\", "/", "!", "{a,b}" * 8, "x" * 2000])
def test_a_glob_that_means_nothing_is_refused(glob: str) -> None:
    with pytest.raises(UsageError):
        Glob.parse(glob)


async def test_an_ignored_directory_is_listed_when_asked_for_and_says_so(tree: Path) -> None:
    text = (await listed(tree, "build")).text
    assert "build/out.o (5 bytes)" in text
    assert "build itself is ignored" in text


async def test_links_show_where_they_point_and_secrets_and_pipes_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "in").symlink_to("a")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / ".env").write_text("KEY=1")
    os.mkfifo(tmp_path / "pipe")
    rows = (await listed(tmp_path)).text.split("\n")
    assert "in -> a (symbolic link, not followed)" in rows
    assert "out -> (outside the workspace) (symbolic link, not followed)" in rows
    assert ".env (secret, closed to the tools)" in rows
    assert "pipe (not a regular file)" in rows


async def test_names_never_reach_the_result_raw(tmp_path: Path) -> None:
    for name in ("two\nlines", "esc\x1b[2J", "\u202etxt.exe", "tab\t"):
        (tmp_path / name).write_text("x")
    os.close(os.open(os.fsencode(tmp_path) + b"/caf\xe9\x1b", os.O_CREAT | os.O_WRONLY))
    text = (await listed(tmp_path)).text
    assert visible(text) == text
    assert "two␊lines (1 byte)" in text
    assert "esc␛[2J" in text
    assert "⟨U+202E⟩txt.exe" in text
    assert "caf\\xe9␛ (name is not UTF-8: no path)" in text


async def test_a_list_at_its_limit_counts_the_rest(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}").write_text("")
    result = await listed(tmp_path, limits=ListLimits(entries=10))
    assert result.text.startswith(".: 10 entries\n00 (0 bytes)")
    assert "Left out: 20 past the limit of one call, the deepest first." in result.text
    assert result.summary == "10 entries of 30"
    by_size = await listed(tmp_path, limits=ListLimits(characters=30))
    assert "Left out: 28 past the limit of one call" in by_size.text


async def test_when_there_is_too_much_the_deepest_entries_are_left_out_first(tree: Path) -> None:
    text = (await listed(tree, ".", 9, limits=ListLimits(entries=6))).text
    assert text.split("\n")[1:-1] == [
        ".gitignore (7 bytes)",
        "README.md (5 bytes)",
        "docs/",
        "docs/guide.md (5 bytes)",
        "src/",
        "src/app.py (5 bytes)",
    ]


async def test_pending_files_stand_in_the_list_and_say_what_they_are(tree: Path) -> None:
    views = {
        "src/app.py": Pending("change-002", b"123"),
        "README.md": Pending("change-002", None),
        "docs/guide.md": Pending("change-002", None, "docs/manual.md"),
        "docs/manual.md": Pending("change-002", b"12345"),
        "src/new/deep/file.py": Pending("change-002", b"1"),
    }
    rows = (await listed(tree, ".", 3, views=views)).text.split("\n")
    assert "src/app.py (pending in change-002: changed, 3 bytes)" in rows
    assert "README.md (pending in change-002: deleted)" in rows
    assert "docs/guide.md (pending in change-002: renamed to docs/manual.md)" in rows
    assert "docs/manual.md (pending in change-002: new, not on disk, 5 bytes)" in rows
    assert "src/new/ (pending in change-002, not on disk)" in rows
    assert "src/new/deep/ (pending in change-002, not on disk)" in rows
    assert not [row for row in rows if "file.py" in row]
    inside = (await listed(tree, "src/new", 2, views=views)).text
    assert inside.startswith("src/new/: 2 entries down to depth 2 (only pending, not on disk)\n")
    assert "src/new/deep/file.py (pending in change-002: new, not on disk, 1 byte)" in inside


async def test_an_empty_directory_and_a_wrong_path_say_so(tree: Path) -> None:
    (tree / "empty").mkdir()
    assert (await listed(tree, "empty")).text == "empty/: 0 entries"
    with pytest.raises(PathRefused, match=r"README\.md is not a directory\."):
        await listed(tree, "README.md")
    with pytest.raises(PathRefused, match=r"There is no scr in the workspace\. Did you mean src\?"):
        await listed(tree, "scr")


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("list"))


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: ascii(trap.path)[1:41])
@pytest.mark.timeout(60)
async def test_no_trap_is_listed_as_the_model_would_call_it(traps: Path, trap: Trap) -> None:
    if trap.path in (".", "src", "src/app.py/.."):
        return
    with Workspace.open(traps, Policy(state_dir=traps / "state")) as workspace:
        box = ToolBox([ListFilesTool(workspace)])
        result = await box.run("listFiles", json.dumps({"path": trap.path, "depth": 9}))
    assert not result.ok
    assert "secret.txt" not in result.text.replace(visible(trap.path), "")
    assert OUTSIDE.decode() not in result.text


@pytest.mark.timeout(60)
async def test_the_whole_of_a_hostile_workspace_lists_without_leaving_it(traps: Path) -> None:
    with Workspace.open(traps, Policy(state_dir=traps / "state")) as workspace:
        text = (await ListFilesTool(workspace).run(ListFilesArguments(depth=50))).text
    assert visible(text) == text
    assert "secret.txt" not in text
    assert "steward.db" not in text
    assert "Left out: 3 protected." in text
