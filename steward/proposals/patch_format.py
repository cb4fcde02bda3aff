"""A proposal as the text of a patch, in the form that ``git apply`` takes."""

from __future__ import annotations

import base64
import hashlib
import zlib

from steward.proposals.diff import Hunk, file_diff
from steward.proposals.proposal import FileChange, Proposal

_ESCAPED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch_text(proposal: Proposal) -> bytes:
    """All files of the proposal as one git patch; names are quoted as git does with ``core.quotePath=false``."""
    return b"".join(file_patch(file) for file in proposal.files)


def file_patch(file: FileChange) -> bytes:
    """The patch of one file."""
    old, new = file.source, file.path
    lines = [f"diff --git {git_quoted('a/' + old)} {git_quoted('b/' + new)}"]
    base_mode, result_mode = _git_mode(file.base_mode), _git_mode(file.result_mode)
    if file.base is None:
        lines.append(f"new file mode {result_mode}")
    elif file.result is None:
        lines.append(f"deleted file mode {base_mode}")
    elif base_mode != result_mode:
        lines += [f"old mode {base_mode}", f"new mode {result_mode}"]
    if file.action == "rename":
        lines += [
            f"similarity index {_similarity(file)}%",
            f"rename from {git_quoted(old)}",
            f"rename to {git_quoted(new)}",
        ]
    if file.base == file.result:
        return _encoded(lines)
    binary = file.binary
    ids = f"{_blob(file.base, binary)}..{_blob(file.result, binary)}"
    kept_mode = file.base is not None and file.result is not None and base_mode == result_mode
    lines.append(f"index {ids} {base_mode}" if kept_mode else f"index {ids}")
    if binary:
        return _encoded(lines) + b"GIT binary patch\n" + _literal(file.result) + _literal(file.base)
    diff = file_diff(file)
    if diff.hunks:
        lines.append(f"--- {_header_name('a/' + old) if file.base is not None else '/dev/null'}")
        lines.append(f"+++ {_header_name('b/' + new) if file.result is not None else '/dev/null'}")
    return _encoded(lines) + b"".join(map(_hunk, diff.hunks))


def git_quoted(name: str) -> str:
    """A path as git writes it: in double quotes with escapes when it holds a control, a quote or a backslash."""
    if not any(ord(c) < 32 or ord(c) == 127 or c in '"\\' for c in name):
        return name
    escaped = "".join(
        f"\\{_ESCAPED[ord(c)]}"
        if ord(c) in _ESCAPED
        else f"\\{ord(c):03o}"
        if ord(c) < 32 or ord(c) == 127
        else c
        for c in name
    )
    return f'"{escaped}"'


def _header_name(name: str) -> str:
    """In the ``---`` and ``+++`` lines a tab ends a name that holds a space, so that no date is read into it."""
    shown = git_quoted(name)
    return f"{shown}\t" if " " in name and not shown.startswith('"') else shown


def _hunk(hunk: Hunk) -> bytes:
    done = [hunk.header.encode("ascii"), b"\n"]
    for line in hunk.lines:
        if line.sign == "\\":
            done.append(b"\\ No newline at end of file\n")
        else:
            done += [line.sign.encode("ascii"), line.raw, b"" if line.raw.endswith(b"\n") else b"\n"]
    return b"".join(done)


def _encoded(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _git_mode(mode: int | None) -> str:
    """git knows only whether the owner may execute a file."""
    return "100755" if mode is not None and mode & 0o100 else "100644"


def _blob(data: bytes | None, whole: bool) -> str:
    """The id git gives these bytes; ``git apply`` needs the whole of it for binary files only."""
    if data is None:
        return "0" * 40 if whole else "0" * 7
    name = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return name if whole else name[:7]


def _similarity(file: FileChange) -> int:
    base, result = file.base or b"", file.result or b""
    if base == result:
        return 100
    diff = file_diff(file, 0)
    changed = sum(len(line.raw) for hunk in diff.hunks for line in hunk.lines)
    return max(0, min(99, 100 - changed * 100 // max(1, len(base) + len(result))))


def _literal(data: bytes | None) -> bytes:
    """One side of a binary patch."""
    raw = data or b""
    packed = zlib.compress(raw)
    lines = [b"literal %d\n" % len(raw)]
    for at in range(0, len(packed), 52):
        piece = packed[at : at + 52]
        size = len(piece)
        letter = chr(ord("A") + size - 1) if size <= 26 else chr(ord("a") + size - 27)
        padded = piece + b"\0" * (-size % 4)
        lines.append(letter.encode("ascii") + base64.b85encode(padded) + b"\n")
    return b"".join(lines) + b"\n"
