"""An editor's side of the protocol, from the package's own client, over a subprocess."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Program
from tests.monorepo import copy_monorepo


@pytest.fixture
def steward(tmp_path: Path) -> Program:
    """The program, standing beside the monorepo rather than in it."""
    (tmp_path / "home").mkdir()
    copy_monorepo(tmp_path / "shop")
    return Program(tmp_path, tmp_path / "home")
