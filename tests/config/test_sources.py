"""Every value with its source, and the commented file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

from steward.config import Settings, known_keys, load, load_with_sources, parse_repository, shown, template
from steward.config import with_repository as joined
from steward.config.keys import scalars


def test_every_setting_is_shown_with_where_it_was_said(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[instructions]\nfiles = ["a.md"]\n[options]\napi_key = "sk-secret"\nbase = "http://u:p@h/v1"\n'
    )
    loaded = load_with_sources(file, {"STEWARD_MODEL": "x/y"})
    settings = joined(
        loaded.settings, parse_repository(b'[tools]\nignore=["dist"]\n[instructions]\nfiles=["b.md"]\n')
    )
    rows = {row.key: row for row in shown(settings, loaded.sources, loaded.settings)}
    assert list(rows) == list(known_keys())
    assert (rows["model"].value, rows["model"].source) == ('"x/y"', "STEWARD_MODEL")
    assert (rows["tools.ignore"].value, rows["tools.ignore"].source) == ('["dist"]', ".steward/config.toml")
    assert rows["instructions.files"].source == "config.toml, .steward/config.toml"
    assert rows["limits.rounds"].source == "default"
    assert rows["options"].value == '{api_key = "•••", base = "http://•••@h/v1"}'
    assert all(row.help for row in rows.values())


def test_a_number_of_tokens_is_no_secret() -> None:
    settings = Settings(
        options={"max_tokens": 100, "thinking": {"budget_tokens": 9}, "token": 5, "tokens": "ab"}
    )
    (row,) = (row for row in shown(settings, {}) if row.key == "options")
    assert row.value == '{max_tokens = 100, thinking = {budget_tokens = 9}, token = "•••", tokens = "•••"}'


def test_the_commented_file_means_the_defaults_and_names_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(template(), "utf-8")
    assert load(file, {}) == Settings()
    # With its marks taken away every line that sets something is a setting that the schema accepts.
    bare = re.sub(r"^# (?=[a-z_]+ = )", "", template(), flags=re.MULTILINE)
    shape = tomllib.loads(bare)
    written: set[str] = set()
    for key, value in shape.items():
        written |= (
            {f"{key}.{name}" for name in cast(dict[str, Any], value)} if isinstance(value, dict) else {key}
        )
    assert written == set(scalars())
    assert Settings.model_validate(shape) == Settings()
