"""Files and directories as values: written as lines of a text, read from them, and planted in an empty directory."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from steward.conversation import JsonObject
from steward.errors import ConfigError, PathRefused, StorageError
from steward.workspace import ROOT, RepoPath
from steward.workspace.policy import area_of

MOST = 32 * 1024 * 1024
"""Bytes of all files that a text may hold."""
_GIT = ("HEAD", "index", "info/exclude")
_KINDS = ("file", "directory", "link")


@dataclass(frozen=True, slots=True)
class Piece:
    """One file, directory or link; directories that only lie on the way to others need not be given."""

    path: str
    kind: Literal["file", "directory", "link"]
    data: bytes = b""
    """A file's bytes, or where a link points."""
    mode: int = 0o644
    """Permission bits of a file."""
    size: int = 0
    """Bytes of a file whose contents are not given."""


def written(prefix: str, pieces: Iterable[Piece]) -> Iterator[str]:
    """A line for each piece. ``ConfigError`` when they hold more than ``MOST`` bytes."""
    total = 0
    for piece in pieces:
        total += len(piece.data)
        if total > MOST:
            raise ConfigError(
                f"The workspace holds more than {MOST >> 20} MiB; export it without its files, and replay it on a copy."
            )
        shape: JsonObject = {"path": piece.path, "kind": piece.kind}
        if piece.data:
            try:
                shape["text"] = piece.data.decode()
            except UnicodeDecodeError:
                shape["base64"] = base64.b64encode(piece.data).decode("ascii")
        if piece.kind == "file" and piece.mode != 0o644:
            shape["mode"] = piece.mode
        if piece.size:
            shape["size"] = piece.size
        yield prefix + json.dumps(shape, ensure_ascii=True)


def pieces_in(prefix: str, text: str) -> tuple[Piece, ...]:
    """The pieces of a text's lines that begin with ``prefix``. ``ConfigError`` for one that is wrong."""
    return tuple(_parsed(line[len(prefix) :]) for line in text.split("\n") if line.startswith(prefix))


def _parsed(line: str) -> Piece:
    try:
        shape: Any = json.loads(line)
        data = base64.b64decode(shape["base64"], validate=True) if "base64" in shape else None
        piece = Piece(
            str(shape["path"]),
            shape["kind"],
            data if data is not None else str(shape.get("text", "")).encode(),
            int(shape.get("mode", 0o644)) & 0o777,
            int(shape.get("size", 0)),
        )
        right = piece.kind in _KINDS and 0 <= piece.size < 1 << 40
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, binascii.Error):
        right, piece = False, None
    if not right or piece is None:
        raise ConfigError("A file of this recording is not written as files are.")
    return piece


def without(piece: Piece, clean: Callable[[str], str]) -> Piece:
    """The piece with its text passed through ``clean``; other bytes stay."""
    try:
        text = piece.data.decode()
    except UnicodeDecodeError:
        return piece
    return replace(piece, data=clean(text).encode("utf-8", "surrogatepass"))


def plant(root: Path, pieces: Iterable[Piece]) -> int:
    """Write the pieces below ``root``, an empty directory; gives the number of files.

    Links are made at last, so that nothing is ever written through one. Raises ``ConfigError`` for a path that leads
    out of the directory or comes twice, and ``StorageError`` when the disk refuses.
    """
    links: list[Piece] = []
    files = 0
    root.mkdir(parents=True, exist_ok=True)
    for piece in pieces:
        path = _place(root, piece.path)
        if piece.kind == "link":
            links.append(piece)
            continue
        with _Telling():
            if piece.kind == "directory":
                path.mkdir(parents=True, exist_ok=True)
            else:
                _write(path, piece)
                files += 1
    for piece in links:
        path = _place(root, piece.path)
        with _Telling():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.parent.resolve().is_relative_to(root.resolve()):
                raise ConfigError("A link of this recording lies behind another link.")
            path.symlink_to(os.fsdecode(piece.data))
    return files


def _write(path: Path, piece: Piece) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(piece.data)
        if piece.size > len(piece.data):
            file.truncate(piece.size)
    path.chmod((piece.mode & 0o777) | 0o600)


def _place(root: Path, text: str) -> Path:
    """Where a path lies below ``root``; of git's own files only those that are no use for running anything."""
    above, dot_git, name = text.rpartition(".git/")
    if dot_git and (not above or above.endswith("/")) and name in _GIT:
        parent = above.rstrip("/")
    elif text == ".git" or text.endswith("/.git"):
        parent = text[: -len(".git")].rstrip("/")
    else:
        parent = text
    try:
        path = RepoPath.parse(parent) if parent else ROOT
        right = path.text == (parent or ".") and not any(area_of(part) == "protected" for part in path.parts)
    except PathRefused:
        right = False
    if not right:
        raise ConfigError("A file of this recording lies outside of its workspace.")
    return root / text


class _Telling:
    """Turns an error of the disk into a sentence."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError):
            raise ConfigError("A path of this recording comes twice.") from None
        if isinstance(error, OSError):
            raise StorageError(
                f"The copy cannot be written: {(error.strerror or 'error').lower()}."
            ) from None
