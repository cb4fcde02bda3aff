"""What is read of Python's module path once the doors are closed: what an installer put there, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.confine.libraries import libraries
from tests.support import plant


def read(monkeypatch: pytest.MonkeyPatch, *entries: Path) -> set[Path]:
    monkeypatch.setattr("sys.path", [str(entry) for entry in entries])
    return set(libraries())


def test_a_folder_that_an_installer_filled_is_read_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = plant(tmp_path / "opt", {"yaml/__init__.py": "", "PyYAML-6.0.2.dist-info/METADATA": ""})
    assert target in read(monkeypatch, target)


def test_of_a_folder_of_sources_only_the_packages_that_are_needed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = plant(
        tmp_path / "work", {"textual/__init__.py": "", "letters/__init__.py": "", "diary.txt": "private\n"}
    )
    found = read(monkeypatch, sources)
    assert sources / "textual" in found
    assert not {sources, sources / "letters", sources / "diary.txt"} & found


def test_the_current_directory_is_never_read_for_being_on_the_module_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, {"yaml/__init__.py": "", "x.dist-info/METADATA": ""})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", "."])
    assert not {path for path in libraries() if path.is_relative_to(tmp_path) or not path.is_absolute()}


def test_packages_that_an_installer_has_linked_are_read_where_they_really_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = plant(tmp_path / "store", {"yaml/__init__.py": ""})
    packages = plant(tmp_path / "lib/site-packages", {"x.dist-info/METADATA": ""})
    (packages / "yaml").symlink_to(store / "yaml")
    assert {packages, store / "yaml"} <= read(monkeypatch, packages)
