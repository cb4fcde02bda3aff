"""Checking skills for their authors: every folder with a SKILL.md below a directory, each by the specification."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from steward.skills.contain import Container, Place
from steward.skills.discover import NAMES
from steward.skills.skill import Broken, Skill, read_skill

MAX_FOLDERS = 20_000
_PASSED = frozenset({"node_modules", "__pycache__"})
_ENTERED = frozenset({".agents", ".steward", ".claude"})
"""The hidden directories in which skills may lie."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking a directory found."""

    skills: tuple[Skill | Broken, ...]
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether every skill agrees with the specification; what the exit code tells."""
        return all(skill.valid for skill in self.skills)


def check(directory: Path) -> Checked:
    """Every skill in ``directory`` and below, by path; links are not followed.

    ``directory`` may be one skill's folder, a folder of skills, or a repository; or the path of a SKILL.md.
    """
    top = directory.resolve()
    if top.name in NAMES and top.is_file():
        top = top.parent
    container = Container((top,))
    skills: list[Skill | Broken] = []
    notes: list[str] = []
    looked = 0
    for current, folders, files in os.walk(top, followlinks=False):
        looked += 1
        if looked > MAX_FOLDERS:
            notes.append(f"Only the first {MAX_FOLDERS} folders were searched.")
            break
        below = Path(current).relative_to(top)
        named = {*files, *folders}
        file = next((name for name in NAMES if name in named), None)
        if file is None:
            near = sorted(name for name in files if name.lower() in ("skill.md", "skills.md"))
            notes += [
                f"{(below / name).as_posix()} is not read; the file must be called SKILL.md." for name in near
            ]
            folders[:] = sorted(n for n in folders if n not in _PASSED and (n[0] != "." or n in _ENTERED))
            continue
        folders.clear()
        shown = below.as_posix() if below.parts else top.name
        skills.append(
            read_skill(
                container,
                Place(top, below.parts),
                shown=shown,
                source="project",
                file=file,
                folder=Path(current).name,
            )
        )
    return Checked(tuple(skills), tuple(notes))
