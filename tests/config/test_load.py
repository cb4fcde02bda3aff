"""Settings are checked at the door; a wrong one is named with its line."""

from pathlib import Path

import pytest

from steward.config import Settings, known_keys, load
from steward.config.keys import fields
from steward.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text, "utf-8")
    return file


def test_a_missing_file_means_the_defaults(tmp_path: Path) -> None:
    assert load(tmp_path / "config.toml", {}) == Settings()


def test_a_missing_file_that_was_named_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no configuration file mine\.toml"):
        load(tmp_path / "mine.toml", {}, required=True)


def test_the_environment_lies_over_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, 'model = "a/b"\n[limits]\nrounds = 3\n')
    settings = load(file, {"STEWARD_MODEL": "c/d"})
    assert (settings.model, settings.limits.rounds) == ("c/d", 3)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("modle = 'x'\n", "config.toml, line 1: there is no setting modle. Did you mean model?"),
        (
            "\n[limits]\nround = 3\n",
            "config.toml, line 3: there is no setting limits.round. Did you mean limits.rounds?",
        ),
        (
            "[limits]\nrounds = 0\n",
            "config.toml, line 2: limits.rounds: input should be greater than or equal to 1.",
        ),
        (
            "[instructions]\nkeep = 'all'\n",
            "config.toml, line 2: instructions.keep: input should be 'closest' or 'broadest'.",
        ),
        ("instructions.max_depth = -1\n", "config.toml, line 1: instructions.max_depth: input should be"),
        ("model = \n", "config.toml is not valid TOML: Invalid value (at line 1"),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_its_line(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(tmp_path, text), {})
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"model = '\xff'")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 9"):
        load(tmp_path / "config.toml", {})


def test_every_setting_has_a_sentence_for_the_manual() -> None:
    keys = list(known_keys())
    assert "instructions.max_depth" in keys and "options" in keys
    assert all(field.description for _, field in fields())
