"""When a helper is forked at all: where the kernel can confine, and the person has not said otherwise."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steward.cli import door
from steward.config import Settings
from steward.confine.outside import Outside


def forked(monkeypatch: pytest.MonkeyPatch, settings: Settings, version: int) -> bool:
    asked: list[bool] = []

    def behind_helper(worker: Callable[[], object], *, programs: bool) -> Outside:
        asked.append(programs)
        return Outside()

    monkeypatch.setattr(Outside, "behind_helper", behind_helper)
    monkeypatch.setattr(door, "abi", lambda: version)
    assert not door.outside_for(settings, programs=True).helped
    return asked == [True]


def test_without_landlock_or_with_the_switch_off_everything_is_started_directly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert forked(monkeypatch, Settings(), 7)
    assert not forked(monkeypatch, Settings(), 0)
    assert not forked(monkeypatch, Settings.model_validate({"confine": False}), 7)


def test_a_file_that_a_person_names_is_made_with_their_own_mask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        os.close(Outside().new_file(tmp_path / "new"))
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
