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
    """What the model's tools may see."""

    secrets: bool = False
    """On: files such as .env, private keys and .npmrc may be read by the model."""
    max_file_bytes: int = Field(default=4_194_304, ge=1_024, le=268_435_456)
    """Bytes of the largest file that is read, searched or changed."""


class Limits(Section):
    """Where a turn stops by itself."""

    rounds: int = Field(default=25, ge=1, le=1_000)
    """Model calls of one turn."""
    turn_seconds: Seconds = 600.0
    """Seconds of one turn; four times that for a server on this machine."""


class Clocks(Section):
    """How long the model may keep silent, in seconds; four times that for a server on this machine."""

    first_token: Seconds = 90.0
    """From the request to the first piece of the answer."""
    gap: Seconds = 60.0
    """Between two pieces of the answer; keep-alive comments do not count."""


class Settings(Section):
    """All of it. The file is config.toml in your configuration directory."""

    model: str = ""
    """The model to use; empty offers the offline guide."""
    theme: Literal["auto", "dark", "light"] = "auto"
    """Colours of the screen."""
    mouse: bool = True
    """Off: the terminal keeps the mouse."""
    instructions: Instructions = Instructions()
    tools: Tools = Tools()
    limits: Limits = Limits()
    clocks: Clocks = Clocks()
    options: dict[str, Any] = Field(default_factory=dict)
    """Further litellm arguments for every call, such as api_base, temperature or reasoning_effort."""
