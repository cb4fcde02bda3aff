"""Why a path could not be opened, found by looking at each name on the way, in one sentence."""

from __future__ import annotations

import errno
import os
import stat

from steward.errors import PathRefused
from steward.workspace.engine import OPEN_PATH, mount_of
from steward.workspace.path import RepoPath, quoted


def explain(root: int, real_root: str, path: RepoPath, error: OSError) -> PathRefused:
    """The refusal for ``path``, whose opening beneath ``root`` failed with ``error``.

    It only looks and words; the decision was the engine's. When by now nothing is wrong, something was
    swapped meanwhile.
    """
    at = os.open(".", OPEN_PATH | os.O_DIRECTORY, dir_fd=root)
    try:
        mount = mount_of(at)
        for index, name in enumerate(path.parts):
            here = RepoPath(path.parts[: index + 1])
            last = index == len(path.parts) - 1
            try:
                below = os.open(name, OPEN_PATH, dir_fd=at)
            except OSError as fault:
                return _unopened(path, here, fault)
            at, above = below, at
            mode = os.fstat(at).st_mode
            if stat.S_ISLNK(mode):
                try:
                    return link(path, here, inside(here, os.readlink(name, dir_fd=above), real_root))
                finally:
                    os.close(above)
            os.close(above)
            if mount_of(at) != mount:
                return PathRefused(
                    "other-mount", path.text, f"{quoted(here.text)} lies on another mount; it is not opened."
                )
            if not last and not stat.S_ISDIR(mode):
                return PathRefused("not-a-directory", path.text, f"{quoted(here.text)} is not a directory.")
    except OSError as fault:
        error = fault
    finally:
        os.close(at)
    return _unopened(path, path, error)


def link(path: RepoPath, at: RepoPath, target: RepoPath | None) -> PathRefused:
    """The refusal of a symbolic link found at ``at`` on the way to ``path``."""
    sentence = f"{quoted(at.text)} is a symbolic link"
    if target is None:
        sentence += " that leads out of the workspace; links are not followed."
    elif at.within(target):
        sentence += " that leads back to where it stands; links are not followed."
    else:
        rest = path.parts[len(at.parts) :]
        real = RepoPath((*target.parts, *rest))
        sentence += f" to {quoted(target.text)}; links are not followed, use {quoted(real.text)} itself."
    return PathRefused("link", path.text, sentence)


def inside(at: RepoPath, target: str, real_root: str) -> RepoPath | None:
    """Where the link at ``at`` points, read as text, when that is inside the workspace and can be addressed."""
    if target.startswith("/"):
        root = real_root.rstrip("/")
        if target != root and not target.startswith(root + "/"):
            return None
        text = target[len(root) :].lstrip("/")
    else:
        text = "/".join((*at.parent.parts, target))
    try:
        return RepoPath.parse(text or ".")
    except PathRefused:
        return None


def _unopened(path: RepoPath, here: RepoPath, error: OSError) -> PathRefused:
    name = quoted(here.text)
    match error.errno:
        case errno.ENOENT if here == path:
            return PathRefused("missing", path.text, f"There is no {name} in the workspace.")
        case errno.ENOENT:
            return PathRefused(
                "missing",
                path.text,
                f"There is no {quoted(path.text)} in the workspace: no directory {name}.",
            )
        case errno.ENAMETOOLONG:
            return PathRefused("too-long", path.text, f"The path {name} is too long for this file system.")
        case errno.EXDEV:
            return PathRefused("other-mount", path.text, f"{name} lies on another mount; it is not opened.")
        case errno.ELOOP:
            return PathRefused(
                "link", path.text, f"{name} was a symbolic link when it was opened; links are not followed."
            )
        case errno.ENOTDIR:
            return PathRefused("not-a-directory", path.text, f"{name} is not a directory.")
        case errno.ENXIO:
            return PathRefused("special", path.text, f"{name} is not a regular file.")
        case errno.EACCES | errno.EPERM:
            return PathRefused("unreadable", path.text, f"{name} may not be read by this user.")
        case _:
            reason = os.strerror(error.errno) if error.errno else "it changed while it was opened"
            return PathRefused("unreadable", path.text, f"{name} cannot be read: {reason}.")
