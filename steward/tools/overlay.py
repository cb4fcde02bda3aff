"""The workspace as the model sees it within a turn: the disk, with the model's own pending text in its place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steward.errors import PathRefused
from steward.tools.meant import likely
from steward.tools.redact import redacted_bytes, redacts
from steward.visible import line
from steward.workspace import RepoPath, Workspace, quoted

if TYPE_CHECKING:
    from steward.proposals.draft import Pending

Views = Callable[[], "Mapping[str, Pending]"]
"""The pending text of every path that this turn's change touches, by path; see ``Draft.views``."""


def nothing_pending() -> Mapping[str, Pending]:
    """The views of a tool that runs outside of a turn."""
    return {}


@dataclass(frozen=True, slots=True)
class Seen:
    """Bytes of a file as the model sees it; ``change`` names the pending change they come from, if any."""

    data: bytes
    change: str | None = None


class Overlay:
    """One look: the pending texts as they were when it was made, over the disk as it is."""

    def __init__(self, workspace: Workspace, views: Views) -> None:
        self.workspace = workspace
        self.pending = dict(views())

    def read(self, path: RepoPath, *, walked: bool = False) -> Seen:
        """What the model would find at ``path``, which a walk may have ``walked`` to. Raises ``PathRefused``."""
        pending = self.pending.get(path.text)
        if pending is None:
            return Seen(self.workspace.read_walked(path) if walked else self.workspace.read(path).data)
        self.workspace.allowed(path)
        if pending.result is None:
            what = f"renamed to {quoted(pending.renamed_to)}" if pending.renamed_to else "deleted"
            raise PathRefused(
                "missing", path.text, f"{quoted(path.text)} is {what} in your pending {pending.change}."
            )
        return Seen(pending.result, pending.change)

    def clean(self, path: RepoPath, data: bytes) -> bytes:
        """What the model is told of the bytes of a file: without keys; the number of lines is the same."""
        return redacted_bytes(data) if redacts(self.workspace.policy, path) else data

    def written(self, directory: RepoPath) -> Iterator[tuple[RepoPath, Pending]]:
        """Pending files at or beneath ``directory`` that are not deleted, in order."""
        for text, pending in sorted(self.pending.items()):
            path = RepoPath.parse(text)
            if pending.result is not None and path.within(directory):
                yield path, pending

    def hinted(self, refusal: PathRefused, path: RepoPath) -> PathRefused:
        """The refusal of a missing path with the nearest name beside it, when there is one."""
        if refusal.kind != "missing" or path.text in self.pending or not path.parts:
            return refusal
        near = tuple(quoted(name) for name in likely(self.workspace, path))
        return PathRefused(refusal.kind, refusal.path, str(refusal), near)


def display(path: RepoPath) -> str:
    """A whole path on one line, with every odd character visible."""
    return line(path.text)


def display_name(name: str) -> str:
    """A name that may not be UTF-8, its odd bytes as ``\\\\xe9``."""
    return line(os.fsencode(name).decode("utf-8", "backslashreplace"))


def counted(number: int, one: str, many: str | None = None) -> str:
    """``3 files``, ``1 file``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
