"""Reads the person's configuration: the file, then the environment over it; a repository has no say in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from steward.config.environment import from_environment
from steward.config.faults import dotted_keys
from steward.config.parse import parsed
from steward.config.settings import Settings
from steward.errors import ConfigError

MAX_BYTES = 1_048_576


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and for each that is not a default where it was said."""

    settings: Settings
    sources: dict[str, str] = field(default_factory=dict[str, str])
    """``config.toml`` or the name of a variable, by dotted key."""


def load(file: Path | None, environment: Mapping[str, str], *, required: bool = False) -> Settings:
    """The settings of ``file`` with the ``STEWARD_*`` variables of the environment laid over them.

    A missing file means the defaults unless it is ``required``. Raises ``ConfigError`` naming key and line.
    """
    return load_with_sources(file, environment, required=required).settings


def load_with_sources(file: Path | None, environment: Mapping[str, str], *, required: bool = False) -> Loaded:
    """The same, with where each value was said."""
    name = file.name if file else "the configuration"
    data = _read(file, required) if file else b""
    text, shape = parsed(name, data, MAX_BYTES) if data else ("", {})
    sources = dict.fromkeys(dotted_keys(shape), name)
    # The file is checked by itself first, so that a fault is told of the place where it stands.
    settings = _checked(name, text, shape)
    given = from_environment(environment)
    for key, (value, variable) in given.items():
        _put(shape, key.split("."), value)
        settings = _checked(variable, "", shape)
        sources[key] = variable
    return Loaded(settings, sources)


def _checked(name: str, text: str, shape: dict[str, Any]) -> Settings:
    if not shape:
        return Settings()
    from pydantic import ValidationError

    from steward.config.faults import sentence

    try:
        return Settings.model_validate(shape)
    except ValidationError as error:
        raise ConfigError(sentence(name, text, error)) from None


def _put(shape: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        inner: object = shape.setdefault(key, {})
        shape = cast(dict[str, Any], inner)
    shape[keys[-1]] = value


def _read(file: Path, required: bool) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):  # HOME=/dev/null is how some say: no configuration
        if required:
            raise ConfigError(f"There is no configuration file {file.name}.") from None
        return b""
    except OSError as error:
        raise ConfigError(f"{file.name} cannot be read: {(error.strerror or 'error').lower()}.") from None
