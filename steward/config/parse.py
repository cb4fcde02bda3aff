"""The bytes of a configuration file as text and table."""

from __future__ import annotations

from typing import Any

from steward.errors import ConfigError


def parsed(name: str, data: bytes, most: int) -> tuple[str, dict[str, Any]]:
    """The text of the file ``name`` and what it says. Raises ``ConfigError``, also for more than ``most`` bytes."""
    import tomllib

    if len(data) > most:
        raise ConfigError(f"{name} is larger than {most} bytes.")
    try:
        text = data.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 at byte {error.start}.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{name} is not valid TOML: {error}.") from None
