"""What a tool is, and the box that parses a model's arguments at the door and runs one tool."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import MISSING, dataclass
from functools import cache, cached_property
from typing import Any, Protocol, TypeVar, cast

from steward.conversation import JsonObject
from steward.errors import EditRefused, PathRefused, StewardError
from steward.tools.arguments import Arguments, WrongArguments, parameters
from steward.visible import visible
from steward.workspace import RepoPath, quoted


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call: ``text`` for the model, ``summary`` as one line for a person."""

    text: str
    ok: bool = True
    touched: tuple[RepoPath, ...] = ()
    """Paths whose instructions now matter, the last one becoming the focus."""
    summary: str = ""


A = TypeVar("A", bound=Arguments, contravariant=True)
T = TypeVar("T")


class Tool(Protocol[A]):
    """One tool. ``run`` raises ``StewardError`` for a refusal; what blocks runs in a thread."""

    @property
    def name(self) -> str:
        """The name the model calls."""
        ...

    @property
    def description(self) -> str:
        """What the model is told the tool does."""
        ...

    @property
    def arguments(self) -> type[Arguments]:
        """The shape of its arguments."""
        ...

    async def run(self, arguments: A) -> ToolResult:
        """Do it."""
        ...


@cache
def described(tool: str) -> str:
    """The description of a tool, from the ``.md`` file beside its module."""
    from importlib import resources

    return resources.files("steward.tools").joinpath(f"{tool}.md").read_text("utf-8").strip()


class ToolBox:
    """The tools of one conversation; their list never changes while it lasts."""

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        clean: Callable[[ToolResult], ToolResult] | None = None,
        meant: Callable[[str], tuple[str, ...]] | None = None,
    ) -> None:
        """``clean`` has the last word on a result; ``meant`` knows what a path that is not there may stand for."""
        self._clean = clean
        self._meant = meant
        self._tools = {tool.name: tool for tool in tools}

    @cached_property
    def specs(self) -> tuple[JsonObject, ...]:
        """What a model is told of the tools."""
        return tuple(_spec(tool) for tool in self._tools.values())

    @cached_property
    def characters(self) -> int:
        """How many characters the definitions of the tools have."""
        return len(json.dumps(self.specs))

    @property
    def names(self) -> tuple[str, ...]:
        """Registered names, in the order the model sees them."""
        return tuple(self._tools)

    def targets(self, arguments: str) -> tuple[RepoPath, ...]:
        """The paths a call is about, as far as its arguments name valid ones; never raises."""
        try:
            shape: object = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return ()
        if not isinstance(shape, dict):
            return ()
        found: list[RepoPath] = []
        for key in ("path", "renameTo"):
            path: object = cast(JsonObject, shape).get(key)
            if isinstance(path, str) and path:
                with suppress(PathRefused):
                    found.append(RepoPath.parse(path))
        return tuple(found)

    def accepts(self, name: str, arguments: str) -> bool:
        """Whether a tool of that name takes these arguments as they are."""
        tool = self._tools.get(name)
        try:
            shape: object = json.loads(arguments)
            return (
                tool is not None
                and isinstance(shape, dict)
                and bool(tool.arguments.parse(cast(JsonObject, shape)))
            )
        except (ValueError, RecursionError):
            return False

    async def run(self, name: str, arguments: str) -> ToolResult:
        """Run one call; every refusal and every wrong argument is a result that helps to mend the call."""
        result = await self._run(name, arguments)
        return result if self._clean is None else self._clean(result)

    async def _run(self, name: str, arguments: str) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            return _refused(f"There is no tool {name!r}. The tools are: {', '.join(self._tools)}.")
        try:
            # Raw control characters inside strings are accepted; nothing else of a broken call is repaired.
            shape: object = json.loads(arguments or "{}", strict=False)
        except json.JSONDecodeError as error:
            return _refused(_broken(name, arguments, error))
        except (ValueError, RecursionError):
            return _refused(f"The arguments of {name} are not valid JSON; nothing was done.")
        if not isinstance(shape, dict):
            rather = ", not a text that holds one" if isinstance(shape, str) else ""
            return _refused(f"The arguments of {name} must be one JSON object{rather}; nothing was done.")
        try:
            parsed = tool.arguments.parse(cast(JsonObject, shape))
        except WrongArguments as error:
            return _refused(mend(name, tool.arguments, error))
        try:
            return await tool.run(parsed)
        except (PathRefused, EditRefused) as error:
            return _refused(await self._pointed(parsed, error), error.kind)
        except StewardError as error:
            return _refused(str(error))

    async def _pointed(self, parsed: Arguments, error: PathRefused | EditRefused) -> str:
        """The refusal, and which path may have been meant by one that is not there or not relative."""
        sentence, path = str(error), getattr(parsed, "path", None)
        if self._meant is None or not isinstance(path, str):
            return sentence
        if isinstance(error, PathRefused) and error.near:
            return sentence
        found = await blocking(self._meant, path) if error.kind in ("absolute", "missing") else ()
        return f"{sentence} Did you mean {' or '.join(map(quoted, found))}?" if found else sentence


def _broken(name: str, arguments: str, error: json.JSONDecodeError) -> str:
    """Where JSON breaks off, with a little of what stands before that place."""
    before = visible(arguments[max(0, error.pos - 30) : error.pos], keep="")
    place = f", after {before}" if before else ""
    return (
        f"The arguments of {name} are not valid JSON ({error.msg[:1].lower()}{error.msg[1:]} at character "
        f"{error.pos + 1}{place}); nothing was done."
    )


def mend(name: str, arguments: type[Arguments], error: WrongArguments) -> str:
    """One short sentence that says what is wrong with a call and what is right."""
    known = ", ".join(
        key if parameter.default is MISSING or key in arguments.told_required else f"{key} (optional)"
        for key, parameter in parameters(arguments).items()
    )
    return f"Wrong arguments for {name}: {'; '.join(error.faults)}. Its parameters are: {known}."


async def blocking(work: Callable[..., T], *arguments: Any) -> T:
    """The result of ``work``, which blocks: in a thread while a loop runs, at once where there is none."""
    if "asyncio" not in sys.modules:
        return work(*arguments)
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work(*arguments)
    return await asyncio.to_thread(work, *arguments)


def _refused(sentence: str, kind: str = "") -> ToolResult:
    return ToolResult(sentence, ok=False, summary=f"refused: {kind}" if kind else "refused")


def _spec(tool: Tool[Any]) -> JsonObject:
    told = {"name": tool.name, "description": tool.description, "parameters": tool.arguments.schema()}
    return {"type": "function", "function": told}
