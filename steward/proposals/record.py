"""The record of a change on its way to the disk, and the name and the bytes that it has in the journal."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from steward.workspace import RepoPath

Kind = Literal["apply", "undo"]
Step = Literal["swap", "put", "take"]
Phase = Literal["intent", "switching", "aborting", "committed", "acknowledged"]

PAGE = 4096
"""Records are filled up to a multiple of so many bytes, so that the next one fits into the same blocks."""
CLEAN, DRAFT, SPARE = ".clean", ".tmp", ".spare"
"""How names end. A spare is called by the nonce of the record that it held: that one is forgotten, and whatever record
is whole in it besides was begun later."""
_MAGIC, _EARLIER = "steward-journal-3", "steward-journal-2"
FREE = b"steward-spare----"
"""Stands in a spare's head, where the record's version stood, from when its name is known to be on the disk."""
_ENCODER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_PHASES: tuple[Phase, ...] = get_args(Phase)


@dataclass(frozen=True, slots=True)
class Image:
    """What identifies a version of a file. ``mode`` is ``None`` where the umask will decide it."""

    sha256: str
    size: int
    mode: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One name to be switched, and the name beside it that holds the other version meanwhile.

    ``swap`` exchanges ``stage`` (new) with ``path`` (old); ``put`` moves ``stage`` to an absent ``path``;
    ``take`` moves ``path`` to an absent ``stage``. A new version is called ``part`` until it is complete and durable.
    """

    step: Step
    path: str
    stage: str
    old: Image | None
    new: Image | None
    folded: bool = False
    """Whether a file that this change takes away answers to this name too (a case-only rename)."""

    @property
    def part(self) -> str:
        """The name of a stage that is being written."""
        return f"{self.stage}.part"

    @property
    def name(self) -> str:
        """The last name of ``path``."""
        return _parsed(self.path).name

    @property
    def parent(self) -> RepoPath:
        """The directory that holds ``path`` and ``stage``."""
        return _parsed(self.path).parent


@dataclass(frozen=True, slots=True)
class Record:
    """A change on its way to the disk.

    In phase ``intent`` no path has been switched and every stage is ours, whatever it holds. From ``switching``
    on each stage was complete, so that one which differs came out of a path; every ``part`` is ours in any phase.
    ``aborting`` overrules a commit that may or may not have reached the disk. ``committed`` waits to be recorded
    elsewhere; ``acknowledged`` was recorded while stages were still left over.
    """

    id: str
    kind: Kind
    stamp: str
    workspace: str
    nonce: str
    """Told from any other record by this, also from an earlier one of the same id and kind."""
    entries: tuple[Entry, ...]
    directories: tuple[str, ...] = ()
    """Directories that this change creates, each after the one that holds it."""
    emptied: tuple[str, ...] = ()
    """Directories that go with the last file in them, each before the one that holds it."""
    phase: Phase = "intent"
    """Told by the file's name, so that going on to the next phase is one rename."""
    file: str = ""
    """The name in the journal under which it stands; empty as long as it was not saved."""

    @property
    def stem(self) -> str:
        """How the names of its files begin, but for that of a spare that it is written into."""
        return f"{self.id}.{self.kind}"

    @property
    def first(self) -> Phase:
        """The phase to begin in.

        What was exchanged or taken shows by a stage that is there. That a file was put shows by its path alone, where
        somebody else may have made the same: so it takes a phase in which none has been put for certain.
        """
        return "intent" if any(entry.step == "put" for entry in self.entries) else "switching"

    @property
    def clean(self) -> bool:
        """Whether no stage of a committed record is left."""
        return self.file.endswith(CLEAN)

    def at(self, phase: Phase) -> Record:
        """The same record in another phase, under the name that tells it."""
        return replace(self, phase=phase, file=f"{self.stem}.{phase}")

    def parents(self) -> frozenset[RepoPath]:
        """Every directory in which this change makes or removes a name."""
        holding = (_parsed(text).parent for text in (*self.directories, *self.emptied))
        return frozenset((*(entry.parent for entry in self.entries), *holding))


@lru_cache(maxsize=1024)
def _parsed(text: str) -> RepoPath:
    return RepoPath.parse(text)


