"""Settings from STEWARD_* variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from steward.config import Settings, known_keys, load, load_with_sources
from steward.config.environment import variable
from steward.config.keys import fields, kind_of, scalars
from steward.errors import ConfigError


def test_a_variable_wins_over_the_file_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[limits]\nrounds = 3\nturn_seconds = 9\n")
    loaded = load_with_sources(file, {"STEWARD_LIMITS_ROUNDS": "7", "STEWARD_MODEL": "a/b", "HOME": "/x"})
    assert (loaded.settings.limits.rounds, loaded.settings.limits.turn_seconds) == (7, 9)
    assert loaded.sources == {
        "limits.rounds": "STEWARD_LIMITS_ROUNDS",
        "limits.turn_seconds": "config.toml",
        "model": "STEWARD_MODEL",
    }


def test_lists_texts_and_switches_are_written_plainly() -> None:
    settings = load(
        None,
        {
            "STEWARD_TOOLS_IGNORE": "dist/, *.log",
            "STEWARD_INSTRUCTIONS_FILES": '["a,b.md"]',
            "STEWARD_MOUSE": "false",
            "STEWARD_THEME": "dark",
            "STEWARD_CONFINE": "",
        },
    )
    assert settings.tools.ignore == ("dist/", "*.log")
    assert settings.instructions.files == ("a,b.md",)
    assert (settings.mouse, settings.theme, settings.confine) == (False, "dark", True)


def test_every_setting_but_tables_has_a_variable_and_no_two_share_one() -> None:
    assert set(known_keys()) - set(scalars()) == {key for key, field in fields() if kind_of(field) == "table"}
    assert len({variable(key) for key in known_keys()}) == len(list(known_keys()))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("STEWARD_LIMIT_ROUNDS", "3", "Did you mean STEWARD_LIMITS_ROUNDS?"),
        ("STEWARD_LIMITS_ROUNDS", "many", "STEWARD_LIMITS_ROUNDS: limits.rounds"),
        ("STEWARD_LIMITS_ROUNDS", "0", "STEWARD_LIMITS_ROUNDS: limits.rounds"),
        ("STEWARD_THEME", "pink", "STEWARD_THEME: theme"),
    ],
)
def test_a_wrong_variable_is_refused_by_name(name: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        load(None, {name: value})


def test_the_directory_of_state_is_no_setting() -> None:
    assert load(None, {"STEWARD_STATE_DIR": "/x"}) == Settings()
