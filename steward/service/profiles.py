"""Profiles: named ways to ask, from the person's settings, with a reviewer built in."""

from __future__ import annotations

from steward.config import Settings
from steward.config.settings import Profile
from steward.errors import NoSuchThing

REVIEWER = Profile(
    tools=("listFiles", "searchFiles", "readFile", "Skill"),
    prompt=(
        "You review; you do not change anything, and you have no tool to propose changes with. Look at the code that "
        "the question is about and at what it touches. Report what is wrong or risky, the worst first, each with the "
        "file and line, why it is wrong, and how it could be mended. Say plainly what you looked at and found in "
        "order, and what you did not look at. Do not invent findings."
    ),
)

BUILT_IN = {"reviewer": REVIEWER}


def names(settings: Settings) -> tuple[str, ...]:
    """All profiles there are."""
    return tuple(sorted({*BUILT_IN, *settings.profile}))


def named(settings: Settings, name: str) -> Profile:
    """The profile of that name, the person's own before a built-in one; a plain one for no name."""
    if not name:
        return Profile()
    found = settings.profile.get(name) or BUILT_IN.get(name)
    if found is None:
        import difflib

        near = difflib.get_close_matches(name, names(settings), 1) or names(settings)
        raise NoSuchThing("profile", name, tuple(near))
    return found


def under(settings: Settings, profile: Profile) -> Settings:
    """The settings as the profile has them."""
    changed = settings
    if profile.model:
        changed = changed.model_copy(update={"model": profile.model})
    if not profile.instructions:
        off = changed.instructions.model_copy(update={"enabled": False})
        changed = changed.model_copy(update={"instructions": off})
    return changed
