"""What on disk a change can be made against: a file that may be changed, a place where one can be made."""

from __future__ import annotations

import os
import re
from pathlib import Path

from steward.errors import EditRefused, PathRefused
from steward.workspace import FileStat, RepoPath, Workspace, quoted


def readable(workspace: Workspace, path: RepoPath, limit: int) -> tuple[bytes, FileStat]:
    """Bytes and stat of a regular file of at most ``limit`` bytes that may be changed, deleted or renamed.

    Raises ``EditRefused`` of kind ``missing``, ``hard-link`` or ``read-only``, and ``PathRefused``.
    """
    try:
        content = workspace.read(path, limit=limit)
    except PathRefused as refusal:
        if refusal.kind == "missing":
            raise EditRefused(
                "missing", f"{quoted(path.text)} does not exist; to create it, leave oldText empty."
            ) from None
        raise
    found = content.stat
    if found.links > 1:
        raise EditRefused(
            "hard-link",
            f"{quoted(path.text)} has {found.links} names (hard links); changing one would part it from the others.",
        )
    if not found.mode & (0o200 if found.uid == os.geteuid() else 0o222):
        raise EditRefused(
            "read-only", f"{quoted(path.text)} is read-only (mode {found.mode:o}); it cannot be changed."
        )
    return content.data, found


def vacant(workspace: Workspace, path: RepoPath) -> FileStat | None:
    """What is at ``path``, or ``None`` when a new file can be made there; its directories may be missing.

    Raises ``PathRefused`` for a link, a special file, and a file where a directory would have to be.
    """
    there = workspace.stat(path)
    if there is not None and there.kind in ("link", "special"):
        workspace.read(path, limit=0)  # refuses, and says where a link points
    return there


def new_file_mode() -> int:
    """The mode of a new file: 0644, less what this process's umask takes away."""
    return 0o644 & ~_umask()


def _umask() -> int:
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        status = ""
    found = re.search(r"^Umask:\s*([0-7]+)$", status, re.MULTILINE)
    if found:
        return int(found[1], 8)
    # Elsewhere it is read by setting it; a file that another thread makes meanwhile is at most too private.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
