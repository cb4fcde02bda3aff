"""Puts the hunks of a patch into the lines of a file: where they say, else where their lines stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from steward.errors import Conflict
from steward.service.patch_file import Piece
from steward.workspace import quoted


def fitted(data: bytes, pieces: Sequence[Piece], path: str) -> bytes:
    """The bytes after all hunks; in a file whose lines all end in CRLF, hunks with LF fit as well.

    Raises ``Conflict`` for the first hunk that does not fit at one place alone.
    """
    lines = _split(data)
    try:
        return _placed(lines, pieces, path)
    except Conflict:
        ended = [line for line in lines if line.endswith(b"\n")]
        if not ended or not all(line.endswith(b"\r\n") for line in ended):
            raise
        if any(line.endswith(b"\r\n") for piece in pieces for line in (*piece.old, *piece.new)):
            raise
    return _placed(lines, [Piece(p.begin, _as_crlf(p.old), _as_crlf(p.new)) for p in pieces], path)


def _placed(lines: Sequence[bytes], pieces: Sequence[Piece], path: str) -> bytes:
    """Each hunk in what those before it have left, since the context of two hunks may overlap."""
    made = list(lines)
    done = 0
    shift = 0
    for number, piece in enumerate(pieces, 1):
        at = _place(made, piece.old, piece.begin - 1 + shift, done)
        if at is None:
            raise Conflict(
                f"Hunk {number} of {quoted(path)} (line {piece.begin}) does not fit the file as it is; "
                "nothing was proposed."
            )
        made[at : at + len(piece.old)] = piece.new
        done = at + len(piece.new)
        shift = done - (piece.begin - 1 + len(piece.old))
    if any(not line.endswith(b"\n") for line in made[:-1]):
        raise Conflict(f"{quoted(path)} ends otherwise than the patch says; nothing was proposed.")
    return b"".join(made)


def _split(data: bytes) -> list[bytes]:
    """Lines with their endings, cut at LF alone."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _as_crlf(lines: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(line[:-1] + b"\r\n" if line.endswith(b"\n") else line for line in lines)


def _place(lines: Sequence[bytes], old: Sequence[bytes], wanted: int, least: int) -> int | None:
    """Where ``old`` stands: at ``wanted``, else at or after ``least`` where it is the only one."""
    if 0 <= wanted <= len(lines) and list(lines[wanted : wanted + len(old)]) == list(old):
        return wanted
    if not old:
        return None
    found = [
        at for at in range(least, len(lines) - len(old) + 1) if list(lines[at : at + len(old)]) == list(old)
    ]
    return found[0] if len(found) == 1 else None
