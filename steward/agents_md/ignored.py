"""Notices a personal override that would be committed: git tracks it, or nothing ignores it. Git is never run."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator

from steward.agents_md.discovery import is_repository
from steward.agents_md.files import Disk, FileSystem

_INDEX_BYTES = 64 * 1024 * 1024
_TEXT_BYTES = 1024 * 1024
_EXCLUDES = re.compile(r"^\s*excludesfile\s*=(.+)$", re.IGNORECASE | re.MULTILINE)


def override_notice(
    root: str, path: str, *, files: FileSystem | None = None, home: str | None = None
) -> str | None:
    """One sentence when the override ``path`` (relative to the workspace ``root``) may be committed by accident.

    ``None`` when it is ignored, or when no repository holds it.
    """
    files = Disk() if files is None else files
    full = posixpath.normpath(posixpath.join(root, path))
    repository = _repository(files, posixpath.dirname(full))
    if repository is None:
        return None
    git, common = _git_directories(files, repository)
    name = full[len(repository.rstrip("/")) + 1 :]
    if tracked(_read(files, posixpath.join(git, "index"), _INDEX_BYTES), name):
        return f"{path} is personal but tracked by Git: run `git rm --cached {name}` and add it to .git/info/exclude."
    if not _ignored(files, repository, common, name, home):
        return f"{path} is personal but not ignored by Git: add {name} to .git/info/exclude or to .gitignore."
    return None


def tracked(index: bytes | None, name: str) -> bool:
    """Whether git's index (versions 2 to 4) holds ``name``; an index of another kind holds nothing."""
    if index is None or index[:4] != b"DIRC" or len(index) < 12:
        return False
    version = int.from_bytes(index[4:8], "big")
    wanted = name.encode("utf-8", "surrogateescape")
    if version in (2, 3):
        at = index.find(wanted + b"\0")
        while at > 0:
            for flags in (at - 2, at - 4 if version == 3 else at - 2):
                length = int.from_bytes(index[flags : flags + 2], "big") & 0xFFF
                if length == min(len(wanted), 0xFFF):
                    return True
            at = index.find(wanted + b"\0", at + 1)
        return False
    return version == 4 and wanted in _names(index)


def _names(index: bytes) -> Iterator[bytes]:
    """The names of an index of version 4, in which each name drops the end of the one before."""
    count = int.from_bytes(index[8:12], "big")
    at = 12
    name = b""
    for _ in range(count):
        flags = int.from_bytes(index[at + 60 : at + 62], "big")
        at += 64 if flags & 0x4000 else 62
        if at >= len(index):
            return
        drop = index[at] & 0x7F
        while index[at] & 0x80 and at + 1 < len(index):
            at += 1
            drop = ((drop + 1) << 7) | (index[at] & 0x7F)
        end = index.find(b"\0", at + 1)
        if end < 0:
            return
        name = name[: len(name) - drop] + index[at + 1 : end]
        at = end + 1
        yield name


def _repository(files: FileSystem, directory: str) -> str | None:
    while True:
        folder = files.open(directory)
        if folder is not None:
            try:
                if is_repository(folder):
                    return directory
            except OSError:
                pass
            finally:
                folder.close()
        parent = posixpath.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _git_directories(files: FileSystem, repository: str) -> tuple[str, str]:
    """Git's own directory, and the one it shares with other worktrees."""
    git = posixpath.join(repository, ".git")
    text = _text(files, git)
    if text.startswith("gitdir:"):
        git = posixpath.normpath(posixpath.join(repository, text[7:].strip()))
    shared = _text(files, posixpath.join(git, "commondir")).strip()
    return git, posixpath.normpath(posixpath.join(git, shared)) if shared else git


