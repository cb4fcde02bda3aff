"""Makes a pending change of a unified diff, with the checks that a model's patches pass: all of it or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from steward.errors import Conflict, EditRefused, PathRefused, UsageError
from steward.proposals import FileChange, Governing, Proposal, with_result
from steward.proposals.footing import new_file_mode, readable, vacant
from steward.service.house import House
from steward.service.patch_file import PatchedPath, Piece, read_patch, subject
from steward.workspace import RepoPath, quoted

MAX_BYTES = 16_777_216
"""Bytes of a patch; a larger one is refused."""

TITLE = 80


def import_patch(house: House, data: bytes, *, title: str = "", name: str = "a patch") -> Proposal:
    """Store the patch as one pending change. Raises ``StewardError`` of the kind of its first fault, storing nothing.

    ``title`` is what the change is called, else the patch's own subject, else ``name``. A hunk may stand elsewhere
    than it says when its lines are at one place alone.
    """
    if len(data) > MAX_BYTES:
        raise UsageError(f"The patch is larger than {MAX_BYTES} bytes.")
    files = [_change(house, file) for file in read_patch(data)]
    _refuse_collisions(files)
    words = " ".join((title or subject(data) or f"Imported from {name}").split())
    changes = house.changes
    proposal = Proposal(
        id=changes.store.next_id(),
        title=words if len(words) <= TITLE else words[: TITLE - 1] + "…",
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        files=tuple(files),
        workspace=house.workspace.identity,
        instructions=_governing(house, files),
        notes=("Imported from a patch; whoever made it may not have known the instructions.",),
    )
    changes.put(proposal)
    return proposal


def _governing(house: House, files: Sequence[FileChange]) -> tuple[Governing, ...]:
    paths = dict.fromkeys(path for file in files for path in (file.source, file.path))
    return tuple(
        Governing(path, document, digest)
        for path in paths
        for document, digest in house.governing(path).items()
    )


def _change(house: House, file: PatchedPath) -> FileChange:
    workspace = house.workspace
    limit = house.settings.tools.max_file_bytes
    if file.old is None:
        target = RepoPath.parse(file.new or "")
        if vacant(workspace, target) is not None:
            raise EditRefused("exists", f"{quoted(target.text)} is there already; the patch would create it.")
        result = _applied(b"", file.pieces, target.text)
        mode = _executable(new_file_mode()) if file.mode == 0o755 else new_file_mode()
        return FileChange(target.text, "create", None, _checked(result, limit), None, mode)
    source = RepoPath.parse(file.old)
    try:
        data, stat = readable(workspace, source, limit)
    except EditRefused as refusal:
        if refusal.kind == "missing":
            raise EditRefused(
                "missing", f"{quoted(source.text)} does not exist; the patch needs it."
            ) from None
        raise
    result = _applied(data, file.pieces, source.text)
    if file.new is None:
        if result:
            raise Conflict(f"{quoted(source.text)} holds more than the patch deletes; nothing was proposed.")
        return FileChange(source.text, "delete", data, None, stat.mode, None)
    target = RepoPath.parse(file.new)
    mode = stat.mode
    if file.mode is not None and bool(file.mode & 0o100) != bool(mode & 0o100):
        mode = _executable(mode) if file.mode & 0o100 else mode & ~0o111
    whole = FileChange(source.text, "modify", data, data, stat.mode, mode)
    if target != source:
        if vacant(workspace, target) is not None:
            raise EditRefused("exists", f"{quoted(target.text)} is there already; a rename never replaces.")
        whole = FileChange(target.text, "rename", data, data, stat.mode, mode, source.text)
    elif result == data and mode == stat.mode:
        raise EditRefused("unchanged", f"The patch changes nothing in {quoted(source.text)}.")
    return with_result(whole, _checked(result, limit))


def _executable(mode: int) -> int:
    """The mode with a right to execute for everyone who may read."""
    return mode | (mode & 0o444) >> 2


def _checked(result: bytes, limit: int) -> bytes:
    if len(result) > limit:
        raise EditRefused(
            "too-large", f"The result would have {len(result)} bytes; at most {limit} are allowed."
        )
    return result


def _applied(data: bytes, pieces: Sequence[Piece], path: str) -> bytes:
    """The bytes after all hunks; in a file whose lines all end in CRLF, hunks with LF fit as well.

    Raises ``Conflict`` for the first hunk that does not fit at one place alone.
    """
    lines = _split(data)
    try:
        return _fitted(lines, pieces, path)
    except Conflict:
        ended = [line for line in lines if line.endswith(b"\n")]
        if not ended or not all(line.endswith(b"\r\n") for line in ended):
            raise
        if any(line.endswith(b"\r\n") for piece in pieces for line in (*piece.old, *piece.new)):
            raise
    return _fitted(lines, [Piece(p.begin, _as_crlf(p.old), _as_crlf(p.new)) for p in pieces], path)


def _fitted(lines: Sequence[bytes], pieces: Sequence[Piece], path: str) -> bytes:
    made: list[bytes] = []
    taken = 0
    shift = 0
    for number, piece in enumerate(pieces, 1):
        at = _place(lines, piece.old, piece.begin - 1 + shift, taken)
        if at is None:
            raise Conflict(
                f"Hunk {number} of {quoted(path)} (line {piece.begin}) does not fit the file as it is; "
                "nothing was proposed."
            )
        shift = at - (piece.begin - 1)
        made += lines[taken:at]
        made += piece.new
        taken = at + len(piece.old)
    made += lines[taken:]
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
    """Where ``old`` stands at or after ``least``: at ``wanted``, else where it is the only one."""
    if wanted >= least and list(lines[wanted : wanted + len(old)]) == list(old) and wanted <= len(lines):
        return wanted
    if not old:
        return None
    found = [
        at for at in range(least, len(lines) - len(old) + 1) if list(lines[at : at + len(old)]) == list(old)
    ]
    return found[0] if len(found) == 1 else None


def _refuse_collisions(files: Sequence[FileChange]) -> None:
    """No path may stand twice in the patch, and none may need another as its directory."""
    seen: set[str] = set()
    for file in files:
        for path in {file.path, file.source}:
            if path in seen:
                raise UsageError(f"{quoted(path)} stands in the patch more than once.")
            seen.add(path)
    made = [file.path for file in files if file.result is not None]
    for upper in made:
        if any(other.startswith(upper + "/") for other in made):
            raise PathRefused("not-a-directory", upper, f"{quoted(upper)} would be a file and a directory.")
