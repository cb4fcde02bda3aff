"""A key in a file of the repository: the model is not shown it, not even in pieces, and cannot write over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.events import ProposalMade, ToolFinished
from tests.support import asked, call, only, patch, plant, steward_in

SECRET = "gh" + "p_" + "16C7e42F292c6912E7710c838347Ae178B4a"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
TREE = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "settings.py": f'DEBUG = False\nTOKEN = "{SECRET}"\nTIMEOUT = 5\n',
    "deploy.py": f'KEY = """-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\n'
    '-----END PRIVATE KEY-----"""\nPORT = 1\n',
    ".env": f"TOKEN={SECRET}\n",
    ".netrc": f"machine h login u password {SECRET}\n",
    ".npmrc": f"//registry/:_authToken={SECRET}\n",
}
ASKS: list[dict[str, Any]] = [
    call("readFile", path="settings.py"),
    call("readFile", path="settings.py", startLine=2, lineCount=1),
    call("readFile", path="deploy.py", startLine=2, lineCount=2),
    call("searchFiles", query="TOKEN", context=2),
    call("searchFiles", query="ghp_[A-Za-z0-9]+", regex=True),
    call("searchFiles", query=SECRET[:12]),
    call("readFile", path=".env"),
    call("readFile", path=".netrc"),
    call("readFile", path=".npmrc"),
    patch("settings.py", "TIMEOUT = 5", "TIMEOUT = 6"),
    patch("settings.py", "TOKEN =  'x'", "TOKEN = 'y'"),
    patch("deploy.py", "PORT = 1", "PORT = 2"),
    call("readFile", path="settings.py"),
]


async def told(tmp_path: Path, settings: Settings | None = None) -> tuple[str, list[Any]]:
    """All that the model was sent while it asked in every way, and the events."""
    plant(tmp_path / "repository", TREE)
    replies: list[Any] = [*({"calls": [ask]} for ask in ASKS), {"text": "Done."}]
    steward, gateway = steward_in(tmp_path / "repository", replies, settings=settings)
    await steward.start()
    events = await asked(steward, "Look")
    await steward.close()
    assert only(events, ProposalMade)
    answers = [m["content"] for m in gateway.sent() if m["role"] == "tool"]
    assert len(answers) == len(ASKS)
    return "\n".join(answers), events


async def test_no_tool_gives_the_model_a_key(tmp_path: Path) -> None:
    text, events = await told(tmp_path)
    assert SECRET not in text and SECRET[6:30] not in text
    assert BODY not in text and BODY[::-1] not in text
    assert 'TOKEN = "[redacted GitHub token]"' in text and "[redacted private key]" in text
    shown = "\n".join(event.text for event in only(events, ToolFinished))
    assert "[redacted GitHub token]" in shown and SECRET not in shown


async def test_what_was_proposed_beside_a_key_keeps_it_byte_for_byte(tmp_path: Path) -> None:
    _, events = await told(tmp_path)
    proposal = only(events, ProposalMade)[-1].proposal
    file = proposal.file("settings.py")
    assert file is not None and file.result is not None
    assert file.result.decode() == TREE["settings.py"].replace("TIMEOUT = 5", "TIMEOUT = 6")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('TOKEN = "[redacted GitHub token]"', 'TOKEN = ""'),
        ("DEBUG = False\n", 'DEBUG = False\nOTHER = "[redacted GitHub token]"\n'),
    ],
)
async def test_a_mark_of_redaction_is_refused_on_either_side_of_a_patch(
    tmp_path: Path, old: str, new: str
) -> None:
    plant(tmp_path / "repository", TREE)
    steward, _ = steward_in(tmp_path / "repository", [])
    result = await steward.run_tool(
        "proposePatch", json.dumps({"path": "settings.py", "oldText": old, "newText": new})
    )
    assert not result.ok and "stands for a key that you are not shown" in result.text
    assert await steward.changes() == ()
    await steward.close()


async def test_settings_open_one_path_and_no_other(tmp_path: Path) -> None:
    settings = Settings.model_validate({"tools": {"unredacted": ["settings.py"]}})
    text, _ = await told(tmp_path, settings)
    assert f'TOKEN = "{SECRET}"' in text and BODY not in text


async def test_without_their_defences_each_key_would_be_told(tmp_path: Path) -> None:
    text, _ = await told(tmp_path, Settings.model_validate({"tools": {"redact": False, "secrets": True}}))
    assert text.count(SECRET) >= 8 and BODY in text
    for place in (f"TOKEN={SECRET}", f"password {SECRET}", f"_authToken={SECRET}", f'"{SECRET}"'):
        assert place in text


INSTRUCTED = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": f"# Rules\nLog in with {SECRET} first.\n",
    "src/AGENTS.md": f"# Source rules\nToken: {SECRET}\n",
    "src/app.py": "x = 1\n",
}


@pytest.mark.parametrize("refresh", ["append", "replace", "conversation"])
async def test_no_instruction_document_gives_the_model_a_key_and_each_counts_as_told(
    tmp_path: Path, refresh: Any
) -> None:
    settings = Settings.model_validate({"instructions": {"refresh": refresh}})
    plant(tmp_path / "repository", INSTRUCTED)
    change = {"calls": [patch("src/app.py", "1", "2")]}
    replies: list[Any] = [change, change, {"text": "Done."}]
    steward, gateway = steward_in(tmp_path / "repository", replies, settings=settings)
    await steward.start()
    events = await asked(steward, "Change it")
    (made,) = only(events, ProposalMade)
    assert {document.path for document in made.proposal.instructions} == {"AGENTS.md", "src/AGENTS.md"}
    sent = "".join(request.messages for request in gateway.requests)
    assert "Log in with [redacted GitHub token] first." in sent and "# Source rules" in sent
    assert SECRET not in sent
    assert "AGENTS.md holds what looks like a key; the model is shown [redacted …]" in str(events)
    await steward.close()


async def test_instruction_documents_are_opened_by_the_same_setting_as_files(tmp_path: Path) -> None:
    settings = Settings.model_validate({"tools": {"unredacted": ["/AGENTS.md"]}})
    plant(tmp_path / "repository", INSTRUCTED)
    steward, gateway = steward_in(
        tmp_path / "repository",
        [{"calls": [call("readFile", path="src/app.py")]}, {"text": "x"}],
        settings=settings,
    )
    await steward.start()
    await asked(steward, "Look")
    sent = gateway.requests[-1].messages
    assert f"Log in with {SECRET}" in sent and f"Token: {SECRET}" not in sent
    await steward.close()