def _read(files: FileSystem, path: str, most: int) -> bytes | None:
    directory, name = posixpath.split(path)
    try:
        folder = files.open(files.real(directory))
        if folder is None:
            return None
        try:
            state = folder.stat(name)
            return folder.read(name, most)[0] if state is not None and stat.S_ISREG(state.st_mode) else None
        finally:
            folder.close()
    except (OSError, ValueError):
        return None


def _text(files: FileSystem, path: str) -> str:
    return (_read(files, path, _TEXT_BYTES) or b"").decode("utf-8", "surrogateescape")


def _ignored(files: FileSystem, repository: str, common: str, name: str, home: str | None) -> bool:
    """What ignore files say of ``name``: the closest one that mentions it decides, and in it the last line."""
    parts = name.split("/")
    sources: list[tuple[str, str]] = []
    sources.append(("", _users_ignores(files, home)))
    sources.append(("", _text(files, posixpath.join(common, "info/exclude"))))
    for depth in range(len(parts)):
        base = "/".join(parts[:depth])
        sources.append((base, _text(files, posixpath.join(repository, base, ".gitignore"))))
    for depth in range(1, len(parts) + 1):  # a directory that is ignored hides all beneath it
        path = "/".join(parts[:depth])
        verdict = False
        for base, text in sources:
            if base and not path.startswith(base + "/"):
                continue
            inner = path[len(base) + 1 :] if base else path
            for line in text.split("\n"):
                decided = _says(line.rstrip("\r"), inner, directory=depth < len(parts))
                verdict = verdict if decided is None else decided
        if verdict:
            return True
    return False


def _users_ignores(files: FileSystem, home: str | None) -> str:
    """The ignore file that the user's git configuration names, else the one at git's default place."""
    place = home or os.path.expanduser("~")  # noqa: PTH111
    base = (os.environ.get("XDG_CONFIG_HOME") if home is None else None) or posixpath.join(place, ".config")
    for config in (posixpath.join(place, ".gitconfig"), posixpath.join(base, "git/config")):
        named = _EXCLUDES.search(_text(files, config))
        if named is not None:
            path = named[1].strip().strip('"')
            path = place + path[1:] if path.startswith("~/") else path
            return _text(files, path) if posixpath.isabs(path) else ""
    return _text(files, posixpath.join(base, "git/ignore"))


def _says(line: str, path: str, *, directory: bool) -> bool | None:
    """Whether one line of an ignore file ignores (true) or keeps (false) ``path``; ``None``: it says nothing."""
    pattern = line.rstrip(" ") if not line.endswith("\\ ") else line
    if not pattern or pattern.startswith("#"):
        return None
    keeps = pattern.startswith("!")
    pattern = pattern[1:] if keeps else pattern
    if pattern.endswith("/"):
        if not directory:
            return None
        pattern = pattern[:-1]
    anchored = "/" in pattern
    pattern = pattern.lstrip("/")
    if not pattern:
        return None
    subject = path if anchored else path.rpartition("/")[2]
    try:
        matches = re.fullmatch(_expression(pattern), subject) is not None
    except re.error:
        return None
    return (not keeps) if matches else None


def _expression(pattern: str) -> str:
    found: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern.startswith("**/", at):
            found.append("(?:[^/]+/)*")
            at += 3
        elif pattern[at:] == "**":
            found.append(".+")
            at += 2
        elif pattern[at] == "*":
            found.append("[^/]*")
            at += 1
        elif pattern[at] == "?":
            found.append("[^/]")
            at += 1
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inner = pattern[at + 1 : end]
            sign = "^" if inner[0] in "!^" else ""
            inner = inner[1:] if sign else inner
            found.append(f"(?!/)[{sign}{inner.replace(chr(92), chr(92) * 2).replace('[', chr(92) + '[')}]")
            at = end + 1
        elif pattern[at] == "\\" and at + 1 < len(pattern):
            found.append(re.escape(pattern[at + 1]))
            at += 2
        else:
            found.append(re.escape(pattern[at]))
            at += 1
    return "".join(found)
