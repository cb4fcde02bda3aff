"""An editor finds the stored sessions, and gets a whole conversation told again, from another process too."""

from __future__ import annotations

import acp
import pytest
from acp.schema import AgentThoughtChunk, TextContentBlock, UserMessageChunk

from steward.storage import Database, SessionStore
from tests.acp.editor import Editor, connected
from tests.cli.program import Program
from tests.monorepo import script


def asked(editor: Editor) -> list[str]:
    """The questions an editor was told of."""
    chunks = [u.content for u in editor.updates if isinstance(u, UserMessageChunk)]
    return [chunk.text for chunk in chunks if isinstance(chunk, TextContentBlock)]


async def test_a_session_is_told_again_and_goes_on_in_another_process(steward: Program):
    root = str(steward.directory / "shop")
    async with connected(steward, script("demo.jsonl")) as (agent, first):
        session = (await agent.new_session(cwd=root, mcp_servers=[])).session_id
        await agent.prompt(session_id=session, prompt=[acp.text_block("Why 9 cents?")])
    async with connected(steward, script("answer.jsonl")) as (agent, editor):
        await agent.load_session(cwd=root, session_id=session, mcp_servers=[])
        assert asked(editor) == ["Why 9 cents?"]
        assert editor.said == first.said
        assert [call.title for call in editor.started] == [call.title for call in first.started]
        assert all(editor.last(call.tool_call_id).status == "completed" for call in editor.started)
        told = {call.tool_call_id for call in editor.started}
        editor.updates.clear()
        await agent.prompt(session_id=session, prompt=[acp.text_block("And now?")])
        assert "Forty-two" in editor.said
        assert not told & {call.tool_call_id for call in editor.started}
    inside = Program(steward.directory / "shop", steward.home)
    assert [row["id"] for row in inside("sessions", "--json").json] == [session]


async def test_a_session_of_the_command_line_is_listed_and_loaded(steward: Program):
    root = steward.directory / "shop"
    inside = Program(root, steward.home)
    for question in ("first thing", "second thing"):
        assert inside("ask", question, "--quiet", "--model", script("answer.jsonl")).code == 0
    async with connected(steward, script("answer.jsonl")) as (agent, editor):
        assert (await agent.list_sessions()).sessions == []
        rows = (await agent.list_sessions(cwd=str(root / "services"))).sessions
        assert sorted(row.title or "" for row in rows) == ["first thing", "second thing"]
        assert {row.cwd for row in rows} == {str(root / "services")} and all(row.updated_at for row in rows)
        first = next(row for row in rows if row.title == "first thing")
        await agent.load_session(cwd=str(root), session_id=first.session_id, mcp_servers=[])
        assert asked(editor) == ["first thing"] and editor.said.strip() == "Forty-two."
        assert not any(isinstance(u, AgentThoughtChunk) for u in editor.updates)
        editor.updates.clear()
        await agent.load_session(cwd=str(root), session_id=first.session_id, mcp_servers=[])
        assert asked(editor) == ["first thing"]
        open_here = (await agent.list_sessions()).sessions
        assert {row.title for row in open_here} == {"first thing", "second thing"}


async def test_the_capabilities_say_so(steward: Program):
    editor = Editor()
    command = steward.command("acp", "--model", script("answer.jsonl"))
    async with (
        acp.spawn_agent_process(
            editor,  # type: ignore[arg-type]
            command[0],
            *command[1:],
            env=steward.environment,
            cwd=steward.directory,
        ) as (agent, _)
    ):
        able = (await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)).agent_capabilities
    assert able is not None and able.load_session
    assert able.session_capabilities is not None and able.session_capabilities.list is not None


async def test_a_session_that_is_not_there_is_refused_and_no_part_of_its_id_is_enough(steward: Program):
    root = steward.directory / "shop"
    inside = Program(root, steward.home)
    assert inside("ask", "q", "--quiet", "--model", script("answer.jsonl")).code == 0
    (row,) = inside("sessions", "--json").json
    async with connected(steward, script("answer.jsonl")) as (agent, editor):
        for wrong in ("nothing", "", row["id"][:10], "../../x"):
            with pytest.raises(acp.RequestError):
                await agent.load_session(cwd=str(root), session_id=wrong, mcp_servers=[])
        for place in ("/nowhere/at/all", "relative"):
            with pytest.raises(acp.RequestError):
                await agent.load_session(cwd=place, session_id=row["id"], mcp_servers=[])
            with pytest.raises(acp.RequestError):
                await agent.list_sessions(cwd=place)
        assert editor.updates == []


async def test_a_session_in_which_nothing_was_said_keeps_its_id_while_the_editor_holds_it(steward: Program):
    root = str(steward.directory / "shop")
    async with connected(steward, script("answer.jsonl")) as (agent, editor):
        session = (await agent.new_session(cwd=root, mcp_servers=[])).session_id
        (database,) = steward.home.rglob("steward.db")
        store = SessionStore(Database(database.parent))
        with Database(database.parent).write() as cursor:
            cursor.execute("UPDATE sessions SET updated = '2020-01-01T00:00:00.000Z'")
        store.expire(30)
        await agent.prompt(session_id=session, prompt=[acp.text_block("What now?")])
        assert editor.said.strip() == "Forty-two."
    assert [row.id for row in store.all()] == [session]
