"""Whether the disk still is what a change was made against; looked at anew each time, never stored."""

from __future__ import annotations

from dataclasses import dataclass

from steward.errors import PathRefused
from steward.proposals.proposal import FileChange, Proposal
from steward.workspace import FileStat, RepoPath, Workspace

_KINDS = {"directory": "became a directory", "link": "became a link", "special": "became a special file"}
_REFUSED = {
    "missing": "missing",
    "link": "became a link",
    "special": "became a special file",
    "not-a-file": "became a directory",
    "not-a-directory": "its directory is gone",
    "too-large": "changed",
    "protected": "protected",
    "secret": "protected as a secret",
    "other-mount": "on another mount",
}


@dataclass(frozen=True, slots=True)
class StaleFile:
    """One file of a change that is no longer as it was; ``reason`` is a word or two: ``changed``, ``missing``, …"""

    path: str
    reason: str


def stale_files(proposal: Proposal, workspace: Workspace) -> tuple[StaleFile, ...]:
    """What of the change no longer fits the disk, in the order of its files; empty when it is fresh."""
    found: list[StaleFile] = []
    for file in proposal.files:
        if file.base is not None:
            reason = _source(file, workspace)
            if reason:
                found.append(StaleFile(file.source, reason))
        if file.action in ("create", "rename"):
            reason = _target(file, workspace)
            if reason:
                found.append(StaleFile(file.path, reason))
    return tuple(found)


def base_differs(file: FileChange, workspace: Workspace) -> str:
    """Why the disk is not the base of ``file`` (or its new path is taken); empty when all is as recorded."""
    return (_source(file, workspace) if file.base is not None else "") or (
        _target(file, workspace) if file.action in ("create", "rename") else ""
    )


def same_file(one: FileStat, two: FileStat) -> bool:
    """Both names lead to one file: where case does not count, a file can be renamed to its own name."""
    return (one.device, one.inode) == (two.device, two.inode)


def _source(file: FileChange, workspace: Workspace) -> str:
    path = RepoPath.parse(file.source)
    assert file.base is not None
    try:
        workspace.allowed(path)
        stat = workspace.stat(path)
        if stat is None:
            return "missing"
        if stat.kind != "file":
            return _KINDS[stat.kind]
        if stat.links > 1:
            return "has several hard links"
        if stat.size != len(file.base):
            return "changed"
        content = workspace.read(path, limit=len(file.base) + 1)
    except PathRefused as refusal:
        return _REFUSED.get(refusal.kind, "unreadable")
    except OSError:
        return "unreadable"
    if content.data != file.base:
        return "changed"
    if file.base_mode is not None and content.stat.mode != file.base_mode:
        return "mode changed"
    return ""


def _target(file: FileChange, workspace: Workspace) -> str:
    path = RepoPath.parse(file.path)
    try:
        workspace.allowed(path)
        there = workspace.stat(path)
        if there is not None:
            if file.old_path is not None and file.path.casefold() == file.old_path.casefold():
                source = workspace.stat(RepoPath.parse(file.old_path))
                if source is not None and same_file(source, there):
                    return ""
            return "exists now"
        return ""
    except PathRefused as refusal:
        return (
            "its directory became a link"
            if refusal.kind == "link"
            else _REFUSED.get(refusal.kind, "unreadable")
        )
    except OSError:
        return "unreadable"
