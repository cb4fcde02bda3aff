"""``sessions``, ``rename-session``, ``delete-session``, and going on with a session from the shell."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.program import Program
from tests.monorepo import script

ANSWER = ("--quiet", "--model", script("answer.jsonl"))


def test_sessions_are_searched_renamed_gone_on_with_and_deleted(steward: Program):
    steward("ask", "first question", *ANSWER)
    steward("ask", "another one", *ANSWER)
    assert [row["title"] for row in steward("sessions", "--json").json] == ["another one", "first question"]
    (found,) = steward("sessions", "--search", "FIRST", "--json").json
    assert found["title"] == found["found"] == "first question"
    assert steward("rename-session", found["id"][:13], "The", "tax  talk").code == 0
    assert "The tax talk" in steward("sessions").out
    assert steward("ask", "once more", "--resume", found["id"].partition("-")[2][:6], *ANSWER).code == 0
    assert steward("sessions", "--json").json[0]["messages"] == 5
    assert steward("delete-session", found["id"]).code == 0
    assert [row["title"] for row in steward("sessions", "--json").json] == ["another one"]
    assert steward("delete-session", found["id"]).code == 4
    assert "No session holds" in steward("sessions", "--search", "tax").out


def test_a_session_that_is_not_there_or_named_too_shortly_is_said(steward: Program):
    assert steward("ask", "x", "--continue", *ANSWER).code == 4
    steward("ask", "one", *ANSWER)
    steward("ask", "two", *ANSWER)
    short = steward("ask", "x", "--resume", "20", *ANSWER)
    assert short.code == 2 and "Several sessions begin with 20" in short.err
    assert steward("ask", "x", "--continue", "--resume", "20", *ANSWER).code == 2
    assert steward("rename-session", "20").code == 2


def test_a_session_is_exported_as_a_page_in_which_nothing_is_hidden(steward: Program, tmp_path: Path):
    text = "It is \u202e42\x1b[31m."
    (tmp_path / "hidden.jsonl").write_text(json.dumps({"text": text, "calls": []}) + "\n")
    steward("ask", "What is it?", "--quiet", "--model", f"script/{tmp_path / 'hidden.jsonl'}")
    (row,) = steward("sessions", "--json").json
    page = steward("sessions", "--export", row["id"][:13])
    assert page.code == 0 and page.out.startswith("# What is it?\n") and "> What is it?" in page.out
    assert "\x1b" not in page.out and "\u202e" not in page.out and "⟨U+202E⟩" in page.out
    assert steward("sessions", "--export", "last").out == page.out
    assert steward("sessions", "--export", "last", "--output", "talk.md").code == 0
    assert (steward.directory / "talk.md").read_text().rstrip("\n") == page.out.rstrip("\n")


def test_an_exported_script_is_without_keys_and_never_takes_the_place_of_a_file(steward: Program):
    key = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
    steward("ask", f"Why is {key} refused?", *ANSWER)
    ran = steward("sessions", "--export", "last", "--output", "talk.jsonl")
    assert ran.code == 0 and "talk.jsonl" in ran.err and ran.out == ""
    text = (steward.directory / "talk.jsonl").read_text()
    assert text.startswith("# steward session ") and key not in text and "[redacted" in text
    assert steward("sessions", "--export", "last", "--format", "script").out == text
    again = steward("sessions", "--export", "last", "--output", "talk.jsonl")
    assert again.code == 2 and "exists and was left alone" in again.err


def test_what_goes_with_an_export_goes_with_nothing_else(steward: Program):
    steward("ask", "one", *ANSWER)
    for wrong in (
        ("--output", "x.md"),
        ("--export", "last", "--json"),
        ("--export", "last", "--search", "one"),
        ("--export", "last", "--with-files"),
    ):
        assert steward("sessions", *wrong).code == 2, wrong
    assert steward("sessions", "--export", "20200101-nowhere").code == 4
    assert steward("sessions", "--export", "last", "--output", "no/such/place.md").code == 1
