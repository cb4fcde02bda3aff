"""listFiles: what a directory holds, as far down as asked."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from steward.errors import PathRefused
from steward.tools.arguments import About, Arguments
from steward.tools.base import ToolResult, blocking, described
from steward.tools.overlay import Overlay, Views, counted, display, display_name, nothing_pending
from steward.visible import line
from steward.workspace import Kind, LeftOut, RepoPath, Workspace
from steward.workspace.glob import Glob

if TYPE_CHECKING:
    from steward.proposals.draft import Pending


@dataclass(frozen=True, slots=True)
class ListFilesArguments(Arguments):
    """What listFiles takes."""

    path: Annotated[str, About("Directory, relative to the workspace.")] = "."
    depth: Annotated[int, About("How many levels to go down; 1 is the directory's own entries.", least=1)] = 1
    glob: Annotated[str | None, About("Give only entries that match, like *.py or docs/**/*.{md,rst}.")] = (
        None
    )


@dataclass(frozen=True, slots=True)
class ListLimits:
    """How much one call gives."""

    entries: int = 1000
    characters: int = 60_000


@dataclass(slots=True)
class _Listing:
    """What there is to show, before it is cut to the limits."""

    found: dict[RepoPath, Kind | Pending] = field(default_factory=dict)
    """Entries on disk by kind, and what is there only as pending text."""
    new_directories: dict[RepoPath, str] = field(default_factory=dict[RepoPath, str])
    """Directories that only a pending change would make, with its id."""
    not_entered: bool = False
    only_pending: bool = False
    past_limit: int = 0
    left_out: LeftOut = field(default_factory=LeftOut)
    unnamed: list[str] = field(default_factory=list[str])
    asked_for_ignored: bool = False


class ListFilesTool:
    """Lists entries in order of their paths, directories with a slash, and says what it left out."""

    name = "listFiles"
    arguments = ListFilesArguments

    def __init__(
        self, workspace: Workspace, views: Views = nothing_pending, *, limits: ListLimits | None = None
    ) -> None:
        self._workspace = workspace
        self._views = views
        self._limits = limits or ListLimits()

    @property
    def description(self) -> str:
        """What the model is told of it."""
        return described(self.name)

    async def run(self, arguments: ListFilesArguments) -> ToolResult:
        """Raises ``PathRefused`` or ``UsageError``; stops when cancelled."""
        path = RepoPath.parse(arguments.path)
        glob = Glob.parse(arguments.glob) if arguments.glob else None
        stop = threading.Event()
        try:
            return await blocking(self._list, path, arguments.depth, glob, stop)
        finally:
            stop.set()

    def _list(self, path: RepoPath, depth: int, glob: Glob | None, stop: threading.Event) -> ToolResult:
        overlay = Overlay(self._workspace, self._views)
        listing = self._on_disk(overlay, path, depth, glob, stop)
        self._pending(overlay, listing, path, depth, glob)
        rows = self._rows(overlay, listing)
        head = f"{display(path)}{'/' if path.parts else ''}: {counted(len(rows), 'entry', 'entries')}"
        if depth > 1:
            head += f" down to depth {depth}"
        if listing.only_pending:
            head += " (only pending, not on disk)"
        summary = counted(len(rows), "entry", "entries")
        if listing.past_limit:
            summary += f" of {len(rows) + listing.past_limit:,}"
        text = "\n".join((head, *rows, *listing.unnamed, *_notes(listing, path, depth)))
        return ToolResult(text, touched=(path,), summary=summary)

    def _on_disk(
        self, overlay: Overlay, path: RepoPath, depth: int, glob: Glob | None, stop: threading.Event
    ) -> _Listing:
        listing = _Listing()
        try:
            walk = self._workspace.walk(path, depth=depth, secrets=True, stop=stop.is_set)
        except PathRefused as refusal:
            if refusal.kind == "missing" and next(overlay.written(path), None) is not None:
                listing.only_pending = True
                return listing
            raise overlay.hinted(refusal, path) from None
        for found, kind in walk:
            if kind == "directory" and len(found.parts) - len(path.parts) >= depth:
                listing.not_entered = True
            if glob is None or glob.matches(found, path):
                listing.found[found] = kind
        listing.left_out = walk.left_out
        listing.asked_for_ignored = walk.asked_for_ignored
        if glob is None:
            for parent, name in walk.unnamed:
                above = f"{display(parent)}/" if parent.parts else ""
                listing.unnamed.append(f"{above}{display_name(name)} (name is not UTF-8: no path)")
        return listing

    def _pending(
        self, overlay: Overlay, listing: _Listing, path: RepoPath, depth: int, glob: Glob | None
    ) -> None:
        """Add what the model has made in this turn and what is not on disk."""
        for made, pending in overlay.written(path):
            for end in range(len(path.parts) + 1, min(len(path.parts) + depth, len(made.parts)) + 1):
                above = RepoPath(made.parts[:end])
                if above in listing.found or not self._is_new(above):
                    continue
                if glob is not None and not glob.matches(above, path):
                    continue
                listing.found[above] = pending
                if end < len(made.parts):
                    listing.new_directories[above] = pending.change

    def _rows(self, overlay: Overlay, listing: _Listing) -> list[str]:
        """The rows within the limits: when there are too many entries the deepest are left out first."""
        chosen = sorted(listing.found)
        if len(chosen) > self._limits.entries:
            chosen.sort(key=lambda path: len(path.parts))
            chosen = sorted(chosen[: self._limits.entries])
        rows: list[str] = []
        room = self._limits.characters
        for path in chosen:
            row = self._row(overlay, listing, path)
            room -= len(row) + 1
            if room < 0 and rows:
                break
            rows.append(row)
        listing.past_limit = len(listing.found) - len(rows)
        return rows

    def _row(self, overlay: Overlay, listing: _Listing, path: RepoPath) -> str:
        name = display(path)
        found = listing.found[path]
        if path in listing.new_directories:
            return f"{name}/ (pending in {listing.new_directories[path]}, not on disk)"
        if not isinstance(found, str):
            return f"{name} ({_state(found, on_disk=False)})"
        if found == "directory":
            name += "/"
        elif found == "link":
            target = self._workspace.target(path)
            name += f" -> {display(target) if target else '(outside the workspace)'} (symbolic link, not followed)"
        elif found == "special":
            name += " (not a regular file)"
        elif (pending := overlay.pending.get(path.text)) is not None:
            name += f" ({_state(pending, on_disk=True)})"
        else:
            name += self._size(path)
        return name + (" (secret, closed to the tools)" if self._workspace.area(path) == "secret" else "")

    def _is_new(self, path: RepoPath) -> bool:
        try:
            return self._workspace.stat(path) is None
        except PathRefused:
            return False

    def _size(self, path: RepoPath) -> str:
        try:
            found = self._workspace.stat(path)
        except PathRefused:
            return ""
        return "" if found is None else f" ({counted(found.size, 'byte')})"


def _state(pending: Pending, *, on_disk: bool) -> str:
    if pending.result is None:
        to = pending.renamed_to
        return f"pending in {pending.change}: {f'renamed to {line(to)}' if to else 'deleted'}"
    what = "changed" if on_disk else "new, not on disk"
    return f"pending in {pending.change}: {what}, {counted(len(pending.result), 'byte')}"


def _notes(listing: _Listing, path: RepoPath, depth: int) -> list[str]:
    """Sentences about what the rows do not show."""
    counts = listing.left_out
    parts = [
        f"{number:,} {what}"
        for number, what in (
            (listing.past_limit, "past the limit of one call, the deepest first"),
            (counts.ignored, "ignored"),
            (counts.protected, "protected"),
            (counts.other_mounts, "on other mounts"),
            (counts.unreadable, "unreadable"),
            (counts.unnamed - len(listing.unnamed), "with names that are not UTF-8"),
            (counts.vanished, "vanished meanwhile"),
            (counts.not_applied, "ignore files not applied"),
        )
        if number > 0
    ]
    notes = [f"Left out: {', '.join(parts)}."] if parts else []
    if listing.asked_for_ignored:
        notes.append(f"{display(path)} itself is ignored by git; ignore files were not applied beneath it.")
    if listing.not_entered:
        notes.append(f"Directories at depth {depth} were not entered.")
    return notes
