"""Reads a unified diff: which files, from which names and modes, by which hunks; all of it as bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchedFile, PatchSet

from steward.errors import UsageError

LINK_MODE = "120000"
SUBMODULE_MODE = "160000"
NOWHERE = "/dev/null"

_PREFIX = re.compile(r"[abciow12]/")
_ESCAPE = re.compile(rb'\\([abfnrtv"\\]|[0-7]{3})')
_PLAIN = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One hunk: the lines it expects from line ``begin`` on (counted from 1), and those it leaves instead."""

    begin: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class PatchedPath:
    """One file of a patch. ``old`` is ``None`` when it is made, ``new`` when it is deleted."""

    old: str | None
    new: str | None
    pieces: tuple[Piece, ...]
    mode: int | None
    """Permission bits that the patch gives the file, ``None`` when it says nothing."""

    @property
    def name(self) -> str:
        """The file as a sentence names it."""
        return self.new or self.old or ""


def read_patch(data: bytes) -> tuple[PatchedPath, ...]:
    """The files of a unified diff, from git or anyone. Raises ``UsageError`` when it is none, or takes more than text.

    Each byte is one character for the parser, so that no encoding can break a line or lose a byte.
    """
    lines = data.split(b"\n")
    if all(line.endswith(b"\r") for line in lines[:-1]) and len(lines) > 1:
        lines = [line.removesuffix(b"\r") for line in lines]
    last = lines.pop()
    texts = [line.decode("latin-1") + "\n" for line in lines]
    if last:
        texts.append(last.decode("latin-1") + "\n")
    try:
        parsed = PatchSet(texts)
    except (UnidiffParseError, ValueError) as error:
        raise UsageError(f"This is no unified diff that can be read: {_first_line(str(error))}.") from None
    if not parsed:
        raise UsageError("There is no unified diff in it.")
    return tuple(_file(file) for file in parsed)


def subject(data: bytes) -> str:
    """The subject of a patch that git formatted as a mail, empty for any other."""
    head = data[:20_000].split(b"\ndiff ", 1)[0].decode("utf-8", "replace")
    found = re.search(r"^Subject: (?:\[[^\]]*\] ?)?(.*(?:\n[ \t].*)*)", head, re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def _file(file: PatchedFile) -> PatchedPath:
    info = [line.rstrip("\n") for line in file.patch_info or ()]
    moved = {
        key: row[len(key) :] for row in info for key in ("rename from ", "rename to ") if row.startswith(key)
    }
    old, new = _name(file.source_file), _name(file.target_file)
    if len(moved) == 2:
        old, new = (_unquoted(moved[key]) for key in ("rename from ", "rename to "))
    shown = new or old or "a file"
    if any(row.startswith("copy from ") for row in info):
        raise UsageError(f"{shown} is a copy in the patch; make the patch without -C.")
    if file.is_binary_file:
        raise UsageError(f"{shown} is binary in the patch; only text can be taken.")
    modes = {file.source_mode, file.target_mode}
    if modes & {LINK_MODE, SUBMODULE_MODE}:
        raise UsageError(f"{shown} is a symbolic link or a submodule in the patch; only files can be taken.")
    if old is None and new is None:
        raise UsageError("A file in the patch has no name.")
    return PatchedPath(old, new, tuple(_piece(hunk) for hunk in file), _mode(file))


def _mode(file: PatchedFile) -> int | None:
    given = file.target_mode
    if given is None or not re.fullmatch("100[0-7]{3}", given):
        return None
    return 0o755 if int(given, 8) & 0o100 else 0o644


def _piece(hunk: Hunk) -> Piece:
    old: list[bytes] = []
    new: list[bytes] = []
    sides: list[list[bytes]] = []
    for line in hunk:
        if line.line_type == "\\":
            for side in sides:
                side[-1] = side[-1].removesuffix(b"\n")
            continue
        sides = {" ": [old, new], "-": [old], "+": [new]}.get(line.line_type, [])
        for side in sides:
            side.append(line.value.encode("latin-1"))
    # A hunk that expects nothing stands after the line it names, any other begins with it.
    return Piece(hunk.source_start + (not old), tuple(old), tuple(new))


def _name(text: str) -> str | None:
    """A name as git writes it, without its prefix; ``None`` for nowhere."""
    name = _unquoted(text)
    if name == NOWHERE:
        return None
    return name[2:] if _PREFIX.match(name) else name


def _unquoted(text: str) -> str:
    data = text.encode("latin-1")
    if len(data) >= 2 and data.startswith(b'"') and data.endswith(b'"'):
        data = _ESCAPE.sub(_unescaped, data[1:-1])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("A file in the patch has a name that is not UTF-8.") from None


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if len(code) == 3 else _PLAIN.get(code, code)


def _first_line(text: str) -> str:
    first = text.strip().split("\n", 1)[0].rstrip(".")
    return first if len(first) <= 120 else first[:119] + "…"
