"""What a model proposes within one turn: patches gathered into one pending change, checked against the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from steward.errors import EditRefused, NoSuchThing, WrongStatus
from steward.proposals import edit
from steward.proposals.footing import new_file_mode, readable, vacant
from steward.proposals.lines import BOM
from steward.proposals.proposal import Edit, FileChange, Governing, Proposal
from steward.proposals.stale import base_differs, same_file
from steward.workspace import FileStat, RepoPath, Workspace, quoted

WITHDRAWN = "withdrawn by the model: nothing of it was left"
"""The reason of a change that a later patch of the model undid as a whole."""


class Shelf(Protocol):
    """Where proposals are kept."""

    def get(self, change: str, /) -> Proposal:
        """The change of that id; raises ``NoSuchThing``."""
        ...

    def pending(self) -> tuple[Proposal, ...]:
        """All changes that wait for a person."""
        ...

    def next_id(self) -> str:
        """An id that no change has had yet."""
        ...

    def put(self, proposal: Proposal, read: Proposal | None = None, /) -> None:
        """Keep it, in place of ``read``, which had its id; ``EditRefused`` when that is no longer what stands there."""
        ...


@dataclass(frozen=True, slots=True)
class Pending:
    """What the model has made of one path in this turn: its bytes, or ``None`` when deleted or renamed away."""

    change: str
    result: bytes | None
    renamed_to: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A patch that was stored.

    ``file`` is the change of the file, ``None`` when it is back to its base and has left the change. Nothing was
    left of the change when ``withdrawn``: the proposal then is discarded, and keeps the files it had last.
    """

    proposal: Proposal
    file: FileChange | None
    amended: bool
    withdrawn: bool = False


