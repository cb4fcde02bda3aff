"""The bytes of a file as lines, cut after LF alone."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which may stand before the first line."""


def split(data: bytes) -> list[bytes]:
    """Lines with their endings, cut after LF alone."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def text_of(raw: bytes) -> str:
    """A line without its ending; bytes that are not UTF-8 are lone surrogates."""
    return (
        raw.removesuffix(b"\n")
        .removesuffix(b"\r" if raw.endswith(b"\r\n") else b"")
        .decode("utf-8", "surrogateescape")
    )


def ending_of(raw: bytes) -> str:
    """``\\n``, ``\\r\\n``, or nothing at the end of a file."""
    return "\r\n" if raw.endswith(b"\r\n") else "\n" if raw.endswith(b"\n") else ""
