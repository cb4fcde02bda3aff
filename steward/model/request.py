"""What is asked of a model and what comes back: plain values, the same for every provider."""

from __future__ import annotations

from dataclasses import dataclass, field

from steward.conversation import JsonObject, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call."""

    model: str
    """A litellm model name, ``offline/guide`` or ``script/FILE``."""
    messages: str
    """``Conversation.wire()``: a JSON array; its text begins with the previous request's."""
    tools: tuple[JsonObject, ...] = ()
    """OpenAI tool definitions, the same for a whole conversation."""
    options: JsonObject = field(default_factory=dict[str, object])
    """Further litellm arguments from the user's own configuration (``reasoning_effort``, ``max_tokens``, …)."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A piece of the model's reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call is being written: its name as far as known, and how many characters of arguments so far."""

    index: int
    name: str
    characters: int


@dataclass(frozen=True, slots=True)
class RetryNotice:
    """Nothing had arrived yet and the call is made again after ``seconds``."""

    attempt: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class WorkerNotice:
    """What a person should know of how the request was made: the worker was started again, a message moved."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole round, once the stream has ended properly."""

    text: str
    reasoning: str
    calls: tuple[ToolCall, ...]
    """Calls that can be run: registered names, arguments that are a JSON object. Ids are unique and not empty."""
    finish: str | None
    usage: Usage
    told: str = ""
    """When not empty: the reply is not usable as it is, and this one sentence says to the model why."""
    rejected: tuple[tuple[ToolCall, str], ...] = ()
    """Calls that must be answered with a sentence instead of being run (unknown name, broken arguments)."""


Part = TextPart | ReasoningPart | CallPart | RetryNotice | WorkerNotice | Reply
