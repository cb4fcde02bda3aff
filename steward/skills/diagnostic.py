"""What is wrong with a skill, by name, so that nothing fails silently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fatal", "fault", "note"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about one skill.

    ``fatal``: the skill cannot be loaded. ``fault``: it is against the published specification but is loaded all
    the same. ``note``: it is allowed, and its author should know of it.
    """

    code: str
    """A stable name: ``name-mismatch``, ``duplicate-key``, ``not-utf8``, …"""
    level: Level
    sentence: str
    """One sentence for a person, without absolute paths and without contents of the file."""
    line: int = 0
    """Line of the SKILL.md that it is about, from 1; 0 when it is about no line."""

    @property
    def error(self) -> bool:
        """Whether it is against the specification, and no mere warning."""
        return self.level != "note"


def fatal(code: str, sentence: str, line: int = 0) -> Diagnostic:
    """A finding that keeps the skill from being loaded."""
    return Diagnostic(code, "fatal", sentence, line)


def fault(code: str, sentence: str, line: int = 0) -> Diagnostic:
    """A finding against the specification; the skill is loaded with it."""
    return Diagnostic(code, "fault", sentence, line)


def note(code: str, sentence: str, line: int = 0) -> Diagnostic:
    """Something allowed that its author should know of."""
    return Diagnostic(code, "note", sentence, line)