class Draft:
    """The patches of one turn.

    ``governing`` tells which instruction documents govern a path; it may raise ``EditRefused`` of kind
    ``instructions`` when the model has not read them. Calls from several threads are taken one after another.
    """

    def __init__(
        self,
        workspace: Workspace,
        shelf: Shelf,
        governing: Callable[[str], Iterable[Governing]],
        *,
        title: str = "",
        session: str = "",
        model: str = "",
        max_file_bytes: int | None = None,
    ) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._governing = governing
        self._title = title
        self._session = session
        self._model = model
        self._limit = workspace.policy.max_file_bytes if max_file_bytes is None else max_file_bytes
        self._current: str | None = None
        self._lock = threading.Lock()

    @property
    def change(self) -> str | None:
        """The id that the next patch amends, unless it says otherwise or the person has dealt with it."""
        return self._current

    def view(self, path: RepoPath) -> Pending | None:
        """The pending text of ``path`` in this turn's change."""
        return self.views().get(path.text)

    def views(self) -> dict[str, Pending]:
        """The pending text of every path that this turn's change touches."""
        proposal = self._pending_current()
        if proposal is None:
            return {}
        seen: dict[str, Pending] = {}
        for file in proposal.files:
            if file.old_path is not None:
                seen[file.old_path] = Pending(proposal.id, None, file.path)
            seen[file.path] = Pending(proposal.id, file.result)
        return seen

    def propose(
        self,
        path: RepoPath,
        old: str,
        new: str,
        change: str | None = None,
        delete: bool = False,
        rename_to: RepoPath | None = None,
    ) -> Accepted:
        """Store one patch: replace ``old`` by ``new``, delete the file, or rename it (with or without an edit).

        ``change`` is ``None`` for the turn's own change, ``"new"`` for another, or the id of a pending one. Raises
        ``EditRefused``, ``PathRefused``, ``NoSuchThing`` or ``WrongStatus``; then nothing was stored.
        """
        with self._lock:
            proposal = self._chosen(change)
            known = self._known(proposal, path)
            try:
                if delete:
                    file = self._deleted(path, known, old, new, rename_to)
                elif rename_to is not None:
                    file = self._renamed(path, known, old, new, rename_to, proposal)
                else:
                    file = self._edited(path, known, old, new)
            except EditRefused as refusal:
                raise self._explained(refusal, proposal, known, path, old) from None
            governing = self._governed(path, rename_to)
            return self._stored(proposal, known, file, governing)

    def _pending_current(self) -> Proposal | None:
        if self._current is None:
            return None
        try:
            proposal = self._shelf.get(self._current)
        except NoSuchThing:
            return None
        return proposal if proposal.status == "pending" else None

    def _chosen(self, change: str | None) -> Proposal | None:
        """The proposal to amend; ``None`` for a new one."""
        named = (change or "").strip()
        if not named:
            return self._pending_current()
        if named == "new":
            return None
        proposal = self._shelf.get(named)
        if proposal.status != "pending":
            raise WrongStatus(named, proposal.status, "amended")
        return proposal

    def _known(self, proposal: Proposal | None, path: RepoPath) -> FileChange | None:
        """What the change already does to ``path``, made sure that the disk still is its base."""
        known = proposal.file(path.text) if proposal else None
        if proposal is None or known is None:
            return None
        if known.path != path.text:
            raise EditRefused(
                "conflict",
                f"{quoted(path.text)} is renamed to {quoted(known.path)} in {proposal.id}; "
                "propose the patch for that path. "
                f"A new file can take its place once the person has applied {proposal.id}.",
            )
        differs = base_differs(known, self._workspace)
        if differs:
            raise EditRefused(
                "conflict",
                f"{quoted(known.source)} on disk is no longer what {proposal.id} was made against ({differs}). "
                f'Read it again and propose with change="new"; the person may rebase or discard {proposal.id}.',
            )
        return known

    def _edited(self, path: RepoPath, known: FileChange | None, old: str, new: str) -> FileChange:
        if known is not None:
            result = self._checked(edit.replace(known.result, old, new))
            # A file written anew after its deletion holds no chain of edits that could be anchored again.
            chained = (
                known.base is not None
                and known.result is not None
                and (known.edits or known.base == known.result)
            )
            edits = (*known.edits, Edit(old, new)) if chained else ()
            return _normal(replace(known, result=result, edits=edits, result_mode=_mode(known)))
        if old:
            data, stat = readable(self._workspace, path, self._limit)
        else:
            found = vacant(self._workspace, path)
            if found is None:
                result = self._checked(edit.replace(None, old, new))
                return FileChange(path.text, "create", None, result, None, new_file_mode())
            # An empty file takes its first text this way; any other refuses.
            if found.size > len(BOM):
                edit.replace(b"?", old, new)
            data, stat = readable(self._workspace, path, self._limit)
        result = self._checked(edit.replace(data, old, new))
        return FileChange(path.text, "modify", data, result, stat.mode, stat.mode, None, (Edit(old, new),))

    def _deleted(
        self, path: RepoPath, known: FileChange | None, old: str, new: str, rename_to: RepoPath | None
    ) -> FileChange:
        if old or new or rename_to is not None:
            raise EditRefused(
                "arguments",
                "deleteFile removes the whole file; leave oldText, newText and renameTo empty with it.",
            )
        if known is not None:
            if known.result is None:
                raise EditRefused(
                    "unchanged", f"{quoted(path.text)} is already deleted in the pending change."
                )
            return _normal(replace(known, result=None, result_mode=None, edits=()))
        data, stat = readable(self._workspace, path, self._limit)
        return FileChange(path.text, "delete", data, None, stat.mode, None)

    def _renamed(
        self,
        path: RepoPath,
        known: FileChange | None,
        old: str,
        new: str,
        target: RepoPath,
        proposal: Proposal | None,
    ) -> FileChange:
        if target == path:
            raise EditRefused("arguments", "renameTo is the path the file already has.")
        if known is None:
            data, stat = readable(self._workspace, path, self._limit)
            known = FileChange(path.text, "modify", data, data, stat.mode, stat.mode)
        if known.result is None:
            raise EditRefused(
                "missing", f"{quoted(path.text)} is deleted in the pending change; it cannot be renamed."
            )
        there = vacant(self._workspace, target)
        if there is not None and not self._same(known, target, there):
            what = "a directory; give the whole new path" if there.kind == "directory" else "there already"
            raise EditRefused("exists", f"{quoted(target.text)} is {what}; a rename never replaces.")
        moved = known
        if old or new:
            result = self._checked(edit.replace(known.result, old, new))
            moved = replace(
                known, result=result, edits=(*known.edits, Edit(old, new)) if known.base is not None else ()
            )
        if known.base is None:
            return replace(moved, path=target.text)
        return _normal(replace(moved, path=target.text, old_path=known.source))

    def _same(self, known: FileChange, target: RepoPath, there: FileStat) -> bool:
        """Whether what is at the new path is the file itself: renamed back, or where case does not count."""
        if known.base is None or target.text.casefold() != known.source.casefold():
            return False
        source = self._workspace.stat(RepoPath.parse(known.source))
        return source is not None and same_file(source, there)

    def _checked(self, result: bytes) -> bytes:
        if len(result) > self._limit:
            raise EditRefused(
                "too-large", f"The result would have {len(result)} bytes; at most {self._limit} are allowed."
            )
        return result

    def _governed(self, path: RepoPath, target: RepoPath | None) -> tuple[Governing, ...]:
        found = list(self._governing(path.text))
        if target is not None:
            found += self._governing(target.text)
        return tuple(found)

    def _explained(
        self,
        refusal: EditRefused,
        proposal: Proposal | None,
        known: FileChange | None,
        path: RepoPath,
        old: str,
    ) -> EditRefused:
        """The refusal, with a word on which text was looked at, and where the old text is instead."""
        if refusal.kind not in ("not-found", "missing", "exists", "unchanged", "not-unique"):
            return refusal
        said = [str(refusal)]
        if known is not None and proposal is not None:
            said.append(
                f"This was compared with the pending text of {proposal.id}, not with the file on disk."
            )
        if refusal.kind in ("not-found", "missing") and old:
            for other in self._shelf.pending():
                if proposal is not None and other.id == proposal.id:
                    continue
                file = other.file(path.text)
                if file and file.path == path.text and file.result and old.encode("utf-8") in file.result:
                    said.append(
                        f'oldText is in the pending text of {other.id}: pass change="{other.id}" to amend it.'
                    )
                    break
        return EditRefused(refusal.kind, "\n".join(said))

    def _stored(
        self,
        proposal: Proposal | None,
        known: FileChange | None,
        file: FileChange,
        governing: tuple[Governing, ...],
    ) -> Accepted:
        others = [f for f in proposal.files if f is not known] if proposal else []
        kept = None if file.noop else file
        if kept is not None:
            _refuse_collisions(others, kept, proposal)
        files = (
            [f if f is not known else kept for f in proposal.files] if proposal and known else [*others, kept]
        )
        left = tuple(f for f in files if f is not None)
        if not left:
            return self._withdrawn(proposal)
        named = {f.path for f in left} | {f.source for f in left}
        fresh = {g.file for g in governing}
        instructions = [g for g in proposal.instructions if g.file not in fresh] if proposal else []
        documents = tuple(g for g in (*instructions, *governing) if g.file in named)
        if proposal is None:
            made = Proposal(
                id=self._shelf.next_id(),
                title=self._title,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                files=left,
                workspace=self._workspace.identity,
                instructions=documents,
                session=self._session,
                model=self._model,
            )
        else:
            made = replace(proposal, files=left, instructions=documents)
        self._shelf.put(made, proposal)
        self._current = made.id
        return Accepted(made, kept, amended=proposal is not None)

    def _withdrawn(self, proposal: Proposal | None) -> Accepted:
        if proposal is None:
            raise EditRefused("unchanged", "Nothing would change.")
        gone = replace(proposal, status="discarded", reason=WITHDRAWN)
        self._shelf.put(gone, proposal)
        return Accepted(gone, None, amended=True, withdrawn=True)


