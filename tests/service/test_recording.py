"""What leaves the house in an export: a script that says enough, a page to read, and no key in either."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steward.config import Settings
from steward.conversation import Assistant, System, User
from steward.model.again import arguments_for
from steward.model.scriptfile import parse_script
from steward.service import House
from steward.service.recording import exported
from steward.service.replay import parse_header, replay
from steward.service.tree import Piece
from tests.support import TREE, asked, call, patch, plant, steward_in

OPENAI = "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq4\n-----END RSA PRIVATE KEY-----"


async def held(root: Path, replies: list[Any], *questions: str, **settings: Any) -> tuple[str, str, House]:
    steward, _ = steward_in(plant(root / "repository"), replies, settings=Settings.model_validate(settings))
    for question in questions:
        await asked(steward, question)
    script, page = await steward.export(), await steward.export(form="markdown")
    await steward.close()
    return script, page, House(root / "repository", Settings(), state=root / "state")


async def test_keys_are_taken_out_of_all_that_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "plainly-no-shape")
    replies = [
        {
            "text": f"Your key is {OPENAI}.",
            "reasoning": f"The key {OPENAI} works.",
            "calls": [
                call("searchFiles", query=OPENAI),
                patch("web/page.js", "nowhere", f"{PEM}\nplainly-no-shape"),
            ],
        },
        {"text": f"And {PEM}; and hunter2hunter2; and plainly-no-shape."},
    ]
    script, page, house = await held(
        tmp_path, replies, f"My key is {OPENAI}", options={"api_key": "hunter2hunter2", "temperature": 0.5}
    )
    for secret in (OPENAI, "MIIEowIBAAKCAQEA7bq4", "hunter2hunter2", "plainly-no-shape"):
        assert secret not in script and secret not in page
        assert secret not in json.dumps(json.loads(parse_script("x", script)[0]["calls"][1]["arguments"]))
    assert "[redacted" in script and "[redacted" in page
    assert parse_header(script)["redacted"] is True
    assert not any("request" in entry for entry in parse_script("x", script))
    house.close()


async def test_a_session_without_keys_is_exported_byte_for_byte(tmp_path: Path) -> None:
    raw = '{ "path" : "src/app.py" }'
    script, page, house = await held(
        tmp_path,
        [{"text": "a\ud83d\u2028 b", "calls": [{"name": "readFile", "arguments": raw}]}, {"text": "ok"}],
        "?",
    )
    assert script.encode() and page.encode()
    entries = parse_script("x", script)
    assert entries[0]["calls"][0]["arguments"] == raw
    assert entries[0]["text"] == "a\ud83d\u2028 b"
    assert parse_header(script)["redacted"] is False
    house.close()


async def test_the_page_tells_what_was_asked_answered_called_and_refused(tmp_path: Path) -> None:
    replies = [
        {
            "text": "Looking.",
            "calls": [call("readFile", path="src/app.py"), call("readFile", path="no`where")],
        },
        {"text": "It is **41**."},
        {"text": "Yes."},
    ]
    _, page, house = await held(tmp_path, replies, "What\nis it?", "Sure?")
    lines = page.split("\n")
    assert lines[0] == "# What is it?"
    assert "> What" in lines and "> is it?" in lines and "> Sure?" in lines
    assert (
        page.index("Looking.")
        < page.index("- readFile `")
        < page.index("It is **41**.")
        < page.index("> Sure?")
    )
    (read, refused) = (line for line in lines if line.startswith("- readFile"))
    assert read.endswith(" characters") and "return 41" not in page
    assert "refused: " in refused and refused.count("`") == 2
    assert "steward-note" not in page
    house.close()


async def test_a_session_is_exported_by_its_id_without_a_model(tmp_path: Path) -> None:
    script, page, house = await held(tmp_path, [{"text": "Yes."}], "Hello")
    session = parse_header(script)["session"]
    assert exported(house, session) == script
    assert exported(house, None, "markdown") == page
    assert exported(house, session[:12]) == script
    house.close()


async def test_a_compacted_session_is_told_up_to_there_and_says_so(tmp_path: Path) -> None:
    script, _, house = await held(tmp_path, [{"text": "One."}, {"text": "Two."}], "First", "Second")
    session = parse_header(script)["session"]
    later = (System("Again."), User("A summary."), Assistant("I see."))
    house.sessions.append(session, len(house.sessions.messages(session)), later, begins=5)
    compacted = exported(house, session)
    assert parse_script("x", compacted) == parse_script("x", script)
    assert parse_header(script)["complete"] is True and parse_header(compacted)["complete"] is False
    page = exported(house, session, "markdown")
    assert page.index("> Second") < page.index("compacted here") < page.index("> A summary.")
    house.close()


async def test_replaying_with_instructions_recomposed_each_round_compares_nothing(tmp_path: Path) -> None:
    script, _, house = await held(tmp_path, [{"text": "Yes."}], "Hello", instructions={"refresh": "replace"})
    assert not any("request" in entry for entry in parse_script("x", script))
    house.close()
    pieces = (Piece(path, "file", text.encode()) for path, text in TREE.items())
    found = await replay(script, pieces)
    assert ([one.same for one in found.compared], found.differences) == ([None], ())


def test_wrong_arguments_are_wrong_in_the_same_way() -> None:
    assert arguments_for("readFile", "There is no tool 'x'.") is None
    assert arguments_for("readFile", "Wrong arguments for readFile: path is missing.") is None


async def test_a_script_that_holds_the_files_holds_no_key_of_them(tmp_path: Path) -> None:
    _, _, house = await held(tmp_path, [{"text": "Yes."}], "Hello")
    plant(house.workspace.root, {"config.py": f'KEY = "{OPENAI}"\n', ".env": f"KEY={OPENAI}\n"})
    script = exported(house, None, files=True)
    assert OPENAI not in script and "[redacted" in script
    assert parse_header(script)["redacted"] is False, "requests can be compared all the same"
    found = await replay(script)
    assert found.differences == () and 5 < found.files <= parse_header(script)["files"]
    house.close()
