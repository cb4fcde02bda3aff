"""Carrying a stale change over to the bytes now on disk, where each old text still names one place."""

from __future__ import annotations

from dataclasses import replace

from steward.errors import Conflict, EditRefused, PathRefused, WrongStatus
from steward.proposals import edit
from steward.proposals.hunks import edits_between
from steward.proposals.proposal import Edit, FileChange, Proposal
from steward.proposals.stale import base_differs
from steward.workspace import FileContent, RepoPath, Workspace, quoted

_LIMIT = 64_000_000
"""Bytes of the largest file that is carried over."""


def rebase(proposal: Proposal, workspace: Workspace) -> Proposal:
    """The change made anew on the bytes now on disk; its stamp is new, and so it must be read again.

    A file that is as it was stays as it is. Elsewhere each edit's old text must still be unique, with the same
    characters right before and after it. Raises ``Conflict`` that names every file of which this is not so, and
    ``WrongStatus`` for a change that is not pending.
    """
    if proposal.status != "pending":
        raise WrongStatus(proposal.id, proposal.status, "rebased")
    files: list[FileChange] = []
    failed: list[str] = []
    for file in proposal.files:
        differs = base_differs(file, workspace)
        if not differs:
            files.append(file)
            continue
        try:
            files.append(_carried(file, workspace, differs))
        except (EditRefused, PathRefused, Conflict) as refusal:
            failed.append(f"{quoted(file.source)} ({_why(refusal, differs)})")
    if failed:
        raise Conflict(f"{proposal.id} cannot be rebased: {', '.join(failed)}. Nothing was changed.")
    kept = tuple(file for file in files if not file.noop)
    if not kept:
        raise Conflict(f"{proposal.id} cannot be rebased: the disk already holds all of it.")
    return replace(proposal, files=kept)


def overlaps(one: Proposal, two: Proposal) -> tuple[str, ...]:
    """Paths that both changes touch, sorted."""
    return tuple(sorted(touched(one) & touched(two)))


def touched(proposal: Proposal) -> set[str]:
    """Paths that the change writes or takes away, of a rename both."""
    return {path for file in proposal.files for path in (file.path, file.source)}


def _why(refusal: Exception, differs: str) -> str:
    match refusal:
        case EditRefused(kind="not-found"):
            return "its old text is gone"
        case EditRefused(kind="not-unique"):
            return "its old text is no longer unique"
        case Conflict():
            return str(refusal)
        case _:
            return differs


def _carried(file: FileChange, workspace: Workspace, differs: str) -> FileChange:
    if file.base is None:
        raise Conflict(differs)
    content = _read(file, workspace)
    data = content.data
    if file.result is None:
        # A deletion has no old text: nobody has seen the new contents go.
        if data != file.base:
            raise Conflict("it changed, and a deletion is only of what was seen")
        return replace(file, base_mode=content.stat.mode)
    moved = replace(file, base=data, base_mode=content.stat.mode, result_mode=_mode(file, content.stat.mode))
    if data == file.result and file.old_path is None:
        return moved
    if data == file.base:
        if base_differs(moved, workspace):
            raise Conflict(differs)
        return moved
    before, result = file.base, data
    edits = file.edits or (edits_between(file.base, file.result) if file.base != file.result else ())
    if not edits and file.base != file.result:
        raise Conflict("it has no old text to be found again")
    for one in edits:
        result = _again(before, result, one)
        before = edit.replace(before, one.old, one.new)
    moved = replace(moved, result=result)
    if base_differs(moved, workspace):
        raise Conflict(differs)
    return moved


def _read(file: FileChange, workspace: Workspace) -> FileContent:
    return workspace.read(RepoPath.parse(file.source), limit=_LIMIT)


def _mode(file: FileChange, now: int) -> int | None:
    return now if file.result_mode == file.base_mode else file.result_mode


def _again(before: bytes, now: bytes, one: Edit) -> bytes:
    """``one`` made on ``now`` as it was on ``before``; the text right beside it must be the same."""
    if one.old:
        was, found = edit.locate(before, one.old), edit.locate(now, one.old)
        if _made(now, found, one):
            return now
        for index in (-1, 1):
            if _beside(before, was, index) != _beside(now, found, index):
                raise Conflict("its line changed right beside the old text")
    return edit.replace(now, one.old, one.new)


def _made(now: bytes, found: edit.Span, one: Edit) -> bool:
    """An insertion that is there already: the old text still names one place, and the new text stands at it."""
    if one.old not in one.new:
        return False
    try:
        there = edit.locate(now, one.new)
    except EditRefused:
        return False
    return there.start <= found.start and found.end <= there.end


def _beside(data: bytes, span: edit.Span, side: int) -> bytes:
    """The word character touching the span on one side, and nothing when it is no part of a word."""
    piece = data[max(0, span.start - 4) : span.start] if side < 0 else data[span.end : span.end + 4]
    text = piece.decode("utf-8", "ignore")
    near = text[-1:] if side < 0 else text[:1]
    return near.encode("utf-8") if near.isalnum() or near == "_" else b""
