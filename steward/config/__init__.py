"""Settings of the person who runs the steward: schema, defaults, and reading them."""

from steward.config.load import known_keys, load
from steward.config.settings import Settings

__all__ = ["Settings", "known_keys", "load"]
