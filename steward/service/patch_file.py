"""Reads a unified diff: which files, from which names and modes, by which hunks; all of it as bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, PatchSet

from steward.errors import UsageError
from steward.service.patch_names import Exists, git_names, header_name, plain_names, unquoted

LINK_MODES = ("120000", "160000")
"""A symbolic link and a submodule."""

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_GIT = "diff --git "
_BINARY = re.compile(r"Binary files? .* (differ|has changed)$")
_MODE = re.compile(r"(?:old|new|deleted file|new file) mode (\d+)$|index [0-9a-f]+\.\.[0-9a-f]+ (\d+)$")
_MOVE = re.compile(r"(rename|copy) (from|to|old|new) (.*)$")
_EXTENDED = re.compile(r"(?:old mode|new mode|deleted file|new file|copy|rename|(?:dis)?similarity|index) ")


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
    mode: int | None = None
    """Permission bits that the patch gives the file, ``None`` when it says nothing."""
    copied: bool = False
    """``new`` is made of what ``old`` holds, and ``old`` stays."""


@dataclass(slots=True)
class _Section:
    """The lines of one file, as they stand in the patch."""

    head: list[str]
    hunks: list[str] = field(default_factory=list[str])
    count: int = 0


class Patch:
    """A unified diff, from git or anyone.

    Raises ``UsageError`` when it is none, or takes more than text. Each byte is one character for the parser, so that
    no encoding can break a line or lose a byte.
    """

    def __init__(self, data: bytes) -> None:
        text = data.decode("latin-1")
        lines = text.split("\n")
        if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
            lines = [line.removesuffix("\r") for line in lines]
        self.left_out: list[str] = []
        """What it says of files that it has no lines for, in its own words."""
        self._sections = self._cut(lines)
        if not self._sections:
            raise UsageError("There is no unified diff in it.")

    def files(self, exists: Exists) -> Iterator[PatchedPath]:
        """The files in order. ``exists`` decides whether a name carries a prefix where nothing else does."""
        for section in self._sections:
            yield (_git_file if section.head[0].startswith(_GIT) else _plain_file)(section, exists)

    def _cut(self, lines: list[str]) -> list[_Section]:
        """The sections of the files; whatever else stands between them is a letter, a log or prose."""
        sections: list[_Section] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if line.startswith(_GIT):
                section = _Section([line])
                at += 1
                while at < len(lines) and _EXTENDED.match(lines[at]):
                    section.head.append(lines[at])
                    at += 1
                if at < len(lines) and (lines[at] == "GIT binary patch" or _BINARY.match(lines[at])):
                    raise UsageError(f"{_name_in(section)} is binary in the patch; only text can be taken.")
            elif not _begins(lines, at):
                self._refuse(line)
                at += 1
                continue
            else:
                section = _Section([])
            if lines[at : at + 1] and _begins(lines, at):
                section.head += lines[at : at + 2]
                at += 2
            while at < len(lines) and _HUNK.match(lines[at]):
                at = _take_hunk(lines, at, section)
            sections.append(section)
        return sections

    def _refuse(self, line: str) -> None:
        """Look at a line outside every file. Raises ``UsageError`` for what would be lost with it."""
        if line.startswith(("diff --cc ", "diff --combined ", "@@@ -")):
            raise UsageError("It is the combined diff of a merge; make a diff against one parent.")
        if _HUNK.match(line):
            raise UsageError(f"A hunk has no file above it: {_shown(line)}")
        if _BINARY.match(line):
            raise UsageError(f"Only text can be taken, and the patch says: {_shown(line)}")
        if line.startswith("Only in "):
            self.left_out.append(_shown(line))


def subject(data: bytes) -> str:
    """The subject of a patch that git formatted as a mail, empty for any other."""
    head = data[:20_000].split(b"\ndiff ", 1)[0].decode("utf-8", "replace")
    found = re.search(r"^Subject: (?:\[[^\]]*\] ?)?(.*(?:\n[ \t].*)*)", head, re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def _begins(lines: list[str], at: int) -> bool:
    """Whether the two names of a file stand here, with a hunk below them."""
    return (
        lines[at].startswith("--- ")
        and len(lines) > at + 2
        and lines[at + 1].startswith("+++ ")
        and _HUNK.match(lines[at + 2]) is not None
    )


def _take_hunk(lines: list[str], at: int, section: _Section) -> int:
    """Move one hunk into the section; gives the line after it."""
    found = _HUNK.match(lines[at])
    assert found is not None
    section.count += 1
    begin = at
    left, right = (1 if count is None else int(count) for count in found.groups())
    section.hunks.append(lines[at])
    at += 1
    while left > 0 or right > 0:
        line = lines[at] if at < len(lines) else "end"
        kind = line[:1] if line not in ("", "\r") else " "
        if at == len(lines) - 1 and not line:
            kind = "end"
        if kind in (" ", "-"):
            left -= 1
        if kind in (" ", "+"):
            right -= 1
        if kind not in (" ", "-", "+", "\\") or left < 0 or right < 0:
            raise UsageError(
                f"Hunk {section.count} of {_name_in(section)} has other lines than its header says: "
                f"{_shown(lines[begin])}"
            )
        # The mark for a missing end of line is in the language of whoever made the patch.
        whole = line if line[:1] == kind else f" {line}"
        section.hunks.append("\\ No newline at end of file" if kind == "\\" else whole)
        at += 1
    if at < len(lines) and lines[at].startswith("\\ "):
        section.hunks.append("\\ No newline at end of file")
        at += 1
    return at


def _git_file(section: _Section, exists: Exists) -> PatchedPath:
    head = section.head
    moves = [found for line in head if (found := _MOVE.match(line))]
    old = new = None
    for move in moves:
        if move[2] in ("from", "old"):
            old = unquoted(move[3])
        else:
            new = unquoted(move[3])
    shown = _name_in(section)
    if any(code in LINK_MODES for line in head if (found := _MODE.match(line)) for code in found.groups()):
        raise UsageError(f"{shown} is a symbolic link or a submodule in the patch; only files can be taken.")
    mode = _mode(head)
    if old is not None and new is not None:
        return PatchedPath(old, new, _pieces(section), mode, any(move[1] == "copy" for move in moves))
    both = git_names(head[0].removeprefix(_GIT))
    if both is None and len(head) >= 2 and head[-2].startswith("--- "):
        return _plain_file(section, exists)
    if both is None:
        raise UsageError(f"It cannot be told which file is meant: {_shown(head[0])}")
    made = any(line.startswith("new file mode") for line in head)
    if not made and both[0].startswith(("a/", "b/")) and not exists(both[0]) and exists(both[0][2:]):
        both = (both[0][2:], both[0][2:])
    gone = any(line.startswith("deleted file mode") for line in head)
    return PatchedPath(None if made else both[0], None if gone else both[1], _pieces(section), mode)


def _plain_file(section: _Section, exists: Exists) -> PatchedPath:
    texts = [line[4:].removesuffix("\r") for line in section.head[-2:]]
    old, new = (header_name(text) for text in texts)
    side = texts[0] if old is None else texts[1]
    other = unquoted(side.partition("\t")[0])
    return PatchedPath(*plain_names(old, new, other, exists), _pieces(section))


def _mode(head: list[str]) -> int | None:
    found = [line for line in head if line.startswith(("new mode ", "new file mode "))]
    code = found[0].rsplit(" ", 1)[1] if found else ""
    if not re.fullmatch("100[0-7]{3}", code):
        return None
    return 0o755 if int(code, 8) & 0o100 else 0o644


def _pieces(section: _Section) -> tuple[Piece, ...]:
    if not section.hunks:
        return ()
    try:
        (parsed,) = PatchSet(["--- a\n", "+++ b\n", *(line + "\n" for line in section.hunks)])
    except (UnidiffParseError, ValueError) as error:
        said = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise UsageError(f"This is no unified diff that can be read: {_shown(said)}") from None
    return tuple(_piece(hunk) for hunk in parsed)


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


def _name_in(section: _Section) -> str:
    """The file as a sentence names it."""
    return _shown(section.head[-1].removeprefix(_GIT).removeprefix("+++ ").partition("\t")[0]).rstrip(".")


def _shown(text: str) -> str:
    """A line of the patch inside a sentence."""
    words = " ".join(text.encode("latin-1").decode("utf-8", "replace").split())
    return f"{words if len(words) <= 120 else words[:119] + '…'}."
