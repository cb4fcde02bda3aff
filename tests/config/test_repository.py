"""What a repository may say in ``.steward/config.toml``, and what it may not."""

from __future__ import annotations

import pytest

from steward.config import Settings, known_keys, parse_repository, with_repository
from steward.config.repository import ALLOWED, MAX_BYTES
from steward.config.sources import written
from steward.errors import ConfigError


def refused(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_repository(text.encode())
    return str(caught.value)


def test_it_may_name_its_own_files_and_they_join_those_of_the_person() -> None:
    repository = parse_repository(
        b'[tools]\nignore = ["dist/"]\n[instructions]\nfallback_names = ["COPILOT.md"]\nfiles = ["docs/*.md"]\n'
        b'[skills]\ndirectories = ["tools/skills"]\n'
    )
    own = Settings.model_validate({"tools": {"ignore": ["*.log"]}, "instructions": {"files": ["~/mine.md"]}})
    joined = with_repository(own, repository)
    assert joined.tools.ignore == ("*.log", "dist/")
    assert joined.instructions.files == ("~/mine.md", "docs/*.md")
    assert joined.instructions.fallback_names == ("COPILOT.md",)
    assert joined.skills.directories == ("tools/skills",)
    assert joined.limits == own.limits and joined.options == own.options


def test_fallback_names_of_the_person_win() -> None:
    repository = parse_repository(b'[instructions]\nfallback_names = ["THEIRS.md"]\n')
    own = Settings.model_validate({"instructions": {"fallback_names": ["MINE.md"]}})
    assert with_repository(own, repository).instructions.fallback_names == ("MINE.md",)


@pytest.mark.parametrize("key", sorted(set(known_keys()) - set(ALLOWED)))
def test_it_may_set_nothing_else(key: str) -> None:
    table, _, name = key.rpartition(".")
    value = {
        "model": '"openai/x"', "theme": '"dark"', "mouse": "true", "confine": "false",
        "options": '{api_base = "http://127.0.0.1:1"}', "profile": '{a = {model = "openai/x"}}',
        "instructions.refresh": '"replace"', "instructions.boundary": '"outermost"',
        "instructions.keep": '"broadest"', "tools.unredacted": '["*"]',
    }.get(key)  # fmt: skip
    field: object = Settings()
    for part in key.split("."):
        field = getattr(field, part)
    value = value or written(field)
    text = f"# first line\n[{table}]\n{name} = {value}\n" if table else f"# first line\n\n{name} = {value}\n"
    said = refused(text)
    assert f"line 3: a repository may not set {key}" in said or f"{key}: " in said, said


def test_an_unknown_key_is_refused_with_the_nearest_one_it_may_set_and_its_line() -> None:
    said = refused('[tools]\nignores = ["a"]\n')
    assert "line 2" in said and "tools.ignore?" in said


@pytest.mark.parametrize(
    "entry", ["/etc/passwd", "~/.ssh/id", "../up.md", "a/../../b", "https://evil/x.md", "file://x", "c:\\x", "\\\\h\\s"]
)  # fmt: skip
def test_a_file_or_folder_outside_the_repository_is_refused(entry: str) -> None:
    written = entry.replace("\\", "\\\\")
    assert "inside the repository" in refused(f'[instructions]\nfiles = ["{written}"]\n')
    assert "inside the repository" in refused(f'[skills]\ndirectories = ["{written}"]\n')


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"a = [",
        b"x" * (MAX_BYTES + 1),
        b"a = " + b"[" * 5000,
        b"tools = 1\n",
        b"[tools.ignore.x]\ny=1\n",
    ],
)
def test_what_cannot_be_read_is_one_sentence(data: bytes) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_repository(data)
    assert "\n" not in str(caught.value) and str(caught.value).startswith(".steward/config.toml")
