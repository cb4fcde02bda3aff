"""searchFiles finds every line and no other, and says what it did not look at."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.errors import PathRefused, UsageError
from steward.proposals.draft import Pending
from steward.tools.base import ToolBox, ToolResult
from steward.tools.overlay import Overlay
from steward.tools.search_engine import Request, Tally
from steward.tools.search_files import SearchFilesArguments, SearchFilesTool, SearchLimits
from steward.tools.search_look import FileHits
from steward.tools.search_query import compiled
from steward.workspace import Policy, RepoPath, Workspace
from tests.workspace.hostile import OUTSIDE, TRAPS, Trap, build


async def search(
    root: Path,
    query: str,
    *,
    views: Mapping[str, Pending] | None = None,
    limits: SearchLimits | None = None,
    policy: Policy | None = None,
    **arguments: Any,
) -> ToolResult:
    with Workspace.open(root, policy) as workspace:
        tool = SearchFilesTool(workspace, lambda: views or {}, limits=limits)
        return await tool.run(SearchFilesArguments(query=query, **arguments))


def make(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def rows(result: ToolResult) -> list[str]:
    return result.text.split("\n")[1:]


async def test_a_literal_query_is_found_with_path_and_line_number(tmp_path: Path) -> None:
    make(tmp_path, {"b.py": "x\nfoo(1)\n", "a/c.py": "foo(1) # [a-z]\nbar\nfoo(1)"})
    result = await search(tmp_path, "foo(1)")
    assert rows(result) == ["a/c.py:1:foo(1) # [a-z]", "a/c.py:3:foo(1)", "b.py:2:foo(1)"]
    assert result.text.startswith("3 matches in 2 files. Searched 2 files in the workspace.\n")
    assert rows(await search(tmp_path, "[a-z]")) == ["a/c.py:1:foo(1) # [a-z]"]
    assert result.summary == "3 matches in 2 files"


async def test_no_match_says_how_many_files_were_searched(tmp_path: Path) -> None:
    make(tmp_path, {"a": "x", "b": ""})
    result = await search(tmp_path, "nothing")
    assert result.text == "No matches. Searched 2 files in the workspace."
    assert result.ok


async def test_a_regular_expression_is_matched_line_by_line(tmp_path: Path) -> None:
    make(tmp_path, {"f": "def one():\r\n    pass\r\ndef two(): # end\r\n"})
    assert rows(await search(tmp_path, r"^def \w+\(\):$", regex=True)) == ["f:1:def one():"]
    assert rows(await search(tmp_path, r"\A\s+pass\Z", regex=True)) == ["f:2:    pass"]
    assert rows(await search(tmp_path, r"one[^x]*two", regex=True)) == []
    assert rows(await search(tmp_path, r"one\(\):\n", regex=True)) == []
    assert len(rows(await search(tmp_path, r"^", regex=True))) == 3


async def test_case_is_ignored_only_when_asked(tmp_path: Path) -> None:
    make(tmp_path, {"f": "Straße\nSTRASSE\nÄpfel\näpfel\n"})
    assert rows(await search(tmp_path, "äpfel")) == ["f:4:äpfel"]
    assert rows(await search(tmp_path, "ÄPFEL", ignoreCase=True)) == ["f:3:Äpfel", "f:4:äpfel"]
    assert rows(await search(tmp_path, "^straß", regex=True, ignoreCase=True)) == ["f:1:Straße"]


async def test_context_is_given_once_and_gaps_are_marked(tmp_path: Path) -> None:
    make(tmp_path, {"f": "1\n2\nhit\n4\nhit\n6\n7\n8\n9\nhit\n"})
    assert rows(await search(tmp_path, "hit", context=1)) == [
        "f-2-2",
        "f:3:hit",
        "f-4-4",
        "f:5:hit",
        "f-6-6",
        "--",
        "f-9-9",
        "f:10:hit",
    ]


async def test_a_glob_and_a_path_narrow_the_search(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "x", "a.ts": "x", "src/b.py": "x", "src/c.ts": "x", "tests/d.py": "x"})
    assert rows(await search(tmp_path, "x", glob="*.py")) == ["a.py:1:x", "src/b.py:1:x", "tests/d.py:1:x"]
    assert rows(await search(tmp_path, "x", path="src")) == ["src/b.py:1:x", "src/c.ts:1:x"]
    assert rows(await search(tmp_path, "x", path="src/c.ts")) == ["src/c.ts:1:x"]
    assert rows(await search(tmp_path, "x", glob="!*.{py,md}")) == ["a.ts:1:x", "src/c.ts:1:x"]
    assert rows(await search(tmp_path, "x", path="src", glob="src/*.py")) == ["src/b.py:1:x"]


async def test_what_was_skipped_is_counted_by_reason(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild\n",
            "a.log": "needle",
            "build/x": "needle",
            "b.bin": b"needle\0",
            "u16.txt": "\ufeffneedle".encode("utf-16-le"),
            ".env": "needle",
            "big": b"needle" + b"x" * 2000,
            "ok": "needle",
            ".git/config": "needle",
        },
    )
    (tmp_path / "link").symlink_to("ok")
    os.mkfifo(tmp_path / "pipe")
    result = await search(tmp_path, "needle", policy=Policy(max_file_bytes=1000))
    assert rows(result) == ["ok:1:needle"]
    assert result.text.split("\n")[0] == (
        "1 match in 1 file. Searched 3 files in the workspace; skipped: 2 ignored, 1 UTF-16,"
        " 1 too large, 1 secret, 1 protected, 1 links, 1 not regular files."
    )


async def test_files_that_are_not_utf8_are_searched_and_shown_without_raw_bytes(tmp_path: Path) -> None:
    make(tmp_path, {"latin": b"caf\xe9 needle\n", "odd\nname": "needle \U000e0041\n"})
    result = await search(tmp_path, "needle")
    assert rows(result) == ["latin:1:caf\\xe9 needle", "odd␊name:1:needle \U000e0041"]
    assert "1 file with matches not UTF-8" in result.text
    assert rows(await search(tmp_path, r"caf. n", regex=True)) == ["latin:1:caf\\xe9 needle"]


async def test_only_lf_and_crlf_end_a_line(tmp_path: Path) -> None:
    make(tmp_path, {"f": "a\x0cb\u2028c\x85hit\r\nnext hit\rsame\n"})
    assert rows(await search(tmp_path, "hit")) == ["f:1:a\x0cb\u2028c\x85hit", "f:2:next hit\rsame"]


async def test_the_limit_of_matches_ends_the_search_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, {f"f{n}": "hit\n" * 10 for n in range(5)})
    result = await search(tmp_path, "hit", limits=SearchLimits(matches=12))
    assert len(rows(result)) == 12
    assert "Stopped at the limit of 12 matches" in result.text
    assert result.summary.endswith("stopped early")


async def test_the_limit_of_characters_ends_the_search_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, {"f": "hit hit\n" * 100})
    result = await search(tmp_path, "hit", limits=SearchLimits(characters=100))
    assert len(result.text) < 500
    assert "Stopped at the limit of 100 characters" in result.text


async def test_a_long_line_is_shown_around_its_match(tmp_path: Path) -> None:
    make(tmp_path, {"f": "a" * 5000 + "needle" + "b" * 5000 + "\n"})
    result = await search(tmp_path, "needle")
    shown = rows(result)[0].split(":", 2)[2]
    assert "needle" in shown
    assert shown.startswith("…aaa")
    assert shown.endswith("bbb…")
    assert len(shown) == 302
    assert "1 long line shown in part" in result.text


RUNAWAYS = [r"(a|a)+(a|a)+\d$", r"(a?){60}(a|b|ab)*(a|b|ab)*\d$"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("query", RUNAWAYS)
async def test_a_pattern_that_runs_away_is_stopped_and_reported(tmp_path: Path, query: str) -> None:
    make(tmp_path, {"a": "fine a5", "b": "aA" * 200 + "a" * 200 + "!", "c": "never reached a5"})
    result = await search(tmp_path, query, regex=True, limits=SearchLimits(regex_seconds=0.3))
    assert (
        "ran away in b (over 0.3 seconds for one file); the files after it were not searched" in result.text
    )
    assert "c:1" not in result.text
    assert result.summary.endswith("stopped early")


async def test_the_event_loop_runs_on_while_a_pattern_runs_away(tmp_path: Path) -> None:
    make(tmp_path, {"b": "a" * 400 + "!"})
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticker = asyncio.create_task(tick())
    result = await search(tmp_path, r"(a|a)+(a|a)+\d$", regex=True, limits=SearchLimits(regex_seconds=1.0))
    ticker.cancel()
    assert "ran away" in result.text
    assert ticks >= 5


@pytest.mark.parametrize(
    ("query", "regex", "says"),
    [
        ("(", True, "not valid"),
        ("a{2,1}", True, "not valid"),
        ("[z-a]", True, "not valid"),
        ("(?P<n>a)(?P<n", True, "not valid"),
        ("", False, "empty"),
        ("a\nb", False, "line break"),
        ("x" * 3000, False, "longer"),
    ],
)
async def test_a_query_that_makes_no_sense_is_explained(
    tmp_path: Path, query: str, regex: bool, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        await search(tmp_path, query, regex=regex)


async def test_the_time_limit_ends_the_search_and_says_so(tmp_path: Path) -> None:
    make(tmp_path, {"a": "hit"})
    result = await search(tmp_path, "hit", limits=SearchLimits(seconds=-1))
    assert "Stopped after" in result.text


async def test_pending_text_is_searched_in_place_of_the_disk(tmp_path: Path) -> None:
    make(tmp_path, {"a": "old needle", "gone": "needle", "src/x": "needle"})
    views = {
        "a": Pending("change-001", b"new thread\nneedle again\n"),
        "gone": Pending("change-001", None),
        "made/new": Pending("change-001", b"fresh needle"),
    }
    result = await search(tmp_path, "needle", views=views)
    assert sorted(rows(result)) == ["a:2:needle again", "made/new:1:fresh needle", "src/x:1:needle"]
    assert "a is your pending text of change-001." in result.text
    assert rows(await search(tmp_path, "needle", path="made", views=views)) == ["made/new:1:fresh needle"]
    assert rows(await search(tmp_path, "needle", path="made/new", views=views)) == ["made/new:1:fresh needle"]
    assert rows(await search(tmp_path, "old", views=views)) == []
    with pytest.raises(PathRefused, match="deleted in your pending"):
        await search(tmp_path, "needle", path="gone", views=views)


async def test_cancelling_stops_the_thread(tmp_path: Path) -> None:
    started, ended = threading.Event(), threading.Event()

    class Endless:
        def search(self, overlay: Overlay, request: Request, tally: Tally) -> Generator[FileHits]:
            started.set()
            while not request.stop():
                time.sleep(0.005)
            ended.set()
            yield from ()

    with Workspace.open(tmp_path) as workspace:
        tool = SearchFilesTool(workspace, engine=Endless())
        task = asyncio.create_task(tool.run(SearchFilesArguments(query="x")))
        await asyncio.to_thread(started.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 10)


line_texts = st.text(st.sampled_from("ab Ab.\té\u2028\r"), max_size=8)
file_texts = st.lists(line_texts, max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\r\n".join(lines), "\n".join(lines) + "\n"])
)
REGEXES = [
    "a",
    "a.b",
    "^a",
    "b$",
    "a*b",
    r"\bab\b",
    "(?<=a)b",
    "a(?!b)",
    "[^a]b",
    r"\sa",
    "a|b$",
    "^$",
    r"(a)\1",
    "A+b?",
]


@settings(max_examples=120, deadline=None)
@given(
    files=st.lists(file_texts, min_size=1, max_size=4),
    query=st.one_of(st.text("abé. A", min_size=1, max_size=3), st.sampled_from(REGEXES)),
    regex=st.booleans(),
    ignore_case=st.booleans(),
)
def test_it_finds_what_looking_at_every_line_finds(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], query: str, regex: bool, ignore_case: bool
) -> None:
    root = tmp_path_factory.mktemp("t")
    expected: list[str] = []
    pattern = re.compile(query if regex else re.escape(query), re.IGNORECASE if ignore_case else 0)
    for number, text in enumerate(files):
        (root / f"f{number}").write_bytes(text.encode())
        lines = text.split("\n")
        whole = lines[:-1] if lines[-1] == "" else lines
        for index, one in enumerate(whole):
            one = one.removesuffix("\r") if index < len(lines) - 1 else one
            if pattern.search(one):
                expected.append(f"f{number}:{index + 1}:{one}")
    result = asyncio.run(search(root, query, regex=regex, ignoreCase=ignore_case))
    assert rows(result) == expected


def test_a_quick_look_never_hides_a_line() -> None:
    for query in [*REGEXES, r"\Aa", r"b\Z", "a++b", "(?>a+)b", "(?m)^b", "(?s)a.b", "x?", "(?i)AB", r"b\z"]:
        try:
            test = compiled(query, regex=True, ignore_case=False)
        except UsageError:
            continue
        for text in ("x\nab\r\nb", "b\na\n", "a\nb", "\n", "aab\nab", "ab\r\n"):
            lines = [line.removesuffix("\r") for line in text.split("\n")]
            if test.lines(lines):
                assert test.may_match(text.encode()), (query, text)


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("search"))


@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: ascii(trap.path)[1:41])
@pytest.mark.timeout(60)
async def test_no_trap_is_searched_as_the_model_would_call_it(traps: Path, trap: Trap) -> None:
    with Workspace.open(traps, Policy(state_dir=traps / "state")) as workspace:
        box = ToolBox([SearchFilesTool(workspace)])
        result = await box.run("searchFiles", json.dumps({"path": trap.path, "query": "OUTSIDE"}))
    assert OUTSIDE.decode() not in result.text
    assert not result.ok or result.text.startswith("No matches.")


async def test_a_missing_path_is_refused(tmp_path: Path) -> None:
    make(tmp_path, {"src/a": "x"})
    with pytest.raises(PathRefused, match=r"There is no scr in the workspace\. Did you mean src\?"):
        await search(tmp_path, "x", path="scr")


def test_a_path_is_what_the_search_touched(tmp_path: Path) -> None:
    make(tmp_path, {"src/a": "x"})
    assert asyncio.run(search(tmp_path, "x", path="src")).touched == (RepoPath(("src",)),)


def test_what_only_some_searches_need_is_not_imported_before() -> None:
    program = (
        "import sys, steward.tools.list_files, steward.tools.read_file, steward.tools.search_files;"
        "print([name for name in ('regex', 'pathspec', 'difflib', 'steward.proposals') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
