"""Turns one file into a document, or into the reason why it is none."""

from __future__ import annotations

import errno
import fnmatch
import posixpath
import stat
from dataclasses import dataclass

from steward.agents_md.document import BOM, Document, Kind, Skipped, digest
from steward.agents_md.files import FileSystem, Folder, NotRegular, Stat, TooLarge

_SECRETS = (
    ".env", ".env.*", ".netrc", ".npmrc", ".pypirc", "*.tfstate", "*.pem", "*.key", "*.p12", "*.pfx",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
)  # fmt: skip
_CHANGED = "it changed while it was being read"


class LinkRefused(OSError):
    """A link that is not followed; ``str(error)`` is the reason."""


@dataclass(frozen=True, slots=True)
class Oversized:
    """A document over the limit for one document."""

    skipped: Skipped


Loaded = Document | Skipped | Oversized


def inside(path: str, directory: str) -> bool:
    """Whether an absolute path is ``directory`` or lies beneath it, as text."""
    return path == directory or path.startswith(directory if directory.endswith("/") else directory + "/")


def load(
    files: FileSystem, folder: Folder, directory: str, name: str, found: Stat, *,
    path: str, scope: str, kind: Kind, within: str | None, most: int,
) -> Loaded:  # fmt: skip
    """Read the document ``name`` of ``folder``, which stands at ``directory``.

    A link is followed when it ends beneath ``within`` (``None``: wherever it ends, for the user's own files).
    """
    try:
        if stat.S_ISLNK(found.st_mode):
            data, state = read_link(files, posixpath.join(directory, name), within, most)
        elif stat.S_ISREG(found.st_mode):
            data, state = folder.read(name, most)
        else:
            raise NotRegular(errno.EINVAL, "not a regular file")
    except OSError as error:
        return unreadable(path, error, most)
    return parse(data, path=path, scope=scope, kind=kind, device=state.st_dev, inode=state.st_ino)


def parse(
    data: bytes, *, path: str, scope: str, kind: Kind, device: int = 0, inode: int = 0
) -> Document | Skipped:
    """The document that ``data`` is, or why it is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        what = "it is UTF-16, not UTF-8" if wide else f"it is not UTF-8 (first at byte {error.start})"
        return Skipped(path, what, "encoding")
    if data.startswith(BOM):
        text = text[1:]
    if (nul := data.find(0)) >= 0:
        what = f"it holds a NUL character (first at byte {nul}), as UTF-16 and binary files do"
        return Skipped(path, what, "encoding")
    if not text or text.isspace():
        return Skipped(path, "it is empty", "empty")
    return Document(path, scope, kind, text, len(data), len(text), digest(data), device, inode)


def unreadable(path: str, error: OSError, most: int) -> Skipped | Oversized:
    """The reason for a document that could not be read."""
    match error:
        case TooLarge():
            reason = f"{error.size:,} bytes are over the limit of {most:,} for one document"
            return Oversized(Skipped(path, reason, "size"))
        case NotRegular():
            return Skipped(path, "it is not a regular file", "special")
        case LinkRefused():
            return Skipped(path, str(error), "link")
        case _:
            pass
    if error.errno in (errno.EACCES, errno.EPERM):
        return Skipped(path, "it could not be read: permission denied", "unreadable")
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        return Skipped(path, _CHANGED, "changed")
    return Skipped(path, f"it could not be read ({errno.errorcode.get(error.errno or 0, 'unknown error')})")


def read_link(files: FileSystem, path: str, within: str | None, most: int) -> tuple[bytes, Stat]:
    """The bytes at the end of ``path``, a link or not, reached from ``within`` without meeting a link again."""
    try:
        end = files.real(path)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.ENOENT:
            raise LinkRefused("it is a link that leads to nothing") from None
        if getattr(error, "errno", None) in (errno.EACCES, errno.EPERM):
            raise LinkRefused("it is a link whose end cannot be reached: permission denied") from None
        raise LinkRefused("it is a link that leads round in circles") from None
    directory, name = posixpath.split(end)
    start = "/" if within is None else within
    if within is not None:
        if not inside(end, within):
            raise LinkRefused("it is a link that leads out of the repository")
        if end != path and (reason := protected(end[len(within) :])):
            raise LinkRefused(f"it is a link to {reason}")
    steps = [step for step in directory[len(start) :].split("/") if step]
    folder = files.open(start)
    try:
        for step in steps:
            if folder is None:
                break
            following = folder.enter(step)
            folder.close()
            folder = following
        found = folder.stat(name) if folder is not None else None
        if folder is None or found is None:
            raise FileNotFoundError(errno.ENOENT, _CHANGED)
        if not stat.S_ISREG(found.st_mode):
            raise NotRegular(errno.EINVAL, "not a regular file")
        return folder.read(name, most)
    finally:
        if folder is not None:
            folder.close()


def protected(path: str) -> str:
    """What a link may not end in, when ``path`` is that: the repository's own metadata, or a secret."""
    parts = path.split("/")
    if any(part.casefold() == ".git" for part in parts):
        return "a protected file"
    name = parts[-1].casefold()
    if not name.startswith(".env.example") and any(fnmatch.fnmatchcase(name, glob) for glob in _SECRETS):
        return "a file that may hold secrets"
    return ""
