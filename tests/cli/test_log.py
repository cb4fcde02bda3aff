"""Warnings go to a private file and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.cli import log


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A state directory, and the loggers as they were afterwards."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield tmp_path / "state"
    for handler in root.handlers[:]:
        if handler not in before:
            root.removeHandler(handler)
            handler.close()
    root.setLevel(level)


def test_nothing_is_made_until_there_is_something_to_say(state: Path, capsys: pytest.CaptureFixture[str]):
    log.log_to(state)
    assert not state.exists()
    logging.getLogger("steward.somewhere").warning("a fact")
    written = (state / "steward.log").read_text()
    assert "steward.somewhere WARNING a fact" in written
    assert (state / "steward.log").stat().st_mode & 0o777 == 0o600
    assert "a fact" not in capsys.readouterr().err


def test_a_large_log_is_begun_anew(state: Path):
    state.mkdir()
    (state / "steward.log").write_bytes(b"x" * (log.MAX_BYTES + 1))
    log.log_to(state)
    logging.getLogger("steward").error("a fact")
    assert (state / "steward.log").stat().st_size < 1000


def test_a_log_that_cannot_be_written_disturbs_nobody(state: Path, capsys: pytest.CaptureFixture[str]):
    state.write_text("a file stands where the directory should be")
    log.log_to(state)
    logging.getLogger("steward").error("a fact")
    assert capsys.readouterr().err == ""
