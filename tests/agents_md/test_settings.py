"""Settings that make no sense are refused when they are made."""

from __future__ import annotations

from typing import Any

import pytest

from steward.agents_md import Settings


@pytest.mark.parametrize(
    "given",
    [
        {"max_depth": 0},
        {"max_depth": -1},
        {"max_depth": True},
        {"max_depth": 1.5},
        {"max_depth": "32"},
        {"max_documents": 0},
        {"max_documents": 10**9},
        {"max_document_bytes": 0},
        {"max_total_bytes": -5},
        {"max_total_bytes": None},
        {"boundary": "furthest"},
        {"keep": "largest"},
        {"enabled": "yes"},
        {"fallback_names": "CLAUDE.md"},
        {"fallback_names": ["docs/CLAUDE.md"]},
        {"fallback_names": [".."]},
        {"fallback_names": [""]},
        {"fallback_names": ["A\0"]},
        {"fallback_names": ["AGENTS.md"]},
        {"fallback_names": ["CLAUDE.md", "CLAUDE.md"]},
        {"fallback_names": [7]},
        {"files": "docs/rules.md"},
        {"files": [" "]},
        {"files": ["a\0b"]},
        {"files": ["ftp://rules.example/x"]},
        {"files": ["file:///etc/passwd"]},
        {"files": ["https://"]},
        {"user_documents": "x.md"},
        {"user_documents": [3]},
        {"read_files": [""]},
        {"location": 5},
    ],
)
def test_nonsense_is_refused_in_one_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        Settings(**given)


def test_lists_from_a_configuration_file_become_tuples() -> None:
    settings = Settings(fallback_names=["GEMINI.md"], files=["docs/*.md"])  # pyright: ignore[reportArgumentType]
    assert settings.fallback_names == ("GEMINI.md",)
    assert settings.files == ("docs/*.md",)
    assert hash(settings) == hash(Settings(fallback_names=("GEMINI.md",), files=("docs/*.md",)))