def _mode(known: FileChange) -> int | None:
    if known.result_mode is not None:
        return known.result_mode
    return known.base_mode


def _normal(file: FileChange) -> FileChange:
    """The same change with the action that its base, result and paths amount to."""
    if file.base is None:
        return replace(file, action="create", old_path=None)
    if file.result is None:
        return replace(file, action="delete", path=file.source, old_path=None)
    if file.old_path is not None and file.old_path != file.path:
        return replace(file, action="rename")
    return replace(file, action="modify", old_path=None)


def _refuse_collisions(others: Iterable[FileChange], file: FileChange, proposal: Proposal | None) -> None:
    """Two files of one change may not share a path, nor may one need the other as its directory."""
    named = proposal.id if proposal else "the change"
    mine = {file.path, file.source}
    for other in others:
        shared = mine & {other.path, other.source}
        if shared:
            path = quoted(min(shared))
            raise EditRefused(
                "conflict",
                f"{path} is already part of {named} ({other.action} {quoted(other.source)}); "
                'propose this in another change with change="new" once that one is applied.',
            )
        for upper, lower in ((file.path, other.path), (other.path, file.path)):
            if lower.startswith(upper + "/"):
                raise EditRefused("conflict", f"{quoted(upper)} would be a file and a directory in {named}.")
