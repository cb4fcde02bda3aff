"""Reads the user's configuration: the file, then the environment; a repository has no say in it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from steward.config.settings import Settings
from steward.errors import ConfigError

MAX_BYTES = 1_048_576


def load(file: Path | None, environment: Mapping[str, str], *, required: bool = False) -> Settings:
    """The settings of ``file`` with ``STEWARD_MODEL`` of the environment laid over them.

    A missing file means the defaults unless it is ``required``. Raises ``ConfigError`` naming key and line.
    """
    shape: dict[str, Any] = {}
    text = ""
    if file is not None:
        text = _read(file, required)
        try:
            shape = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{file.name} is not valid TOML: {error}.") from None
    model = environment.get("STEWARD_MODEL", "").strip()
    if model:
        shape["model"] = model
    try:
        return Settings.model_validate(shape)
    except ValidationError as error:
        raise ConfigError(_sentence(file.name if file else "the configuration", text, error)) from None


def _read(file: Path, required: bool) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if required:
            raise ConfigError(f"There is no configuration file {file.name}.") from None
        return ""
    except OSError as error:
        raise ConfigError(f"{file.name} cannot be read: {(error.strerror or 'error').lower()}.") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{file.name} is larger than {MAX_BYTES} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file.name} is not UTF-8 at byte {error.start}.") from None


def _sentence(name: str, text: str, error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False)[0]
    keys = tuple(str(part) for part in fault["loc"])
    dotted = ".".join(keys)
    line = _line_of(text, keys)
    where = f"{name}, line {line}" if line else name
    if fault["type"] == "extra_forbidden":
        near = difflib.get_close_matches(dotted, list(known_keys()), 1) or difflib.get_close_matches(
            keys[-1], [key.rsplit(".", 1)[-1] for key in known_keys()], 1
        )
        hint = f" Did you mean {near[0]}?" if near else ""
        return f"{where}: there is no setting {dotted}.{hint}"
    message = str(fault["msg"])
    return f"{where}: {dotted}: {message[0].lower()}{message[1:]}."


def known_keys(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[str]:
    """Every setting in dotted form."""
    for key, field in model.model_fields.items():
        inner: object = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from known_keys(inner, f"{prefix}{key}.")
        else:
            yield prefix + key


def _line_of(text: str, keys: tuple[str, ...]) -> int | None:
    """The line on which a dotted key stands, found by its table and its name."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if match := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            table = tuple(part.strip().strip("\"'") for part in match[1].split("."))
            if table == keys:
                return number
        elif match := re.match(r"\s*([A-Za-z0-9_.\"'-]+)\s*=", line):
            key = table + tuple(part.strip().strip("\"'") for part in match[1].split("."))
            if key == keys[: len(key)] or keys[: len(key)] == key:
                return number
    return None
