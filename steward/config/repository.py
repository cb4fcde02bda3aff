"""``.steward/config.toml``: the few settings a repository may have a say in, and how they join the person's own."""

from __future__ import annotations

from typing import Any

from steward.config.faults import dotted_keys, line_of, sentence
from steward.config.parse import parsed
from steward.config.settings import Settings
from steward.errors import ConfigError

PLACE = ".steward/config.toml"
MAX_BYTES = 65_536

ALLOWED = ("tools.ignore", "instructions.fallback_names", "instructions.files", "skills.directories")
"""What a repository may set: which of its own files matter. No model, address, key, limit, clock, trust or program."""


def parse_repository(data: bytes) -> Settings:
    """The repository's settings, checked by the one schema. Raises ``ConfigError`` naming key and line."""
    from pydantic import ValidationError

    text, shape = parsed(PLACE, data, MAX_BYTES)
    try:
        settings = Settings.model_validate(shape)
    except ValidationError as error:
        raise ConfigError(sentence(PLACE, text, error, ALLOWED)) from None
    for key in dotted_keys(shape):
        if key not in ALLOWED:
            raise _refused(text, key, f"a repository may not set {key}")
    for entry in (*settings.instructions.files, *settings.skills.directories):
        if not _inside(entry):
            raise _refused(text, "", f"{entry!r} does not lie inside the repository")
    return settings


def with_repository(own: Settings, repository: Settings) -> Settings:
    """The person's settings with the repository's joined to them.

    Lists of the repository are added behind the person's own; its fallback names hold where the person names none.
    """
    tools = own.tools.model_copy(update={"ignore": _joined(own.tools.ignore, repository.tools.ignore)})
    changed: dict[str, Any] = {
        "files": _joined(own.instructions.files, repository.instructions.files),
    }
    if "fallback_names" in repository.instructions.said - own.instructions.said:
        changed["fallback_names"] = repository.instructions.fallback_names
    instructions = own.instructions.model_copy(update=changed)
    folders = _joined(own.skills.directories, repository.skills.directories)
    skills = own.skills.model_copy(update={"directories": folders})
    return own.model_copy(update={"tools": tools, "instructions": instructions, "skills": skills})


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _inside(entry: str) -> bool:
    return (
        bool(entry.strip())
        and "://" not in entry
        and not entry.startswith(("/", "~", "\\"))
        and ":" not in entry[:2]
        and ".." not in entry.replace("\\", "/").split("/")
    )


def _refused(text: str, key: str, what: str) -> ConfigError:
    line = line_of(text, tuple(key.split("."))) if key else None
    where = f"{PLACE}, line {line}" if line else PLACE
    return ConfigError(f"{where}: {what}; it may set {', '.join(ALLOWED)}.")
