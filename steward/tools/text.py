"""Bytes of a file as text and lines: strictly UTF-8, and only LF and CRLF end a line."""

from __future__ import annotations

from dataclasses import dataclass

from steward.errors import PathRefused
from steward.workspace import RepoPath, quoted

BOM = "\ufeff"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
"""A text in UTF-16 begins with one of these."""


def decoded(path: RepoPath, data: bytes) -> str:
    """The text of ``data``; raises ``PathRefused`` of kind ``binary`` or ``not-utf8`` with the offset, from 0."""
    name = quoted(path.text)
    if data.startswith(UTF16_MARKS):
        raise PathRefused(
            "not-utf8",
            path.text,
            f"{name} looks like UTF-16 text (byte 0 begins its mark); only UTF-8 text is read.",
        )
    nul = data.find(b"\0")
    if nul >= 0:
        raise PathRefused("binary", path.text, f"{name} is binary: byte {nul} (counted from 0) is NUL.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = data[error.start]
        raise PathRefused(
            "not-utf8",
            path.text,
            f"{name} is not UTF-8 text: byte {error.start} (counted from 0) is 0x{bad:02x}.",
        ) from None


@dataclass(frozen=True, slots=True)
class Lines:
    """A text cut into lines without their endings, and what was cut off."""

    texts: list[str]
    crlf: int
    lf: int
    final_newline: bool
    bom: bool

    @classmethod
    def of(cls, text: str) -> Lines:
        """A byte order mark at the start is not part of the first line."""
        bom = text.startswith(BOM)
        if bom:
            text = text[1:]
        pieces = text.split("\n")
        final = pieces[-1] == ""
        if final:
            pieces.pop()
        crlf = text.count("\r\n")
        lf = text.count("\n") - crlf
        if crlf:
            ended = len(pieces) if final else len(pieces) - 1
            pieces = [p[:-1] if i < ended and p.endswith("\r") else p for i, p in enumerate(pieces)]
        return cls(pieces, crlf, lf, final or not pieces, bom)

    def notes(self) -> list[str]:
        """What the lines do not show, each as a few words."""
        found: list[str] = []
        if self.crlf and self.lf:
            found.append(f"mixed line endings: {self.crlf:,} CRLF and {self.lf:,} LF")
        elif self.crlf:
            found.append("CRLF line endings")
        if not self.final_newline:
            found.append("no newline at the end of the file")
        if self.bom:
            found.append("begins with a byte order mark, not shown")
        return found
