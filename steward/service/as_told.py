"""Results of tools and instruction documents as a model is told of them: with what belongs before, and without keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from steward.errors import PathRefused
from steward.tools import ToolResult
from steward.tools.redact import redacted, redacts
from steward.workspace import RepoPath

if TYPE_CHECKING:
    from steward.agents_md import Document
    from steward.prompts.briefing import Briefing
    from steward.workspace import Policy


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
