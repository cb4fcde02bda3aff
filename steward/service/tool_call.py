"""One call of a tool that only reads, outside of a conversation: without an event loop, a model or a draft."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from steward.prompts.briefing import Briefing
from steward.service.as_told import as_told, cleaned, shown
from steward.tools import Tool, ToolBox, ToolResult
from steward.tools.meant import meant

if TYPE_CHECKING:
    from steward.service.house import House
    from steward.workspace import Workspace

T = TypeVar("T")


def run_alone(house: House, name: str, arguments: str) -> ToolResult | None:
    """What a model would be told if it called the tool first thing; ``None`` when that takes a conversation.

    It does for tools that propose or load, for names that no tool has, and while a change that was cut off waits to be
    settled. See ``Talk.run_tool``, whose answer is the same.
    """
    allowed = house.profile.tools
    if (allowed is not None and name not in allowed) or house.unsettled():
        return None
    tool = _tool(name, house.workspace)
    if tool is None:
        return None
    briefing = Briefing(
        house.resolver,
        house.secret,
        mode=house.settings.instructions.refresh,
        clean=partial(shown, house.workspace.policy),
    )
    briefing.opening(".")
    toolbox = ToolBox((tool,), partial(cleaned, house.workspace.policy), partial(meant, house.workspace))
    return as_told(_finished(toolbox.run(name, arguments)), briefing, partial(_announced, house))


def _announced(house: House, path: str) -> str:
    """What is said of skills when a tool touches a path first of all; without folders of skills on its way, nothing."""
    places = house.skill_places()
    if not any(root.place.path.is_dir() for root in places.project(path)):
        return ""
    from steward.skills import discover
    from steward.tools.skill import SkillTool

    return SkillTool(discover(places), places).announce(path)


def _tool(name: str, workspace: Workspace) -> Tool[Any] | None:
    match name:
        case "listFiles":
            from steward.tools.list_files import ListFilesTool

            return ListFilesTool(workspace)
        case "searchFiles":
            from steward.tools.search_files import SearchFilesTool

            return SearchFilesTool(workspace)
        case "readFile":
            from steward.tools.read_file import ReadFileTool

            return ReadFileTool(workspace)
        case _:
            return None


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that waits for nothing, as a tool's does where no loop runs."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise RuntimeError("a tool waited where no loop runs")
