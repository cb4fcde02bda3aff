"""Keys from the system's keyring for what the environment does not hold; they never leave the worker."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any, cast

SERVICE = "steward"
"""Under which name keys lie in the keyring; the user name there is that of the variable."""
_KEYS = re.compile(r"[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*")


def take(models: str) -> tuple[list[str], str]:
    """Put the keys that the providers of ``models`` (between commas) lack into this process's environment.

    Gives the names of what was found, and a sentence when the keyring could not be asked.
    """
    names = [name for model in filter(None, models.split(",")) for name in lacking(model)]
    if not names:
        return [], ""
    try:
        keyring: Any = importlib.import_module("keyring")
    except ImportError:
        return [], "The keyring package is not installed; pip install 'repository-steward[keyring]' adds it."
    found: list[str] = []
    for name in dict.fromkeys(names):
        try:
            value: object = keyring.get_password(SERVICE, name)
        except Exception as error:  # of whatever backend the person has
            return found, f"The system's keyring could not be asked ({type(error).__name__})."
        if isinstance(value, str) and value:
            os.environ[name] = value
            found.append(name)
    return found, ""


def lacking(model: str) -> list[str]:
    """The variables with keys that litellm misses for a model."""
    if model.startswith(("script/", "offline/")):
        return []
    litellm: Any = importlib.import_module("litellm")
    try:
        facts = cast(dict[str, object], litellm.validate_environment(model=model))
    except Exception:
        return []
    missing = facts.get("missing_keys")
    names = [str(name) for name in cast(list[object], missing)] if isinstance(missing, list) else []
    return [name for name in names if _KEYS.fullmatch(name)]
