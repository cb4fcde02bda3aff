"""Which path a model meant that wrote it in another way: absolute, with a diff's prefix, quoted, or in part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steward.errors import PathRefused
from steward.workspace import RepoPath, Workspace
from steward.workspace.path import is_text

LOOKED_AT = 20_000
"""Files whose names are compared with a lone name, at most."""
SAID = 2
"""Paths that are said, at most."""

_LINE = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")


def meant(workspace: Workspace, text: str) -> tuple[str, ...]:
    """Paths of the workspace that ``text``, which names none, may stand for; the likeliest first, often none."""
    for candidate in dict.fromkeys(_rewritten(workspace, text)):
        found = _path(candidate)
        if found is not None and candidate != text and _is_there(workspace, found):
            return (found.text,)
    root = f"{workspace.root}/"
    if text.startswith(root) and (inside := _path(text.removeprefix(root))) is not None:
        return (inside.text,)  # where a new file is to be made
    given = _path(text)
    if given is None:
        return ()
    return likely(workspace, given)


def likely(workspace: Workspace, path: RepoPath) -> tuple[str, ...]:
    """Files of that very name in other directories, or else what is named nearly so in the same one."""
    return tuple(_elsewhere(workspace, path)) or tuple(_near(workspace, path))


def _near(workspace: Workspace, path: RepoPath) -> list[str]:
    from difflib import get_close_matches

    try:
        names = [
            entry.name
            for entry in workspace.entries(path.parent)
            if not workspace.area(path.parent.child(entry.name))
        ]
    except (PathRefused, OSError):
        return []
    alike = get_close_matches(path.name, names[:5000], SAID, 0.6)
    return [path.parent.child(name).text for name in alike if is_text(name)]


def _rewritten(workspace: Workspace, text: str) -> Iterator[str]:
    """What is left of a path without what does not belong to it, the mildest first."""
    plain = text.strip().strip("`'\"<>").removeprefix("file://").replace("\\", "/")
    for path in (plain, _LINE.sub("", plain)):
        yield path
        yield path.removeprefix(f"{workspace.root}/")
        inside = path.lstrip("/")
        yield inside
        first, _, rest = inside.partition("/")
        if first in ("a", "b", workspace.root.name):
            yield rest


def _elsewhere(workspace: Workspace, path: RepoPath) -> Iterator[str]:
    """Files of that very name in other directories, when there are no more than can be said."""
    found = [one for one in workspace.files(LOOKED_AT) if one.rpartition("/")[2] == path.name]
    if len(found) <= SAID:
        yield from (one for one in found if is_text(one))


def _path(text: str) -> RepoPath | None:
    try:
        path = RepoPath.parse(text)
    except PathRefused:
        return None
    return path if path.parts else None


def _is_there(workspace: Workspace, path: RepoPath) -> bool:
    try:
        found = workspace.stat(path)
    except (PathRefused, OSError):
        return False
    return found is not None and found.kind in ("file", "directory")
