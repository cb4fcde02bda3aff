"""A copied monorepo and the program in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import copy_monorepo


@pytest.fixture
def monorepo(tmp_path: Path) -> Path:
    """The small monorepo, in a place of its own."""
    return copy_monorepo(tmp_path / "shop")


@pytest.fixture
def steward(monorepo: Path, tmp_path: Path) -> Program:
    """The program, standing in the monorepo."""
    home = tmp_path / "home"
    home.mkdir()
    return Program(monorepo, home)
