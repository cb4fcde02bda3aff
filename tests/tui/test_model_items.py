"""What the model picker says of each model, and what typing in it finds."""

from __future__ import annotations

from steward.model.choices import ModelChoice
from steward.tui.screens.pages import model_items

HOSTED = ModelChoice(
    "openai/gpt-5", "api.openai.com", 400_000, 1.25, 10.0, True, "OPENAI_API_KEY", "fit for changes"
)
LOCAL = ModelChoice("ollama/gemma2:2b", "127.0.0.1:11434", 8_192, tools=False, found="Ollama")
UNKNOWN = ModelChoice("my/own", "llm.example", found="in use")


def test_a_row_says_size_price_origin_tools_and_what_the_exam_said() -> None:
    (row,) = model_items([HOSTED], "openai/gpt-5")
    assert row.badge == "in use"
    assert row.note == "400k window · $1.25 in, $10 out per million"
    assert row.detail == "api.openai.com, key in OPENAI_API_KEY · takes tools · last exam: fit for changes"


def test_a_model_of_this_machine_has_no_price_and_says_which_server_has_it() -> None:
    (row,) = model_items([LOCAL], "openai/gpt-5")
    assert (row.badge, row.note) == ("", "8.2k window")
    assert row.detail == "Ollama at 127.0.0.1:11434 · takes no tools · not examined"


def test_what_nobody_knows_is_called_unknown() -> None:
    (row,) = model_items([UNKNOWN], "my/own")
    assert row.note == "window unknown · price unknown"
    assert row.detail == "llm.example · tools unknown · not examined"


def test_a_million_tokens_are_written_short() -> None:
    (row,) = model_items([ModelChoice("a/b", "c", 1_048_576)], "")
    assert row.note.startswith("1.05M window")
