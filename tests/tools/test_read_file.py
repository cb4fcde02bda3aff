"""readFile gives numbered lines, says what they do not show, and refuses the rest in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from steward.errors import PathRefused
from steward.proposals.draft import Pending
from steward.tools.base import ToolBox, ToolResult
from steward.tools.read_file import ReadFileArguments, ReadFileTool, ReadLimits
from steward.workspace import Policy, RepoPath, Workspace
from tests.workspace.hostile import OUTSIDE, TRAPS, Trap, build


async def read(
    root: Path,
    path: str,
    start: int = 1,
    count: int | None = None,
    views: Mapping[str, Pending] | None = None,
    limits: ReadLimits | None = None,
) -> ToolResult:
    with Workspace.open(root) as workspace:
        tool = ReadFileTool(workspace, lambda: views or {}, limits=limits)
        return await tool.run(ReadFileArguments(path=path, startLine=start, lineCount=count))


async def text_of(root: Path, data: bytes, start: int = 1, count: int | None = None) -> str:
    (root / "f.txt").write_bytes(data)
    return (await read(root, "f.txt", start, count)).text


async def test_lines_come_numbered_after_a_line_that_says_which_of_how_many(tmp_path: Path) -> None:
    assert await text_of(tmp_path, b"one\ntwo\nthree\n") == "f.txt, lines 1-3 of 3\n1\tone\n2\ttwo\n3\tthree"


async def test_a_part_is_given_from_the_line_asked_for(tmp_path: Path) -> None:
    data = b"".join(b"line %d\n" % n for n in range(1, 11))
    assert await text_of(tmp_path, data, 4, 2) == "f.txt, lines 4-5 of 10\n4\tline 4\n5\tline 5"
    assert (await text_of(tmp_path, data, 9, 100)).startswith("f.txt, lines 9-10 of 10\n")


async def test_only_lf_and_crlf_end_a_line(tmp_path: Path) -> None:
    text = await text_of(tmp_path, "a\x0cb\u2028c\x85d\x0be\rf\n\r\n".encode())
    assert text == (
        "f.txt, lines 1-2 of 2 (mixed line endings: 1 CRLF and 1 LF)\n1\ta\x0cb\u2028c\x85d\x0be\rf\n2\t"
    )


@pytest.mark.parametrize(
    ("data", "notes", "rows"),
    [
        (b"a\r\nb\r\n", "CRLF line endings", ["1\ta", "2\tb"]),
        (b"a\nb\r\n", "mixed line endings: 1 CRLF and 1 LF", ["1\ta", "2\tb"]),
        (b"a\nb", "no newline at the end of the file", ["1\ta", "2\tb"]),
        (b"a\nb\r", "no newline at the end of the file", ["1\ta", "2\tb\r"]),
        (b"a\r\nb\r", "CRLF line endings; no newline at the end of the file", ["1\ta", "2\tb\r"]),
        (b"\xef\xbb\xbfa\n", "begins with a byte order mark, not shown", ["1\ta"]),
        (
            b"\xef\xbb\xbfa\r\nb",
            "CRLF line endings; no newline at the end of the file; begins with a",
            ["1\ta"],
        ),
        (b"\n", "", ["1\t"]),
        (b"\r\n", "CRLF line endings", ["1\t"]),
    ],
)
async def test_what_lines_do_not_show_is_said(
    tmp_path: Path, data: bytes, notes: str, rows: list[str]
) -> None:
    head, *given = (await text_of(tmp_path, data)).split("\n")
    assert notes in head
    assert ("(" in head) == bool(notes)
    assert given[: len(rows)] == rows


async def test_an_empty_file_says_so(tmp_path: Path) -> None:
    assert await text_of(tmp_path, b"") == "f.txt is empty."
    assert "is empty" in await text_of(tmp_path, b"\xef\xbb\xbf")


async def test_a_start_past_the_end_says_so_and_how_long_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"a\nb\n")
    result = await read(tmp_path, "f.txt", 3)
    assert not result.ok
    assert result.text == "f.txt has 2 lines; startLine 3 is past its end."


async def test_a_long_line_is_cut_and_may_not_be_the_source_of_old_text(tmp_path: Path) -> None:
    text = await text_of(tmp_path, b"short\n" + b"x" * 5000 + b"\n" + b"y" * 2000 + b"\n")
    head, _, cut, whole = text.split("\n")
    assert "line 2 cut at 2,000 characters: a cut line cannot be the source of oldText" in head
    assert cut == "2\t" + "x" * 2000 + "… [cut: 2,000 of 5,000 characters]"
    assert whole == "3\t" + "y" * 2000


async def test_a_result_at_its_limit_says_where_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("".join(f"{n}\n" for n in range(100)))
    result = await read(tmp_path, "f.txt", limits=ReadLimits(lines=10))
    assert "lines 1-10 of 100 (stopped at the limit of one call; go on with startLine=11)" in result.text
    by_size = await read(tmp_path, "f.txt", 11, limits=ReadLimits(characters=30))
    assert "go on with startLine=16" in by_size.text
    one = await read(tmp_path, "f.txt", 1, limits=ReadLimits(characters=1))
    assert one.text.endswith("\n1\t0")


async def test_every_line_of_a_large_file_is_reached_by_paging(tmp_path: Path) -> None:
    lines = [f"line {n} " + "z" * (n % 300) for n in range(3000)]
    (tmp_path / "f.txt").write_text("\n".join(lines) + "\n")
    got: list[str] = []
    while len(got) < len(lines):
        text = (await read(tmp_path, "f.txt", len(got) + 1)).text
        rows = text.split("\n")[1:]
        assert rows
        got += [row.split("\t", 1)[1] for row in rows]
    assert got == lines


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (bytes.fromhex("78203d20310a2320636166e90a"), "not-utf8", "byte 11 (counted from 0) is 0xe9"),
        (b"ok\nthen \xff", "not-utf8", "byte 8"),
        (b"cut \xe2\x82", "not-utf8", "byte 4"),
        (b"abc\0def", "binary", "byte 3"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary", "byte 8"),
        ("\ufeffhi".encode("utf-16-le"), "not-utf8", "UTF-16"),
        ("\ufeffhi".encode("utf-16-be"), "not-utf8", "UTF-16"),
        ("\ud800".encode("utf-8", "surrogatepass"), "not-utf8", "byte 0"),
    ],
)
async def test_what_is_not_utf8_text_is_refused_with_the_first_bad_byte(
    tmp_path: Path, data: bytes, kind: str, says: str
) -> None:
    with pytest.raises(PathRefused) as caught:
        await text_of(tmp_path, data)
    assert caught.value.kind == kind
    assert says in str(caught.value)


async def test_pending_text_is_given_in_place_of_the_disk_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"old\n")
    views = {
        "f.txt": Pending("change-001", b"new\n"),
        "made.txt": Pending("change-001", b"fresh"),
        "gone.txt": Pending("change-001", None),
        "was.txt": Pending("change-001", None, "f.txt"),
        "void.txt": Pending("change-001", b""),
    }
    (tmp_path / "gone.txt").write_bytes(b"x")
    text = (await read(tmp_path, "f.txt", views=views)).text
    assert text == "f.txt (your pending text of change-001, not on disk), lines 1-1 of 1\n1\tnew"
    assert "\n1\tfresh" in (await read(tmp_path, "made.txt", views=views)).text
    assert (await read(tmp_path, "void.txt", views=views)).text.endswith("is empty.")
    with pytest.raises(PathRefused, match=r"deleted in your pending change-001"):
        await read(tmp_path, "gone.txt", views=views)
    with pytest.raises(PathRefused, match=r"renamed to f\.txt in your pending change-001"):
        await read(tmp_path, "was.txt", views=views)


async def test_a_missing_file_names_what_is_near(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("x")
    with pytest.raises(
        PathRefused, match=r"There is no setings\.py in the workspace\. Did you mean settings\.py\?"
    ):
        await read(tmp_path, "setings.py")


async def test_the_path_read_becomes_the_focus(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("x\n")
    result = await read(tmp_path, "./f.txt")
    assert result.touched == (RepoPath(("f.txt",)),)
    assert result.summary == "lines 1-1 of 1"


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("read"))


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: ascii(trap.path)[1:41])
@pytest.mark.timeout(60)
async def test_no_trap_is_read_as_the_model_would_call_it(traps: Path, trap: Trap) -> None:
    with Workspace.open(traps, Policy(state_dir=traps / "state")) as workspace:
        box = ToolBox([ReadFileTool(workspace)])
        result = await box.run("readFile", json.dumps({"path": trap.path}))
    assert not result.ok
    assert trap.kind in result.summary
    assert OUTSIDE.decode() not in result.text


async def test_wrong_arguments_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("x\n")
    with Workspace.open(tmp_path) as workspace:
        box = ToolBox([ReadFileTool(workspace)])
        for arguments in (
            {"path": "f.txt", "startLine": 0},
            {"path": "f.txt", "lineCount": 0},
            {"path": 7},
            {},
        ):
            result = await box.run("readFile", json.dumps(arguments))
            assert not result.ok
            assert result.text.startswith("Wrong arguments for readFile")
