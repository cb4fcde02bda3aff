"""``sessions``, ``rename-session``, ``delete-session``, and going on with a session from the shell."""

from __future__ import annotations

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
