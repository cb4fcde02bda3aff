"""The language-neutral cases."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.agents_md import Resolution, Resolver, Settings
from tests.agents_md.cases import Case, all_cases, build, needs_a_common_user
from tests.agents_md.common_user import as_common_user

CASES = all_cases()


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A directory that every user may enter, unlike those pytest gives."""
    path = Path(tempfile.mkdtemp(prefix="steward-case-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        for directory in path.rglob("*"):
            if directory.is_dir() and not directory.is_symlink():
                directory.chmod(0o755)
        shutil.rmtree(path)


def test_there_are_enough_cases_and_each_has_its_own_name() -> None:
    assert len(CASES) >= 60
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_resolves_as_written(case: Case, open_path: Path) -> None:
    build(case["tree"], open_path)
    settings = Settings(
        **case.get("settings", {}),
        user_documents=tuple(open_path / name for name in case.get("user", ())),
        read_files=tuple(open_path / name for name in case.get("read", ())),
    )

    def resolve() -> Resolution:
        workspace = open_path / case.get("workspace", ".")
        resolver = Resolver(workspace, settings, home=open_path / case.get("home", "nobody"))
        return resolver.resolve(case["target"])

    resolution = as_common_user(resolve) if needs_a_common_user(case) else resolve()
    assert list(resolution.paths) == case["documents"]
    assert resolution.outcome == case["outcome"]
    assert [item.path for item in resolution.skipped] == case.get("skipped", [])
    found = {
        "boundary": resolution.boundary,
        "limit": resolution.limit,
        "content": [document.text for document in resolution.documents],
        "kinds": [document.kind for document in resolution.documents],
        "scopes": [document.scope for document in resolution.documents],
        "causes": [item.cause for item in resolution.skipped],
        "notes": [note.path for note in resolution.notes],
    }
    assert {key: found[key] for key in found if key in case} == {
        key: case[key] for key in found if key in case
    }
