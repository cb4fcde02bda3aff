"""Every setting with its default, its range and what it is for: one schema for file, environment and manual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, Self


@dataclass(frozen=True, slots=True)
class Range:
    """Where a value may lie; pydantic checks it when a file or a variable is read."""

    ge: float | None = None
    le: float | None = None
    gt: float | None = None
    max_length: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        bounds = {"ge": self.ge, "le": self.le, "gt": self.gt, "max_length": self.max_length}
        return {**handler(source), **{key: bound for key, bound in bounds.items() if bound is not None}}


Seconds = Annotated[float, Range(gt=0, le=86_400)]


@dataclass(frozen=True)
class Section:
    """A table of the configuration; unknown keys are refused.

    It is a plain value, so that a command that finds nothing to check does not wait for pydantic.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid"}
    said: ClassVar[frozenset[str]] = frozenset()
    """Of a section that was read: the keys that were given in it."""

    @classmethod
    def model_validate(cls, shape: Mapping[str, Any]) -> Self:
        """The section that a parsed file describes. Raises pydantic's ``ValidationError``."""
        from steward.config.check import checked

        return checked(cls, shape)

    def model_copy(self, update: Mapping[str, Any]) -> Self:
        """The same with other values, which are not checked."""
        copy = replace(self, **update)
        object.__setattr__(copy, "said", self.said | update.keys())
        return copy


@dataclass(frozen=True)
class Instructions(Section):
    """How AGENTS.md documents are found and how they reach the model."""

    enabled: bool = True
    """Off: no instruction document is loaded, and that is shown."""
    refresh: Literal["append", "replace", "conversation"] = "append"
    """append keeps prompt caches warm; replace recomposes the system message; conversation reads once."""
    fallback_names: tuple[str, ...] = ("CLAUDE.md",)
    """Names looked for in a directory that has neither AGENTS.override.md nor AGENTS.md."""
    boundary: Literal["nearest", "outermost"] = "nearest"
    """Where discovery stops: the nearest repository, or the outermost one that encloses it."""
    keep: Literal["closest", "broadest"] = "closest"
    """Which documents stay when a total limit runs out."""
    max_depth: Annotated[int, Range(ge=1, le=1024)] = 32
    """Directories searched, from the target upwards."""
    max_documents: Annotated[int, Range(ge=1, le=1024)] = 16
    """Documents accepted for one target."""
    max_document_bytes: Annotated[int, Range(ge=1, le=16_777_216)] = 65_536
    """Bytes of one document; a larger one is left out whole."""
    max_total_bytes: Annotated[int, Range(ge=1, le=67_108_864)] = 262_144
    """Bytes of all documents of one target."""
    files: tuple[str, ...] = ()
    """Further documents for every target: paths, globs below the workspace, or http(s) URLs."""
    claude: bool = False
    """Also read ~/.claude/CLAUDE.md among your own documents."""


@dataclass(frozen=True)
class Tools(Section):
    """What the model's tools may see and do."""

    proposals: bool = True
    """Off: the model is given no tool to propose changes with."""
    secrets: bool = False
    """On: files such as .env, private keys and .npmrc may be read by the model."""
    max_file_bytes: Annotated[int, Range(ge=1_024, le=268_435_456)] = 4_194_304
    """Bytes of the largest file that is read, searched or changed."""
    ignore: tuple[str, ...] = ()
    """Paths that the tools leave alone, in gitignore syntax."""
    redact: bool = True
    """Off: what looks like a key in a file goes to the model as it is."""
    unredacted: tuple[str, ...] = ()
    """Paths in which nothing is redacted, in gitignore syntax."""


@dataclass(frozen=True)
class Skills(Section):
    """Where else skills are looked for."""

    directories: tuple[str, ...] = ()
    """Folders of skills: beneath the workspace, or anywhere (~ is your home) when you name them yourself."""


@dataclass(frozen=True)
class Proposals(Section):
    """How long the contents of changes that are applied, discarded or undone are kept."""

    keep_days: Annotated[int, Range(ge=0, le=36_500)] = 14
    """Days after which a finished change can be neither shown nor undone any more."""
    keep_bytes: Annotated[int, Range(ge=0, le=1_099_511_627_776)] = 268_435_456
    """Bytes of all finished changes; above that the oldest are let go. Pending changes are always kept."""


