"""With ripgrep and without it a search gives the same answer, to the last count."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.confine.programs import find_program
from steward.errors import PathRefused, UsageError
from steward.proposals.draft import Pending
from steward.tools.base import ToolResult
from steward.tools.ripgrep import ARGUMENTS, Ripgrep
from steward.tools.search_engine import Engine
from steward.tools.search_files import SearchFilesArguments, SearchFilesTool, SearchLimits
from steward.tools.search_query import compiled
from steward.tools.sieve_pattern import sieve_pattern
from steward.tools.text import Lines
from steward.workspace import Policy, RepoPath, Workspace
from tests.workspace.test_bounds import in_child

RG = find_program(Path("/nowhere"))
assert RG is not None
WITH = Engine(RG, alone=-1, head_start=-1)
WITHOUT = Engine(None)


def answer(
    root: Path,
    engine: Engine | None,
    arguments: Mapping[str, object],
    *,
    policy: Policy | None = None,
    views: Mapping[str, Pending] | None = None,
    limits: SearchLimits | None = None,
) -> ToolResult:
    with Workspace.open(root, policy) as workspace:
        tool = SearchFilesTool(workspace, lambda: views or {}, engine=engine, limits=limits)
        return asyncio.run(tool.run(SearchFilesArguments.parse(arguments)))


def make(root: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


NAMES: list[str] = [
    "a",
    "b.c",
    "B.C",
    "build",
    "x.log",
    "é.txt",
    "a b",
    "-v",
    "[id]",
    "new\nline",
    ".env",
    ".env.example",
    ".hid",
    "{x}",
]
MORE_NAMES = ["node_modules", "key.pem", "*.log", "!b.c", "#x", "b\\c", ".gitignored", "~", "%2e"]
CONTENTS = [
    b"",
    b"needle\n",
    b"a needle in line\r\nNEEDLE again\r\n",
    b"\xef\xbb\xbfneedle first\n",
    "ſ K needle İ ı Straße\n".encode(),
    b"caf\xe9 needle\n",
    b"needle\0binary\n",
    b"binary\0needle\n",
    "needle\n".encode("utf-16"),
    b"x" * 70_000 + b" needle " + b"y" * 70_000,
    b"no newline needle",
    b"nothing\rneedle\x0b\x0c\n\xc2\x85needle\n",
    b"needle \n" * 5,
    b"large needle\n" + b"z" * 5000,
    b"large\n" + b"z\n" * 3000,
    b"\nneedle5\n",
]
RULES = [
    "a",
    "build/",
    "/build",
    "*.log",
    "!x.log",
    "*",
    "!*.c",
    "node_modules/",
    "b.*",
    "/a/b.c",
    "é.txt",
    "[a-b]",
    "a*/",
    "!build",
]
MORE_RULES = [
    "a/**",
    "\\#x",
    "\\!b.c",
    ".env.example",
    ".*",
    "!/.hid",
    "a b",
    "new*",
    "*.C",
    "key.pem",
    "/a/",
    "x.log",
]
QUERIES: list[dict[str, object]] = [
    {"query": "needle"},
    {"query": "NEEDLE", "ignoreCase": True},
    {"query": "needle", "path": "a"},
    {"query": "needle", "path": "build"},
    {"query": "needle", "glob": "*.{c,log}"},
    {"query": "needle", "glob": "!*.log"},
    {"query": "needle", "glob": "a/**"},
    {"query": r"^needle\d?$", "regex": True},
    {"query": r"\bN\w+e\b", "regex": True, "ignoreCase": True},
    {"query": r"(?<=a )needle|k(?! n)", "regex": True, "ignoreCase": True},
    {"query": "-v"},
    {"query": "straSSe", "ignoreCase": True},
]
rules = st.lists(st.sampled_from(RULES + MORE_RULES), max_size=4).map("\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_both_engines_give_the_same_answer_over_any_tree(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as room:
        root, home = Path(room, "ws"), Path(room, "home")
        (home / ".config/git").mkdir(parents=True)
        (home / ".config/git/ignore").write_text(data.draw(rules))
        git = {"HOME": str(home), "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "init", "-q", str(root)], check=True, env=git)
        (root / ".git/info/exclude").write_text(data.draw(rules))
        paths = st.lists(st.sampled_from(NAMES + MORE_NAMES), min_size=1, max_size=4)
        for parts in data.draw(st.lists(paths, min_size=1, max_size=16)):
            target = root.joinpath(*parts)
            if target.exists() or any(above.is_file() for above in target.parents):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.draw(st.sampled_from(CONTENTS)))
        directories = sorted(path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts)
        for place in [root, *data.draw(st.lists(st.sampled_from([root, *directories]), max_size=3))]:
            name = data.draw(
                st.sampled_from([".gitignore", ".gitignore", ".stewardignore", ".ignore", ".rgignore"])
            )
            (place / name).write_text(data.draw(rules))
        if data.draw(st.booleans()):
            files = sorted(
                str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and ".git" not in p.parts
            )
            some = [
                ":(literal)" + name
                for name in data.draw(st.lists(st.sampled_from(files), unique=True, min_size=1))
            ]
            subprocess.run(["git", "add", "-f", "--", *some], cwd=root, check=True, env=git)
        policy = Policy(max_file_bytes=4000, git_environment=git, secrets_allowed=data.draw(st.booleans()))
        views = {"a/b.c": Pending("change-001", b"needle pending\n"), "x.log": Pending("change-001", None)}
        arguments = data.draw(st.sampled_from(QUERIES))
        texts: list[str] = []
        for engine in (WITH, WITHOUT):
            try:
                texts.append(answer(root, engine, arguments, policy=policy, views=views).text)
            except PathRefused as error:
                texts.append(repr(error))
        assert texts[0] == texts[1]


def stub(place: Path, script: str) -> Engine:
    """An engine whose ripgrep is a shell script."""
    program = place / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Engine(str(program), alone=-1, head_start=-1)


def rows(result: ToolResult) -> list[str]:
    return result.text.split("\n")[1:]


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outside")


def test_what_ripgrep_names_is_read_through_the_workspace_alone(tmp_path: Path, outside: Path) -> None:
    make(outside, {"secret": "needle OUTSIDE\n"})
    make(
        tmp_path,
        {"ok": "needle\n", ".env": "needle\n", "gone.log": "needle\n", ".gitignore": "*.log\n", "none": "x"},
    )
    make(tmp_path, {".git/config": "needle\n", "dir/file": "needle in dir\n"})
    (tmp_path / "link").symlink_to(outside / "secret")
    (tmp_path / "linked").symlink_to(outside)
    names = (
        "./ok ./link ./linked/secret ../outside/secret ./.env ./.git/config ./gone.log ./missing ./dir ./none"
    )
    script = "".join(f"printf '{name}\\0';" for name in names.split())
    result = answer(tmp_path, stub(outside, script), {"query": "needle"})
    assert rows(result) == ["ok:1:needle"]
    swap = f"rm dir/file; ln -s {outside}/secret dir/file; printf './dir/file\\0./ok\\0'"
    result = answer(tmp_path, stub(outside, swap), {"query": "needle"})
    assert rows(result) == ["ok:1:needle"]
    assert "links" in result.text


def test_ripgrep_is_given_nothing_that_anyone_else_could_set(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"a": "--files\n", ".gitignore": "*.o\n/build/\n!keep\n?x\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(outside / "config"))
    script = f"""printf '%s\\n' "$@" > {outside}/arguments; /usr/bin/env > {outside}/environment; printf './a\\0'"""
    result = answer(tmp_path, stub(outside, script), {"query": "--files", "glob": "*"})
    assert rows(result) == ["a:1:--files"]
    arguments = (outside / "arguments").read_text().splitlines()
    assert tuple(arguments[: len(ARGUMENTS)]) == ARGUMENTS
    assert {"--no-config", "--no-follow", "--no-ignore"} <= set(ARGUMENTS)
    rules = [argument for argument in arguments if argument.startswith("--glob=!")]
    assert rules == ["--glob=!.git", "--glob=!*.o", "--glob=!/build/"]
    assert arguments[-4:] == ["--fixed-strings", "--", "--files", "."]
    environment = (outside / "environment").read_text().splitlines()
    assert {line.partition("=")[0] for line in environment} <= {"PWD", "SHLVL", "_", "OLDPWD"}


def test_a_configuration_file_of_ripgrep_changes_nothing(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"a": "needle\n", ".ripgreprc": "--invert-match\n"})
    make(outside, {"config": "--invert-match\n--glob=!a\n"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(outside / "config"))
    assert rows(answer(tmp_path, WITH, {"query": "needle"})) == ["a:1:needle"]


@pytest.mark.parametrize(
    "script", ["exit 2", "echo 'rg: regex too large' >&2; exit 2", "kill -9 $$", "exec /nowhere/rg"]
)
def test_a_ripgrep_that_fails_costs_time_and_no_answer(tmp_path: Path, outside: Path, script: str) -> None:
    make(tmp_path, {"a": "needle\n", "b/c": "needle\n"})
    result = answer(tmp_path, stub(outside, script), {"query": "needle"})
    assert rows(result) == ["a:1:needle", "b/c:1:needle"]
    assert "passed over" not in result.text


def alive(outside: Path) -> bool:
    try:
        os.kill(int((outside / "pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


SLEEP = "echo $$ > {0}/pid.part; mv {0}/pid.part {0}/pid; printf './b\\0'; exec sleep 600"


def test_when_the_time_is_up_ripgrep_is_ended_and_what_it_named_is_shown(
    tmp_path: Path, outside: Path
) -> None:
    make(tmp_path, {"a": "needle\n", "b": "needle\n"})
    engine = stub(outside, SLEEP.format(outside))
    result = answer(tmp_path, engine, {"query": "needle"}, limits=SearchLimits(seconds=1.5))
    assert rows(result) == ["b:1:needle"]
    assert "Stopped after 1.5 seconds: not all files were searched." in result.text
    assert not alive(outside)


async def test_a_search_that_is_cancelled_ends_ripgrep(tmp_path: Path, outside: Path) -> None:
    make(tmp_path, {"a": "needle\n"})
    with Workspace.open(tmp_path) as workspace:
        tool = SearchFilesTool(workspace, engine=stub(outside, SLEEP.format(outside)))
        task = asyncio.create_task(tool.run(SearchFilesArguments(query="needle")))
        while not (outside / "pid").exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(1000):
            if not alive(outside):
                break
            await asyncio.sleep(0.01)
        assert not alive(outside)


def test_a_full_page_ends_ripgrep(tmp_path: Path, outside: Path) -> None:
    make(tmp_path, {"a": "needle\n" * 50, "b/c": "x", "d": "x"})
    stub(outside, SLEEP.format(outside))
    engine = Engine(str(outside / "rg"), alone=-1, head_start=600)
    result = answer(tmp_path, engine, {"query": "needle"}, limits=SearchLimits(matches=10))
    assert "Stopped at the limit of 10 matches" in result.text
    assert not (outside / "pid").exists() or not alive(outside)


def test_files_that_may_not_be_read_are_counted_by_both(tmp_path: Path) -> None:
    make(tmp_path, {"open": "needle\n", "closed": "needle\n", "odd\nname": "needle\n", "shut/in": "needle\n"})
    tmp_path.chmod(0o755)
    with Workspace.open(tmp_path) as workspace:
        for name in ("closed", "odd\nname", "shut"):
            (tmp_path / name).chmod(0)

        def work() -> str:
            texts: list[str] = []
            for engine in (WITH, WITHOUT):
                tool = SearchFilesTool(workspace, engine=engine)
                texts.append(asyncio.run(tool.run(SearchFilesArguments(query="needle"))).text)
            return repr(texts)

        said = in_child(65534, work)
        (tmp_path / "shut").chmod(0o755)
    with_ripgrep, without = ast.literal_eval(said)
    assert without.startswith("1 match in 1 file. Searched 1 file in the workspace; skipped: 3 unreadable.")
    assert with_ripgrep == without


def test_ripgrep_is_found_beside_the_interpreter_then_on_the_path_but_never_in_the_workspace(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, {"bin/rg": "#!/bin/sh\n"})
    make(outside, {"good/rg": "#!/bin/sh\n", "env/rg": "#!/bin/sh\n", "not-executable/rg": ""})
    for place in (tmp_path / "bin/rg", outside / "good/rg", outside / "env/rg"):
        place.chmod(0o755)
    (outside / "to-workspace").symlink_to(tmp_path / "bin")
    python = str(outside / "none/python")
    path = f"bin::.:{tmp_path}/bin:{outside}/to-workspace:{outside}/not-executable:{outside}/good"
    assert find_program(tmp_path, {"PATH": path}, python) == str(outside / "good/rg")
    assert find_program(tmp_path, {"PATH": f".:{tmp_path}/bin"}, python) is None
    monkeypatch.chdir(outside)
    assert find_program(tmp_path, {"PATH": "good"}, python) is None
    assert find_program(tmp_path, {"PATH": path}, str(outside / "env/python")) == str(outside / "env/rg")
    assert find_program(tmp_path, {}, sys.executable) == str(Path(sys.executable).parent / "rg")


def test_a_file_too_large_to_be_shown_is_counted_when_it_holds_the_query(tmp_path: Path) -> None:
    make(tmp_path, {"large": ("x" * 99 + "\n") * 18_000 + "needle\n", "other": "y" * 2_500_000, "small": "z"})
    make(tmp_path, {"nul": b"\0" + b"needle\n" * 500_000})
    for engine in (WITH, WITHOUT):
        result = answer(
            tmp_path, engine, {"query": "needle$", "regex": True}, policy=Policy(max_file_bytes=1000)
        )
        assert result.text.startswith("No matches. Searched 3 files")
        assert "; skipped: 1 too large." in result.text


PIECES = [
    "a",
    "b",
    "k",
    "S",
    "é",
    "ſ",
    "İ",
    ".",
    r"\.",
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    r"\b",
    "^",
    "$",
    r"\A",
    r"\Z",
    " ",
    "{",
]
MORE_PIECES = [
    "[ab]",
    "[^a]",
    "[a-z]",
    "[^é]",
    r"[\w-]",
    r"[^\s]",
    r"[^\W]",
    "[]a]",
    "[é-ü]",
    r"[\x00-k]",
    r"\x61",
    r"\u00e9",
    r"\p{L}",
]
AROUND = ["({})", "(?:{})", "(?={})", "(?!{})", "(?<=a)", "(?>{})", "(?P<n{n}>{})", "{}|b", "(?#c){}"]
COUNTS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "++", "??"]


@st.composite
def regexes(draw: st.DrawFn) -> str:
    """Regular expressions of Python; most of them are valid."""
    out = ""
    for number in range(draw(st.integers(1, 4))):
        piece = draw(st.sampled_from(PIECES + MORE_PIECES))
        if draw(st.booleans()) and draw(st.booleans()):
            more = draw(st.sampled_from(PIECES + MORE_PIECES))
            piece = (
                draw(st.sampled_from(AROUND))
                .replace("{n}", f"{number}{draw(st.integers(0, 99))}")
                .replace("{}", piece + more)
            )
        out += piece + draw(st.sampled_from(COUNTS))
    return out + draw(st.sampled_from(["", "", r"\1"]))


LINES = [
    *(
        "",
        "a",
        "b",
        "ab",
        "aab",
        "abab",
        " a",
        "a b",
        "é",
        "éa",
        "ü",
        "K",
        "kk",
        "Kk",
        "ſ",
        "s S",
        "İ",
        "ı",
        "i I",
        "1a",
        "a1",
    ),
    *(
        "_",
        "{",
        "a{",
        "]",
        "-",
        "٣",
        "\x1c",
        "\t",
        "\xa0",
        "漢字",
        "a\u0301",
        "a.b",
        "..",
        "k\r",
        "\ra",
        "aé b",
    ),
]
TEXTS = [
    *(line.encode() + b"\n" for line in LINES),
    *(line.encode() for line in LINES),
    *(b"\xef\xbb\xbf" + line.encode() + b"\r\n" for line in LINES),
    *(b"x\r\n" + line.encode() + b"\xe9\r\n" for line in LINES),
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shelf")
    for number, data in enumerate(TEXTS):
        (root / f"{number}").write_bytes(data)
    return root


@settings(max_examples=150, deadline=None)
@given(query=regexes(), ignore_case=st.booleans())
def test_ripgrep_names_every_file_in_which_a_regular_expression_matches(
    shelf: Path, query: str, ignore_case: bool
) -> None:
    try:
        test = compiled(query, regex=True, ignore_case=ignore_case)
    except UsageError:
        return
    found = sieve_pattern(query, regex=True, ignore_case=ignore_case)
    if found is None:
        return
    expected = {
        str(n)
        for n, data in enumerate(TEXTS)
        if test.lines(Lines.of(data.decode("utf-8", "surrogateescape")).texts)
    }
    with Workspace.open(shelf) as workspace:
        run = Ripgrep(str(RG), workspace, RepoPath(), found[0], fixed=found[1])
        try:
            assert run.wait(60)
            named = run.named()
        finally:
            run.close()
    if named is not None:
        assert expected <= named.get("", set())


@pytest.mark.parametrize("mode", ["text", "regex"])
def test_ripgrep_knows_every_case_that_python_knows(mode: str) -> None:
    letters = [chr(n) for n in range(0x250) if chr(n).isalpha()] + list("ẞKÅſΣσςµμ")
    for letter in letters:
        pattern, _ = sieve_pattern(letter, regex=mode == "regex", ignore_case=True) or ("", False)
        of_bytes = re.compile(pattern.removeprefix("(?-u)").encode())
        for line, _ in compiled(letter, regex=mode == "regex", ignore_case=True).lines(letters):
            assert of_bytes.search(letters[line].encode()), (letter, letters[line])


@pytest.mark.parametrize(
    "query",
    [
        *(
            "[[:alpha:]]",
            "a{e<=1}",
            "(?R)",
            "(a)(?(1)b|c)",
            "(?i:a)",
            "[a&&b]",
            "[a||b]",
            "x{1",
            "x{}",
            "\0",
            "a\n",
        ),
        *(
            "(?x) a",
            r"\N{SPACE",
            r"a\n",
            r"\x0a",
            r"\Ga",
            r"\z",
            r"(?|a|b)",
            r"\K",
            r"\12",
            r"(?&n)",
            "(*FAIL)",
        ),
    ],
)
def test_what_only_python_understands_is_left_to_python(query: str) -> None:
    assert sieve_pattern(query, regex=True, ignore_case=False) is None
