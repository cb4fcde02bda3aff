"""Makes a pending change of a unified diff, with the checks that a model's patches pass: all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from steward.errors import Conflict, EditRefused, PathRefused, StewardError, UsageError
from steward.proposals import FileChange, Governing, Proposal, with_result
from steward.proposals.footing import new_file_mode, readable, vacant
from steward.service.house import House
from steward.service.patch_file import Patch, PatchedPath, subject
from steward.service.patch_fit import fitted
from steward.service.title import title_of
from steward.workspace import RepoPath, quoted

MAX_BYTES = 16_777_216
"""Bytes of a patch; a larger one is refused."""


def import_patch(house: House, data: bytes, *, title: str = "", name: str = "a patch") -> Proposal:
    """Store the patch as one pending change. Raises ``StewardError`` of the kind of its first fault, storing nothing.

    ``title`` is what the change is called, else the patch's own subject, else ``name``. A hunk may stand elsewhere
    than it says when its lines are at one place alone. A file may stand in it several times, as in a series of
    commits; each hunk is held against what those before it have left.
    """
    if len(data) > MAX_BYTES:
        raise UsageError(f"The patch is larger than {MAX_BYTES} bytes.")
    patch = Patch(data)
    tree = _Tree(house)
    for file in patch.files(tree.holds):
        tree.take(file)
    files = tuple(tree.changes())
    if not files:
        raise EditRefused("unchanged", "What the patch does it takes back again; it changes nothing.")
    _refuse_collisions(files)
    changes = house.changes
    proposal = Proposal(
        id=changes.store.next_id(),
        title=title_of(title or subject(data) or f"Imported from {name}"),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        files=files,
        workspace=house.workspace.identity,
        instructions=_governing(house, files),
        notes=(
            "Imported from a patch; whoever made it may not have known the instructions.",
            *(f"Not taken, since the patch has no lines for it: {line}" for line in patch.left_out),
        ),
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


@dataclass(frozen=True, slots=True)
class _Held:
    """A file as the patch has left it so far."""

    data: bytes
    mode: int
    origin: str | None
    """The file on disk that it was made of; ``None`` for a new one."""


class _Tree:
    """The files of the workspace as the patch leaves them, without touching any."""

    def __init__(self, house: House) -> None:
        self._workspace = house.workspace
        self._limit = house.settings.tools.max_file_bytes
        self._bases: dict[str, tuple[bytes, int]] = {}
        self._now: dict[str, _Held | None] = {}
        """``None`` for a file that the patch has deleted, or moved away."""

    def holds(self, name: str) -> bool:
        """Whether there is such a file now; a name that may not be read counts as one that is there."""
        if name in self._now:
            return self._now[name] is not None
        try:
            return self._workspace.stat(RepoPath.parse(name)) is not None
        except StewardError:
            return True

    def take(self, file: PatchedPath) -> None:
        """Do what the patch says of one file. Raises ``Conflict``, ``EditRefused`` or ``PathRefused``."""
        if file.old is None:
            path = RepoPath.parse(file.new or "").text
            self._free(path, "the patch would create it")
            mode = _executable(new_file_mode()) if file.mode == 0o755 else new_file_mode()
            gone = path if path in self._bases else None
            self._put(path, _Held(fitted(b"", file.pieces, path), mode, gone))
            return
        source = RepoPath.parse(file.old).text
        held = self._read(source)
        data = fitted(held.data, file.pieces, source)
        if file.new is None:
            if data:
                raise Conflict(f"{quoted(source)} holds more than the patch deletes; nothing was proposed.")
            self._now[source] = None
            return
        target = RepoPath.parse(file.new).text
        mode = held.mode
        if file.mode is not None and bool(file.mode & 0o100) != bool(mode & 0o100):
            mode = _executable(mode) if file.mode & 0o100 else mode & ~0o111
        if target == source:
            if data == held.data and mode == held.mode:
                raise EditRefused("unchanged", f"The patch changes nothing in {quoted(source)}.")
            self._put(source, replace(held, data=data, mode=mode))
            return
        self._free(target, "a copy never replaces" if file.copied else "a rename never replaces")
        self._put(target, _Held(data, mode, None if file.copied else held.origin))
        if not file.copied:
            self._now[source] = None

    def changes(self) -> Iterator[FileChange]:
        """What has become of the files."""
        moved = {held.origin for held in self._now.values() if held is not None}
        for path, held in self._now.items():
            if held is None:
                if path in self._bases and path not in moved:
                    base, mode = self._bases[path]
                    yield FileChange(path, "delete", base, None, mode, None)
                continue
            origin = held.origin
            if origin is not None and origin != path and self._now[origin] is not None:
                # Its name was given to another file, so it stays where it is and this one is new.
                origin = None
            if origin is None:
                yield FileChange(path, "create", None, held.data, None, held.mode)
                continue
            base, mode = self._bases[origin]
            if origin == path:
                if (held.data, held.mode) != (base, mode):
                    yield with_result(FileChange(path, "modify", base, base, mode, held.mode), held.data)
            else:
                yield with_result(FileChange(path, "rename", base, base, mode, held.mode, origin), held.data)

    def _read(self, path: str) -> _Held:
        if path in self._now:
            held = self._now[path]
            if held is None:
                raise EditRefused("missing", f"{quoted(path)} is gone when the patch needs it.")
            return held
        try:
            data, stat = readable(self._workspace, RepoPath.parse(path), self._limit)
        except EditRefused as refusal:
            if refusal.kind == "missing":
                raise EditRefused("missing", f"{quoted(path)} does not exist; the patch needs it.") from None
            raise
        self._bases[path] = data, stat.mode
        return _Held(data, stat.mode, path)

    def _free(self, path: str, why: str) -> None:
        """Raise ``EditRefused`` when there is something at ``path``."""
        there = self._now[path] if path in self._now else vacant(self._workspace, RepoPath.parse(path))
        if there is not None:
            raise EditRefused("exists", f"{quoted(path)} is there already; {why}.")

    def _put(self, path: str, held: _Held) -> None:
        if len(held.data) > self._limit:
            raise EditRefused(
                "too-large",
                f"The result would have {len(held.data)} bytes; at most {self._limit} are allowed.",
            )
        self._now[path] = held


def _executable(mode: int) -> int:
    """The mode with a right to execute for everyone who may read."""
    return mode | (mode & 0o444) >> 2


def _refuse_collisions(files: Sequence[FileChange]) -> None:
    """No path may need another as its directory."""
    made = [file.path for file in files if file.result is not None]
    for upper in made:
        if any(other.startswith(upper + "/") for other in made):
            raise PathRefused("not-a-directory", upper, f"{quoted(upper)} would be a file and a directory.")
