"""One call of a tool that only reads, outside of a conversation: without an event loop, a model or a draft."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from steward.errors import PathRefused
from steward.prompts.briefing import Briefing
from steward.tools import Tool, ToolBox, ToolResult
from steward.tools.redact import redacted, redacts
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.agents_md import Document
    from steward.service.house import House
    from steward.workspace import Policy, Workspace

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
    toolbox = ToolBox((tool,), partial(cleaned, house.workspace.policy))
    return as_told(_finished(toolbox.run(name, arguments)), briefing, partial(_announced, house))


def as_told(
    result: ToolResult, briefing: Briefing, announce: Callable[[str], str], head: str = ""
) -> ToolResult:
    """A result as a model is told of it: after ``head`` and what it must know of the paths that were touched."""
    touched = [path.text for path in result.touched]
    head += briefing.touch(*touched).text if touched else ""
    head += "".join(map(announce, touched))
    return replace(result, text=head + briefing.guard(result.text))


def cleaned(policy: Policy, result: ToolResult) -> ToolResult:
    """A result without keys: hints, diffs and skills quote files too."""
    open_to_all = bool(result.touched) and not any(redacts(policy, path) for path in result.touched)
    if not policy.redact or open_to_all:
        return result
    return replace(result, text=redacted(result.text), summary=redacted(result.summary))


def shown(policy: Policy, document: Document) -> str:
    """The text of an instruction document without keys, by the same settings as other files."""
    if not policy.redact:
        return document.text
    try:
        open_to_all = not redacts(policy, RepoPath.parse(document.path))
    except PathRefused:
        open_to_all = False
    return document.text if open_to_all else redacted(document.text)


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