@dataclass(frozen=True)
class Context(Section):
    """How a conversation is kept within its model's window."""

    compact_at: Annotated[float, Range(ge=0.1, le=1.0)] = 0.8
    """Share of a known window at which older tool results are folded, and then the conversation is summarised."""


@dataclass(frozen=True)
class Sessions(Section):
    """How long conversations are kept."""

    keep_days: Annotated[int, Range(ge=1, le=36_500)] = 180
    """Days after its last use when a session is deleted; pending changes stay."""


@dataclass(frozen=True)
class Profile(Section):
    """Another way to ask: [profile.NAME], used by --profile NAME and /ask NAME."""

    model: str = ""
    """The model; empty takes the one in force."""
    tools: tuple[Literal["listFiles", "searchFiles", "readFile", "proposePatch", "Skill"], ...] | None = None
    """The tools the model is given; all of them when left out."""
    instructions: bool = True
    """Off: no AGENTS.md document is loaded."""
    prompt: Annotated[str, Range(max_length=65_536)] = ""
    """Text that is added to what the model is told first."""


@dataclass(frozen=True)
class Limits(Section):
    """Where a turn stops by itself."""

    rounds: Annotated[int, Range(ge=1, le=1_000)] = 25
    """Model calls of one turn."""
    turn_seconds: Seconds = 600.0
    """Seconds of one turn; clocks.local_factor times that for a server on this machine."""
    turn_tokens: Annotated[int, Range(ge=0, le=1_000_000_000)] = 0
    """Tokens of one turn, sent and received; 0 for no limit."""
    turn_cost: Annotated[float, Range(ge=0, le=1_000_000)] = 0.0
    """US dollars of one turn, where the price is known; 0 for no limit."""
    session_tokens: Annotated[int, Range(ge=0, le=1_000_000_000)] = 0
    """Tokens of all turns of a session; 0 for no limit."""
    session_cost: Annotated[float, Range(ge=0, le=1_000_000)] = 0.0
    """US dollars of all turns of a session, where the price is known; 0 for no limit."""


@dataclass(frozen=True)
class Clocks(Section):
    """How long the model may keep silent, in seconds, and how much longer where its server is this machine."""

    connect: Seconds = 10.0
    """Until a connection stands."""
    first_token: Seconds = 90.0
    """From the request to the first piece of the answer."""
    gap: Seconds = 60.0
    """Between two pieces of the answer; keep-alive comments do not count."""
    local_factor: Annotated[float, Range(ge=1, le=1_000)] = 4.0
    """How many times as long a server on this machine may take, for first_token, gap and the whole turn."""
    retries: Annotated[int, Range(ge=0, le=3)] = 3
    """How often a call is made again while nothing of the answer has come."""


@dataclass(frozen=True)
class Settings(Section):
    """All of it. The file is config.toml in your configuration directory."""

    model: str = ""
    """The model to use; empty offers the offline guide."""
    theme: Literal["auto", "dark", "light", "terminal"] = "auto"
    """Colours of the screen; terminal keeps to the terminal's own sixteen."""
    mouse: bool = True
    """Off: the terminal keeps the mouse."""
    trust: Literal["ask", "require", "always"] = "ask"
    """What a repository says to the model counts: ask, once you trusted it, and until you were asked once commands that
    send nothing show it with a warning; require, only once you trusted it; always, at once."""
    confine: bool = True
    """Off: the kernel does not confine the steward's two processes (Landlock)."""
    keyring: bool = False
    """On: a key that the environment lacks is taken from the system's keyring, where it lies under the service steward
    and the name of its variable, as OPENAI_API_KEY."""
    instructions: Instructions = Instructions()
    tools: Tools = Tools()
    skills: Skills = Skills()
    proposals: Proposals = Proposals()
    context: Context = Context()
    sessions: Sessions = Sessions()
    limits: Limits = Limits()
    clocks: Clocks = Clocks()
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further litellm arguments for every call, such as api_base, temperature or reasoning_effort."""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """Keys of the screen by name, such as panel = "ctrl+l"; /help keys lists the names."""
    profile: dict[str, Profile] = field(default_factory=dict[str, Profile])
    """Profiles by name; reviewer is built in."""