def encode(record: Record) -> bytes:
    """The bytes of a record's file: a head that vouches for the body, the body, and what fills up the page."""
    body = _ENCODER.encode(_shape(record)).encode("ascii")
    digest = hashlib.sha256(body).hexdigest()
    data = f"{_MAGIC} {record.nonce} {len(body)} {digest}\n".encode("ascii") + body
    return data + b"\n" * (-len(data) % PAGE)


def decode(file: str, data: bytes) -> Record:
    """The record in a file; raises ``ValueError``, ``KeyError`` or ``TypeError`` when it is not whole.

    What follows the body may be left from an earlier, longer record. Heads of the earlier version have no nonce.
    """
    head, rest = data.split(b"\n", 1)
    magic, *nonce, length, digest = head.decode("ascii").split(" ")
    if (magic, len(nonce)) not in ((_MAGIC, 1), (_EARLIER, 0)):
        raise ValueError("another version")
    body = rest[: int(length)]
    if len(body) != int(length) or hashlib.sha256(body).hexdigest() != digest:
        raise ValueError("damaged")
    record = _parse(json.loads(body), file)
    if nonce not in ([], [record.nonce]):
        raise ValueError("the head of another record")
    return record


def begun(file: str, data: bytes) -> Record | None:
    """The record that was written into a spare; ``None`` when it was not, or not wholly."""
    if not file.endswith(SPARE) or left_over(file, data):
        return None
    try:
        return decode(file, data)
    except (ValueError, KeyError, TypeError):
        # Torn: its sync never returned, and nothing was done that it would have told of.
        return None


def standing(journal: Path) -> Iterator[str]:
    """The names of all that is not settled in a journal, looked at from outside and without the lock.

    Raises ``OSError``. What goes away meanwhile is passed over.
    """
    for name in os.listdir(journal):
        if not name.endswith((DRAFT, SPARE)):
            yield name
        elif name.endswith(SPARE):
            with suppress(FileNotFoundError), open(journal / name, "rb", opener=_look) as file:
                if begun(name, file.read()):
                    yield name


def _look(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def left_over(file: str, data: bytes) -> bool:
    """Whether the first bytes of a spare say that no record was begun in it."""
    words = data[:PAGE].partition(b"\n")[0].split(b" ")
    return words[0] != _MAGIC.encode("ascii") or words[1:2] == [file.partition(".")[0].encode()]


def _phase(file: str) -> Phase:
    """The phase that a file's name tells. Raises ``ValueError`` when it tells none."""
    if file.endswith(CLEAN):
        return "committed"
    return _PHASES[_PHASES.index(cast(Phase, file.rpartition(".")[2]))]


def _shape(record: Record) -> dict[str, Any]:
    def image(of: Image | None) -> dict[str, Any] | None:
        return None if of is None else {"sha256": of.sha256, "size": of.size, "mode": of.mode}

    entries = [
        {
            "step": e.step,
            "path": e.path,
            "stage": e.stage,
            "old": image(e.old),
            "new": image(e.new),
            "folded": e.folded,
        }
        for e in record.entries
    ]
    return {
        "id": record.id,
        "kind": record.kind,
        "stamp": record.stamp,
        "workspace": record.workspace,
        "nonce": record.nonce,
        "entries": entries,
        "directories": record.directories,
        "emptied": record.emptied,
    }


def _parse(shape: Any, file: str) -> Record:
    fields = cast(dict[str, Any], shape)
    entries = tuple(
        Entry(e["step"], e["path"], e["stage"], _image(e["old"]), _image(e["new"]), e["folded"])
        for e in cast(list[dict[str, Any]], fields["entries"])
    )
    record = Record(
        id=fields["id"],
        kind=fields["kind"],
        stamp=fields["stamp"],
        workspace=fields["workspace"],
        nonce=fields["nonce"],
        entries=entries,
        directories=tuple(fields["directories"]),
        emptied=tuple(fields["emptied"]),
        file=file,
    )
    return replace(record, phase=record.first if file.endswith(SPARE) else _phase(file))


def _image(shape: Any) -> Image | None:
    return None if shape is None else Image(**shape)
