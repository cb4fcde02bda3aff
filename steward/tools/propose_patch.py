"""The tool by which a model proposes a change; what it makes waits for a person and is never applied here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from steward.errors import EditRefused
from steward.proposals import Accepted, Draft, FileChange, counts, file_diff
from steward.tools import slips
from steward.tools.arguments import About, Arguments
from steward.tools.base import ToolResult, blocking, described
from steward.tools.redact import holds_mark
from steward.visible import visible
from steward.workspace import RepoPath, quoted

_SHOWN_LINES = 40
_SHOWN_WIDTH = 200
_REDACTED = (
    "holds [redacted …], which stands for a key that you are not shown. Replace only text beside it; the person "
    "changes the key."
)


@dataclass(frozen=True, slots=True)
class ProposePatchArguments(Arguments):
    """Where, what to replace and by what; or a deletion, or a rename."""

    told_required: ClassVar[tuple[str, ...]] = ("path", "oldText", "newText")

    path: Annotated[str, About("File, relative to the workspace, with / between parts")]
    oldText: Annotated[str | None, About("Exact text that occurs once; empty to create the file")] = None
    newText: Annotated[str | None, About("Text that takes its place, or the new file's contents")] = None
    change: Annotated[str | None, About('Optional: id of a pending change to amend, or "new"')] = None
    deleteFile: Annotated[bool, About("Optional: delete the file")] = False
    renameTo: Annotated[str | None, About("Optional: new path of the file")] = None


class ProposePatchTool:
    """Gives a patch to the turn's draft, and tells the model what came of it.

    ``draft`` is asked for each call, so that one tool serves every turn of a conversation.
    """

    name = "proposePatch"
    arguments = ProposePatchArguments

    def __init__(self, draft: Callable[[], Draft]) -> None:
        self._draft = draft

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return described(self.name)

    async def run(self, arguments: ProposePatchArguments) -> ToolResult:
        """Store the patch; ``EditRefused``, ``PathRefused`` and the like say why it was not."""
        path = RepoPath.parse(arguments.path)
        target = RepoPath.parse(arguments.renameTo) if arguments.renameTo else None
        whole = arguments.deleteFile or target is not None
        for name, given in (("oldText", arguments.oldText), ("newText", arguments.newText)):
            if given is None and not whole:
                raise EditRefused(
                    "arguments",
                    f'{name} is missing; to remove text, give newText as "", to create, oldText as "".',
                )
        old, new = arguments.oldText or "", arguments.newText or ""
        if old and holds_mark(new) and not holds_mark(old):
            raise EditRefused("redacted", f"newText {_REDACTED}")
        if slip := slips.in_new(target.text if target else path.text, old, new):
            raise EditRefused("slip", f"{slip} Nothing was proposed.")
        try:
            accepted = await blocking(
                self._draft().propose, path, old, new, arguments.change, arguments.deleteFile, target
            )
        except EditRefused as refusal:
            if refusal.kind == "not-found" and holds_mark(old):
                raise EditRefused("redacted", f"oldText {_REDACTED}") from None
            if refusal.kind == "not-found" and (slip := slips.in_old(old)):
                raise EditRefused(refusal.kind, f"{slip}\n{refusal}") from None
            raise
        return ToolResult(
            told(accepted, path),
            touched=(path,) if target is None else (path, target),
            summary=_summary(accepted, path),
        )


def told(accepted: Accepted, path: RepoPath) -> str:
    """What the model is told of an accepted patch."""
    proposal = accepted.proposal
    if accepted.withdrawn:
        return (
            f"{quoted(path.text)} is as it is on disk again, and nothing else was left of {proposal.id}: "
            "the change is withdrawn. Nothing was ever written."
        )
    lines: list[str] = []
    if accepted.file is None:
        lines.append(f"{quoted(path.text)} is as it is on disk again and has left {proposal.id}.")
    else:
        lines.append(
            f"{'Amended' if accepted.amended else 'Proposed'} {proposal.id}: {_described(accepted.file)}."
        )
    others = [_described(f) for f in proposal.files if f is not accepted.file]
    if others:
        lines.append(f"Also in {proposal.id}: {'; '.join(others[:20])}{'; …' if len(others) > 20 else ''}.")
    lines.append(
        f"{proposal.id} is PENDING under the stamp {proposal.short_stamp}. It is NOT applied and nothing was written: "
        "only the person can apply it, after reading the diff."
    )
    if accepted.file is not None:
        lines.append(snippet(accepted.file))
    return "\n".join(line for line in lines if line)


def snippet(file: FileChange) -> str:
    """The diff of a file, short enough for a model to check what it proposed; says what it leaves out."""
    diff = file_diff(file, 2)
    rows = [f"({notice})" for notice in diff.notices]
    for hunk in diff.hunks:
        rows.append(hunk.header)
        rows += [f"{line.sign}{_short(line.text)}" for line in hunk.lines]
    if len(rows) > _SHOWN_LINES:
        rows = [*rows[:_SHOWN_LINES], f"… {len(rows) - _SHOWN_LINES} more lines of this diff are not shown"]
    return "\n".join(rows)


def _short(text: str) -> str:
    if len(text) > _SHOWN_WIDTH:
        text = f"{text[:_SHOWN_WIDTH]}… ({len(text) - _SHOWN_WIDTH} more characters)"
    return visible(text, keep="\t")


def _described(file: FileChange) -> str:
    added, removed = counts(file)
    what = (
        f"rename {quoted(file.source)} to {quoted(file.path)}"
        if file.action == "rename"
        else f"{file.action} {quoted(file.path)}"
    )
    return f"{what} (+{added} -{removed})"


def _summary(accepted: Accepted, path: RepoPath) -> str:
    if accepted.withdrawn:
        return f"{accepted.proposal.id} withdrawn"
    if accepted.file is None:
        return f"{accepted.proposal.id}: {quoted(path.text)} as on disk again"
    return f"{accepted.proposal.id} pending: {_described(accepted.file)}"
