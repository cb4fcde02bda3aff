"""Agent Skills: SKILL.md folders found nearest first, read by the published specification, locked by allowed-tools."""

from steward.skills.allowed import Lock, Rule
from steward.skills.catalog import Catalog, Shadow
from steward.skills.diagnostic import Diagnostic
from steward.skills.discover import discover
from steward.skills.places import Limits, Places
from steward.skills.skill import Broken, Loaded, Skill

__all__ = [
    "Broken",
    "Catalog",
    "Diagnostic",
    "Limits",
    "Loaded",
    "Lock",
    "Places",
    "Rule",
    "Shadow",
    "Skill",
    "discover",
]
