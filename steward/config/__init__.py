"""Settings of the person who runs the steward: schema, defaults, and reading them."""

from steward.config.keys import known_keys
from steward.config.load import Loaded, load, load_with_sources
from steward.config.repository import parse_repository, with_repository
from steward.config.settings import Settings
from steward.config.sources import Shown, shown, template

__all__ = [
    "Loaded",
    "Settings",
    "Shown",
    "known_keys",
    "load",
    "load_with_sources",
    "parse_repository",
    "shown",
    "template",
    "with_repository",
]
