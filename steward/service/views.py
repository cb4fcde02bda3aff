"""What a front end sees of the steward's state: frozen values, made when asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from steward.agents_md import Resolution
    from steward.conversation import Usage
    from steward.events import DocumentState
    from steward.loop import Bounds
    from steward.proposals import Action, Proposal
    from steward.proposals.diff import FileDiff
    from steward.proposals.stale import StaleFile


@dataclass(frozen=True, slots=True)
class FileCount:
    """One file of a change with its added and removed lines."""

    path: str
    action: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change as a list shows it."""

    proposal: Proposal
    counts: tuple[FileCount, ...]
    stale: tuple[StaleFile, ...]
    """Files whose base no longer matches the disk; empty for a change that is not pending."""
    overlaps: tuple[str, ...]
    """Ids of other pending changes on the same files."""

    @property
    def added(self) -> int:
        """Lines added over all files."""
        return sum(count.added for count in self.counts)

    @property
    def removed(self) -> int:
        """Lines removed over all files."""
        return sum(count.removed for count in self.counts)


@dataclass(frozen=True, slots=True)
class Review:
    """A change as the review screen shows it; showing it is what makes it possible to apply it."""

    proposal: Proposal
    diffs: tuple[FileDiff, ...]
    counts: tuple[FileCount, ...]
    stale: tuple[StaleFile, ...]
    overlaps: tuple[str, ...]
    banners: tuple[tuple[str, str], ...]
    """Path and warning of each file that can execute or steer agents."""
    hidden: int
    """Characters in added lines that would not be seen as what they are."""
    instructions_changed: tuple[str, ...]
    """Governing documents that differ now from what they were when the change was proposed."""


@dataclass(frozen=True, slots=True)
class FileDigests:
    """One file of a change as the log knows it: digests in hex, ``None`` for absent."""

    path: str
    action: Action
    base_sha256: str | None
    result_sha256: str | None


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of the audit log."""

    number: int
    at: str
    """ISO 8601 in UTC."""
    kind: str
    """``proposed`` (new, amended or re-anchored), ``withdrawn`` (by the model), ``shown``, ``applied``,
    ``discarded``, ``undone``."""
    change: str
    stamp: str
    files: tuple[FileDigests, ...]


@dataclass(frozen=True, slots=True)
class History:
    """What happened to changes, and whether that can be believed; the checks are of the whole log."""

    lines: tuple[Happening, ...]
    broken: int | None
    """Number of the first line that does not follow from the one before it: something was altered or taken out."""
    contradicted: tuple[str, ...]
    """Changes that are stored otherwise than their last line says."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the person; none when all is in order."""
        found: list[str] = []
        if self.broken is not None:
            found.append(
                f"The audit log is broken at line {self.broken}: it was altered from outside, and what follows it "
                "proves nothing."
            )
        if self.contradicted:
            found.append(
                f"The audit log and what is stored disagree on {', '.join(self.contradicted[:5])}"
                f"{f' and {len(self.contradicted) - 5} more' if len(self.contradicted) > 5 else ''}: "
                "one of them was altered from outside."
            )
        return tuple(found)


@dataclass(frozen=True, slots=True)
class InstructionsView:
    """What governs a path, and what of it the conversation has been told."""

    resolution: Resolution
    documents: tuple[DocumentState, ...]
    window: int | None
    """Tokens of the model's window, when known."""
    enabled: bool
    refresh: str


@dataclass(frozen=True, slots=True)
class Share:
    """One part of what fills the window."""

    label: str
    tokens: int
    kind: Literal["base", "tools", "instructions", "skills", "conversation", "results"]


@dataclass(frozen=True, slots=True)
class ContextView:
    """What fills the window now; estimated by characters where the provider said nothing."""

    parts: tuple[Share, ...]
    total: int
    window: int | None
    counted: int | None = None
    """What the provider counted when it was last asked; the rest of ``total`` was added since and is estimated."""


def in_proportion(parts: tuple[Share, ...], total: int) -> tuple[Share, ...]:
    """The parts, estimated by characters, so that they make up a ``total`` that was counted."""
    whole = sum(part.tokens for part in parts)
    if not whole or whole == total:
        return parts
    made: list[Share] = []
    estimated = given = 0
    for part in parts:
        estimated += part.tokens
        made.append(replace(part, tokens=round(total * estimated / whole) - given))
        given += made[-1].tokens
    return tuple(made)


@dataclass(frozen=True, slots=True)
class SessionView:
    """A stored session as a list shows it."""

    id: str
    title: str
    created: str
    updated: str
    messages: int
    model: str
    parent: str = ""
    """The session it was forked from."""
    found: str = ""
    """Where the words of a search were found, on one line."""


@dataclass(frozen=True, slots=True)
class CostView:
    """What the turn that runs, or ran last, and the whole session have used; ``None`` in it means not reported."""

    turn: Usage
    session: Usage
    bounds: Bounds | None = field(default=None, compare=False)
    """Where a turn stops by itself."""


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """The bounds: what the tools may touch and how that is enforced."""

    name: str
    root: str
    boundary: str
    engine: str
    identity: str
    state: str
    documents: tuple[str, ...]
    protected: tuple[str, ...]
