"""The closed union of everything a front end may be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from steward.conversation import Usage
from steward.proposals import Proposal

EndReason = Literal["answered", "interrupted", "failed", "round-limit", "budget", "loop"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A question was accepted."""

    question: str


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A model call begins; ``number`` counts from 1 within the turn."""

    number: int


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the answer arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningText:
    """A piece of the model's reasoning arrived."""

    text: str


@dataclass(frozen=True, slots=True)
class CallForming:
    """The model is writing a tool call; ``characters`` of arguments have come so far."""

    name: str
    characters: int


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The model call is over; ``context`` is the tokens the window holds now, estimated when not reported."""

    number: int
    usage: Usage
    context: int
    window: int | None


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool begins to run; ``arguments`` is the JSON text the model wrote."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool is done; ``text`` is what the model is told, ``summary`` one line for a person."""

    call_id: str
    name: str
    ok: bool
    text: str
    summary: str


@dataclass(frozen=True, slots=True)
class FocusMoved:
    """The focus is another path now (relative to the workspace, ``.`` for its root)."""

    path: str


@dataclass(frozen=True, slots=True)
class DocumentState:
    """One instruction document as it stands in the conversation."""

    path: str
    scope: str
    bytes: int
    tokens: int
    sha256: str
    state: Literal["in-effect", "delivered", "arrived", "replaced", "withdrawn", "pending"]
    """``arrived``: just now; ``delivered``: earlier, its scope is not the focus; ``pending``: not yet delivered."""


@dataclass(frozen=True, slots=True)
class InstructionsChanged:
    """Which documents are in effect for the focus now; ``arrived`` names those just delivered."""

    focus: str
    documents: tuple[DocumentState, ...]
    skipped: tuple[tuple[str, str], ...]
    """Path and reason of each document left out."""
    arrived: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LimitNotice:
    """Resolution of instruction documents stopped at a limit; contents are never part of it.

    ``outcome`` names the limit, ``accepted`` counts the documents that are kept, ``size`` is their bytes. ``limit`` is
    in directories, documents or bytes.
    """

    target: str
    outcome: str
    accepted: int
    size: int
    limit: int


@dataclass(frozen=True, slots=True)
class ProposalMade:
    """A proposal is pending, new or (``amended``) changed with a new stamp."""

    proposal: Proposal
    amended: bool = False


@dataclass(frozen=True, slots=True)
class ChangesMoved:
    """The list of changes, or the staleness of some, is no longer what it was: look again."""

    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model could not be reached and is asked again after ``seconds``; ``attempt`` counts from 1."""

    attempt: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """One sentence the person should see: a warning, something cut, repaired or left out."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The turn is over after ``seconds``; ``error`` is one sentence on why, empty when there is nothing to say."""

    reason: EndReason
    rounds: int
    usage: Usage
    seconds: float
    error: str = ""


Event = (
    TurnStarted
    | RoundStarted
    | AnswerText
    | ReasoningText
    | CallForming
    | RoundEnded
    | ToolStarted
    | ToolFinished
    | FocusMoved
    | InstructionsChanged
    | LimitNotice
    | ProposalMade
    | ChangesMoved
    | Retrying
    | Notice
    | TurnEnded
)
