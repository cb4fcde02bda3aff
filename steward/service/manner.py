"""How a session was asked, beside its messages: under which profile, with which tools, with instructions or without."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import cast

from steward.config import Settings
from steward.conversation import JsonObject
from steward.service.house import House
from steward.service.profiles import names

_SHORT = 12
"""Hex digits that tell one definition of a tool from another."""


def manner(house: House, specs: Sequence[JsonObject]) -> JsonObject:
    """What a stored session keeps of it; ``specs`` is the list of tools as a model is given it."""
    return {
        "profile": house.profile_name,
        "instructions": house.settings.instructions.enabled,
        "proposals": house.settings.tools.proposals,
        "tools": {str(spec["function"]["name"]): _digest(spec) for spec in specs},
    }


def in_that_manner(settings: Settings, kept: JsonObject) -> tuple[Settings, str]:
    """The settings, and the name of the profile, under which the same is asked again.

    A profile that these settings do not have is left out: the requests then differ where it matters.
    """
    profile = str(kept.get("profile", ""))
    instructions = settings.instructions.model_copy(
        update={"enabled": bool(kept.get("instructions", settings.instructions.enabled))}
    )
    tools = settings.tools.model_copy(
        update={"proposals": bool(kept.get("proposals", settings.tools.proposals))}
    )
    changed = settings.model_copy(update={"instructions": instructions, "tools": tools})
    return changed, profile if profile in names(settings) else ""


def other_tools(kept: JsonObject, specs: Sequence[JsonObject]) -> tuple[str, ...]:
    """Names of the tools that are missing, new, or defined otherwise than they were; empty when nothing was kept."""
    if not isinstance(recorded := kept.get("tools"), dict):
        return ()
    before = {str(name): str(digest) for name, digest in cast(JsonObject, recorded).items()}
    now = {str(spec["function"]["name"]): _digest(spec) for spec in specs}
    differ = {name for name, _ in before.items() ^ now.items()}
    return tuple(name for name in dict.fromkeys((*now, *before)) if name in differ)


def _digest(spec: JsonObject) -> str:
    text = json.dumps(spec, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT]
