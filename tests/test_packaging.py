"""What is built and installed: the wheel holds what the program needs, the lock holds what the project names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.monorepo import PROJECT

PROJECT_TABLE = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
LOCK = (PROJECT / "requirements.lock").read_text()


def names(requirements: list[str]) -> set[str]:
    """The normalised names of requirements, without the project itself."""
    found = {re.split(r"[\s\[<>=!~;]", text, maxsplit=1)[0] for text in requirements}
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found} - {PROJECT_TABLE["name"]}


def locked() -> dict[str, str]:
    """Each locked package with its version."""
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", LOCK, re.MULTILINE))


def test_everything_the_project_names_is_locked_with_hashes():
    wanted = names(PROJECT_TABLE["dependencies"])
    for extra in PROJECT_TABLE["optional-dependencies"].values():
        wanted |= names(extra)
    assert wanted <= set(locked())
    for block in re.split(r"\n(?=\S)", LOCK.strip()):
        assert "--hash=sha256:" in block, block.split("\n")[0]


def test_the_lock_names_no_index_and_no_path():
    assert not re.search(r"://|--index|--find-links|\s@\s|^-e|file:", LOCK, re.MULTILINE)


def test_the_stolen_releases_of_litellm_can_not_come_in():
    (requirement,) = [text for text in PROJECT_TABLE["dependencies"] if text.startswith("litellm")]
    assert "!=1.82.7" in requirement and "!=1.82.8" in requirement
    assert locked()["litellm"] not in ("1.82.7", "1.82.8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built offline by the project's own build backend."""
    place = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (file,) = place.glob("*.whl")
    return zipfile.ZipFile(file)


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile):
    there = {name for name in wheel.namelist() if name.startswith("steward/")}
    here = {
        str(path.relative_to(PROJECT))
        for path in (PROJECT / "steward").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert there == here
    assert "steward/manual/index.md" in there


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile):
    (folder,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert wheel.read(f"{folder}/entry_points.txt").decode().split() == [
        "[console_scripts]",
        "steward",
        "=",
        "steward.__main__:main",
    ]
    assert wheel.read(f"{folder}/licenses/LICENSE").decode().strip().startswith("Apache License")
    assert "Requires-Python: >=3.11" in wheel.read(f"{folder}/METADATA").decode()


def test_the_continuous_check_runs_the_test_command_of_the_readme():
    run = (PROJECT / ".ci" / "run").read_text()
    (pattern,) = re.findall(r"grep -m1 -E '([^']+)' README\.md", run)
    found = [line for line in (PROJECT / "README.md").read_text().split("\n") if re.search(pattern, line)]
    assert len(found) == 1
    assert run.rstrip().endswith('"$tests"')
    for tool in ("ruff format --check", "ruff check", "basedpyright", "lint-imports"):
        assert tool in run


@pytest.mark.parametrize(
    "name", ["LICENSE", "README.md", "AGENTS.md", "demo.tape", ".ci/run", "requirements.lock"]
)
def test_no_machine_stands_in_a_document(name: str):
    text = (PROJECT / name).read_text()
    assert str(Path.home()) not in text or Path.home() == Path("/")
    assert not re.search(r"index-url|/simple\b", text.replace("--no-emit-index-url", ""))
