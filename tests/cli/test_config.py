"""``steward config``: values with their sources, and the file to edit."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import steward.config as settings
from steward.cli.config import config
from steward.config import known_keys
from tests.cli.documented import differences, shape_of
from tests.cli.program import Program


def test_every_setting_is_shown_with_its_source(steward: Program, monorepo: Path) -> None:
    (monorepo / ".steward").mkdir()
    (monorepo / ".steward/config.toml").write_text('[tools]\nignore = ["dist/"]\n')
    rows = {row["key"]: row for row in steward("config", "--json", STEWARD_LIMITS_ROUNDS="3").json}
    assert list(rows) == list(known_keys())
    assert differences(shape_of("config --json"), list(rows.values())) == []
    assert (rows["limits.rounds"]["value"], rows["limits.rounds"]["source"]) == ("3", "STEWARD_LIMITS_ROUNDS")
    assert rows["tools.ignore"]["source"] == ".steward/config.toml"
    assert rows["theme"]["source"] == "default"
    assert "STEWARD_LIMITS_ROUNDS" in steward("config", STEWARD_LIMITS_ROUNDS="3").out


def test_a_configuration_of_the_repository_that_asks_for_too_much_is_told_and_left_out(
    steward: Program, monorepo: Path
) -> None:
    (monorepo / ".steward").mkdir()
    (monorepo / ".steward/config.toml").write_text('model = "openai/x"\n')
    ran = steward("config")
    assert ran.code == 0 and "a repository may not set model" in ran.err and "openai/x" not in ran.out


def test_edit_begins_with_every_setting_explained_and_checks_what_was_saved(
    steward: Program, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncp "$1" "$(dirname "$0")/seen"\necho "rounds = 1" >> "$1"\n')
    editor.chmod(0o755)
    ran = steward("config", "edit", EDITOR=str(editor))
    assert "[limits]" in (tmp_path / "seen").read_text()
    # The line was put at the end, in the last table, where there is no such setting.
    assert ran.code == 2 and "there is no setting" in ran.err and "rounds" in ran.err
    assert steward("config", "edit").code == 2


def test_the_template_and_the_path_are_printed(steward: Program) -> None:
    assert "# rounds = 25" in steward("config", "template").out
    assert steward("config", "path").out.strip().endswith("steward/config.toml")


def test_an_unknown_key_is_refused_with_the_nearest_one_and_its_line(
    steward: Program, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('theme = "dark"\n\n[limits]\nruonds = 3\n')
    ran = steward("--config", str(file), "config")
    assert ran.code == 2 and "line 4" in ran.err and "limits.rounds" in ran.err
    file.write_text('modle = "x"\n')
    ran = steward("--config", str(file), "instructions")
    assert ran.code == 2 and "line 1" in ran.err and "model" in ran.err
    ran = steward("config", STEWARD_LIMITS_RUONDS="3")
    assert ran.code == 2 and "STEWARD_LIMITS_ROUNDS" in ran.err


def test_an_editor_that_fails_is_said_by_the_exit_code_alone(steward: Program, tmp_path: Path) -> None:
    ran = steward("config", "edit", EDITOR="false")
    assert ran.code == 1 and "Traceback" not in ran.err
    ran = steward("config", "edit", EDITOR=str(tmp_path / "no-such-editor"))
    assert ran.code == 2 and ran.err.count("\n") == 1 and "no-such-editor" in ran.err
    assert steward("config", "edit", EDITOR="vi '").code == 2


def test_a_file_that_another_process_makes_at_this_moment_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, explain = tmp_path / "config.toml", settings.template

    def slowly() -> str:
        file.write_text('theme = "dark"\n')
        return explain()

    monkeypatch.setattr(settings, "template", slowly)
    monkeypatch.setenv("VISUAL", "true")
    ran = CliRunner().invoke(config, ["edit", "--config", str(file)], standalone_mode=False)
    assert ran.return_value == 0
    assert file.read_text() == 'theme = "dark"\n'
