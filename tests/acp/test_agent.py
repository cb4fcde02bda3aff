"""An editor asks, watches, gets a diff, and never writes through the protocol."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import FileEditToolCallContent

from tests.acp.editor import connected
from tests.cli.program import Program
from tests.monorepo import script

TAX = "services/billing/billing/tax.py"


async def test_a_question_is_answered_with_calls_and_a_diff_and_nothing_is_written(steward: Program):
    root = steward.directory / "shop"
    before = (root / TAX).read_bytes()
    async with connected(steward, script("demo.jsonl")) as (agent, editor):
        session = await agent.new_session(cwd=str(root), mcp_servers=[])
        done = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Why 9 cents?")])
    assert done.stop_reason == "end_turn"
    assert "Nothing is written yet." in editor.said
    assert [call.title for call in editor.started] == [
        "searchFiles services",
        f"readFile {TAX}",
        "readFile services/billing/tests/test_tax.py",
        f"proposePatch {TAX}",
        "proposePatch services/billing/tests/test_tax.py",
    ]
    assert [call.kind for call in editor.started] == ["search", "read", "read", "edit", "edit"]
    assert all(editor.last(call.tool_call_id).status == "completed" for call in editor.started)
    patched = editor.last(editor.started[3].tool_call_id)
    (diff,) = [c for c in patched.content or [] if isinstance(c, FileEditToolCallContent)]
    assert diff.path == str(root / TAX)
    assert diff.old_text == before.decode() and "+ 5000" in diff.new_text
    assert "steward apply-change change-001" in json.dumps([c.model_dump() for c in patched.content or []])
    assert editor.asked == []
    assert (root / TAX).read_bytes() == before
    inside = Program(root, steward.home)
    assert [change["status"] for change in inside("changes", "--json").json] == ["pending"]


async def test_a_turn_can_be_cancelled(steward: Program):
    async with connected(steward, script("slow.jsonl")) as (agent, editor):
        session = await agent.new_session(cwd=str(steward.directory / "shop"), mcp_servers=[])
        turn = asyncio.create_task(
            agent.prompt(session_id=session.session_id, prompt=[acp.text_block("count")])
        )
        while "one two" not in editor.said:
            await asyncio.sleep(0.05)
        await agent.cancel(session_id=session.session_id)
        assert (await asyncio.wait_for(turn, 30)).stop_reason == "cancelled"


async def test_a_model_that_fails_is_an_error_with_one_sentence(steward: Program):
    async with connected(steward, script("broken.jsonl")) as (agent, _):
        session = await agent.new_session(cwd=str(steward.directory / "shop"), mcp_servers=[])
        with pytest.raises(acp.RequestError) as failure:
            await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("q")])
    assert "would not" in str(failure.value.data)


async def test_two_sessions_do_not_mix(steward: Program, tmp_path: Path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "only.txt").write_text("only here\n")
    rounds: list[dict[str, Any]] = [{"calls": [{"name": "listFiles", "arguments": {}}]}, {"text": "done"}]
    (tmp_path / "script.jsonl").write_text("\n".join(map(json.dumps, rounds)))
    async with connected(steward, f"script/{tmp_path / 'script.jsonl'}") as (agent, editor):
        for name, inside in (("shop", "services"), ("other", "only.txt")):
            editor.updates.clear()
            session = await agent.new_session(cwd=str(tmp_path / name), mcp_servers=[])
            await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("list")])
            assert inside in editor.last(editor.started[0].tool_call_id).model_dump_json()


async def test_what_cannot_be_opened_or_taken_is_refused(steward: Program):
    async with connected(steward, script("answer.jsonl")) as (agent, _):
        with pytest.raises(acp.RequestError):
            await agent.new_session(cwd=str(steward.directory / "missing"), mcp_servers=[])
        with pytest.raises(acp.RequestError):
            await agent.prompt(session_id="none", prompt=[acp.text_block("q")])
        session = await agent.new_session(cwd=str(steward.directory / "shop"), mcp_servers=[])
        with pytest.raises(acp.RequestError):
            await agent.prompt(session_id=session.session_id, prompt=[acp.image_block("", "image/png")])


async def test_embedded_text_is_laid_beside_the_question(steward: Program):
    async with connected(steward, script("answer.jsonl")) as (agent, editor):
        session = await agent.new_session(cwd=str(steward.directory / "shop"), mcp_servers=[])
        embedded = acp.resource_block(acp.embedded_text_resource("file:///x.py", "x = 1"))
        done = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("why?"), embedded])
    assert (done.stop_reason, editor.said) == ("end_turn", "Forty-two.\n")


def test_without_the_package_one_sentence_says_how_to_get_it(steward: Program, tmp_path: Path):
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sitecustomize.py").write_text("import sys\nsys.modules['acp'] = None\n")
    ran = steward("acp", PYTHONPATH=f"{tmp_path / 'block'}:{steward.environment['PYTHONPATH']}")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == "steward: The editor protocol is not installed; pip install 'repository-steward[acp]' adds it.\n"
    )


@pytest.mark.parametrize("reader", ["cat", "true"])
def test_lines_that_are_no_json_are_passed_over_and_nothing_but_the_protocol_is_printed(
    steward: Program, reader: str
):
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(steward.command('acp'))} | {reader}; exit ${{PIPESTATUS[0]}}"],
        cwd=steward.directory,
        env=steward.environment,
        input=f"garbage\n[[[\n{json.dumps(asked)}\n".encode(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if reader == "cat":
        (answer,) = done.stdout.splitlines()
        assert json.loads(answer)["id"] == 1
