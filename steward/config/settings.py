"""Every setting with its default, its range and what it is for: one schema for file, environment and manual."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Section(BaseModel):
    """A table of the configuration; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


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
    max_depth: int = Field(default=32, ge=1, le=1024)
    """Directories searched, from the target upwards."""
    max_documents: int = Field(default=16, ge=1, le=1024)
    """Documents accepted for one target."""
    max_document_bytes: int = Field(default=65_536, ge=1, le=16_777_216)
    """Bytes of one document; a larger one is left out whole."""
    max_total_bytes: int = Field(default=262_144, ge=1, le=67_108_864)
    """Bytes of all documents of one target."""
    files: tuple[str, ...] = ()
    """Further documents for every target: paths, globs below the workspace, or http(s) URLs."""
    claude: bool = False
    """Also read ~/.claude/CLAUDE.md among your own documents."""


class Tools(Section):
    """What the model's tools may see and do."""

    proposals: bool = True
    """Off: the model is given no tool to propose changes with."""
    secrets: bool = False
    """On: files such as .env, private keys and .npmrc may be read by the model."""
    max_file_bytes: int = Field(default=4_194_304, ge=1_024, le=268_435_456)
    """Bytes of the largest file that is read, searched or changed."""
    ignore: tuple[str, ...] = ()
    """Paths that the tools leave alone, in gitignore syntax."""
    redact: bool = True
    """Off: what looks like a key in a file goes to the model as it is."""
    unredacted: tuple[str, ...] = ()
    """Paths in which nothing is redacted, in gitignore syntax."""


class Skills(Section):
    """Where else skills are looked for."""

    directories: tuple[str, ...] = ()
    """Folders of skills: beneath the workspace, or anywhere (~ is your home) when you name them yourself."""


class Proposals(Section):
    """How long the contents of changes that are applied, discarded or undone are kept."""

    keep_days: int = Field(default=14, ge=0, le=36_500)
    """Days after which a finished change can be neither shown nor undone any more."""
    keep_bytes: int = Field(default=268_435_456, ge=0, le=1_099_511_627_776)
    """Bytes of all finished changes; above that the oldest are let go. Pending changes are always kept."""


class Context(Section):
    """How a conversation is kept within its model's window."""

    compact_at: float = Field(default=0.8, ge=0.1, le=1.0)
    """Share of a known window at which older tool results are folded, and then the conversation is summarised."""


class Sessions(Section):
    """How long conversations are kept."""

    keep_days: int = Field(default=180, ge=1, le=36_500)
    """Days after its last use when a session is deleted; pending changes stay."""


class Profile(Section):
    """Another way to ask: [profile.NAME], used by --profile NAME and /ask NAME."""

    model: str = ""
    """The model; empty takes the one in force."""
    tools: tuple[Literal["listFiles", "searchFiles", "readFile", "proposePatch", "Skill"], ...] | None = None
    """The tools the model is given; all of them when left out."""
    instructions: bool = True
    """Off: no AGENTS.md document is loaded."""
    prompt: str = Field(default="", max_length=65_536)
    """Text that is added to what the model is told first."""


class Limits(Section):
    """Where a turn stops by itself."""

    rounds: int = Field(default=25, ge=1, le=1_000)
    """Model calls of one turn."""
    turn_seconds: Seconds = 600.0
    """Seconds of one turn; four times that for a server on this machine."""
    turn_tokens: int = Field(default=0, ge=0, le=1_000_000_000)
    """Tokens of one turn, sent and received; 0 for no limit."""
    turn_cost: float = Field(default=0.0, ge=0, le=1_000_000)
    """US dollars of one turn, where the price is known; 0 for no limit."""
    session_tokens: int = Field(default=0, ge=0, le=1_000_000_000)
    """Tokens of all turns of a session; 0 for no limit."""
    session_cost: float = Field(default=0.0, ge=0, le=1_000_000)
    """US dollars of all turns of a session, where the price is known; 0 for no limit."""


class Clocks(Section):
    """How long the model may keep silent, in seconds; four times that for a server on this machine."""

    connect: Seconds = 10.0
    """Until a connection stands."""
    first_token: Seconds = 90.0
    """From the request to the first piece of the answer."""
    gap: Seconds = 60.0
    """Between two pieces of the answer; keep-alive comments do not count."""
    local_factor: float = Field(default=4.0, ge=1, le=1_000)
    """How many times as long a server on this machine may take, for first_token and gap."""
    retries: int = Field(default=3, ge=0, le=3)
    """How often a call is made again while nothing of the answer has come."""


class Settings(Section):
    """All of it. The file is config.toml in your configuration directory."""

    model: str = ""
    """The model to use; empty offers the offline guide."""
    theme: Literal["auto", "dark", "light", "terminal"] = "auto"
    """Colours of the screen; terminal keeps to the terminal's own sixteen."""
    mouse: bool = True
    """Off: the terminal keeps the mouse."""
    trust: Literal["ask", "require", "always"] = "ask"
    """What a repository says to the model counts: ask, once the screen asked you, and until then with a warning in
    commands; require, only once you trusted it; always, at once."""
    confine: bool = True
    """Off: the process that speaks to the model is not confined by the kernel (Landlock)."""
    instructions: Instructions = Instructions()
    tools: Tools = Tools()
    skills: Skills = Skills()
    proposals: Proposals = Proposals()
    context: Context = Context()
    sessions: Sessions = Sessions()
    limits: Limits = Limits()
    clocks: Clocks = Clocks()
    options: dict[str, Any] = Field(default_factory=dict)
    """Further litellm arguments for every call, such as api_base, temperature or reasoning_effort."""
    keys: dict[str, str] = Field(default_factory=dict)
    """Keys of the screen by name, such as panel = "ctrl+l"; /help keys lists the names."""
    profile: dict[str, Profile] = Field(default_factory=dict)
    """Profiles by name; reviewer is built in."""
