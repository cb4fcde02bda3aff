"""What listing, searching and opening cost; run with ``pytest tests/bench --benchmark-enable -n 0``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steward.tools.base import ToolResult
from steward.tools.search_files import SearchFilesArguments, SearchFilesTool
from steward.visible import visible
from steward.workspace import FileContent, RepoPath, Workspace
from steward.workspace.engine import EngineName

Measure = Callable[..., Any]
DIRECTORIES, FILES = 100, 20


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 files of 60 lines in 100 directories, with ignore files."""
    root = tmp_path_factory.mktemp("repository")
    (root / ".gitignore").write_text("*.pyc\n__pycache__/\n/build/\n*.log\n!keep.log\n.cache\ndocs/_build/\n")
    body = "".join(
        f"    value_{line} = compute(first, second, {line})  # and a comment\n" for line in range(60)
    )
    for number in range(DIRECTORIES):
        directory = root / f"package_{number % 10}" / f"module_{number}"
        directory.mkdir(parents=True)
        for file in range(FILES):
            (directory / f"file_{file}.py").write_text(f"def function_{number}_{file}():\n{body}")
    return root


def test_walking_two_thousand_files(benchmark: Measure, repository: Path) -> None:
    with Workspace.open(repository) as workspace:
        found: int = benchmark(lambda: len(workspace.files()))
    assert found == DIRECTORIES * FILES + 1


def test_listing_with_scandir_for_comparison(benchmark: Measure, repository: Path) -> None:
    assert (
        benchmark(lambda: sum(len(files) for _, _, files in os.walk(repository))) == DIRECTORIES * FILES + 1
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "function_42_7"},
        {"query": "FUNCTION_42_7", "ignoreCase": True},
        {"query": r"def function_42_\d\b", "regex": True},
        {"query": r"^def (?=function_42_7)", "regex": True},
    ],
    ids=["literal", "any-case", "regex", "regex-per-line"],
)
def test_searching_two_thousand_files(
    benchmark: Measure, repository: Path, arguments: dict[str, object]
) -> None:
    with Workspace.open(repository) as workspace:
        tool = SearchFilesTool(workspace)
        result: ToolResult = benchmark(lambda: asyncio.run(tool.run(SearchFilesArguments.parse(arguments))))
    assert "package_2/module_42/file_7.py:1:def function_42_7" in result.text


@pytest.mark.parametrize("engine", ["openat2", "walk"])
def test_reading_one_file(benchmark: Measure, repository: Path, engine: EngineName) -> None:
    path = RepoPath.parse("package_2/module_42/file_7.py")
    with Workspace.open(repository, engine=engine) as workspace:
        content: FileContent = benchmark(workspace.read, path)
    assert content.data


def test_reading_the_same_file_without_bounds_for_comparison(benchmark: Measure, repository: Path) -> None:
    assert benchmark((repository / "package_2/module_42/file_7.py").read_bytes)


def test_making_a_megabyte_visible(benchmark: Measure) -> None:
    text = "a line of plain text and 漢字\n" * 40_000
    assert benchmark(visible, text) == text
