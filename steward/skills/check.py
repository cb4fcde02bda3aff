"""Checking skills for their authors: every folder with a SKILL.md below a directory, each by the specification."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from steward.skills.contain import Container, Place
from steward.skills.diagnostic import Diagnostic, note
from steward.skills.linked import NAMES
from steward.skills.places import ELSEWHERE, FOLDERS, SHELF
from steward.skills.references import odd_placeholders, odd_references
from steward.skills.skill import Broken, Skill, read_skill
from steward.skills.stray import is_stray
from steward.visible import line

MAX_FOLDERS = 20_000
_PASSED = frozenset({"node_modules", "__pycache__"})
_ENTERED = frozenset(folder[0] for folder in (*FOLDERS, *ELSEWHERE))
"""The hidden directories in which skills may lie."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking a directory found."""

    skills: tuple[Skill | Broken, ...]
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether every skill agrees with the specification."""
        return all(skill.valid for skill in self.skills)

    @property
    def errors(self) -> tuple[tuple[str, Diagnostic], ...]:
        """Everything against the specification, each with its SKILL.md."""
        return tuple(found for found in self._findings() if found[1].error)

    @property
    def warnings(self) -> tuple[tuple[str, Diagnostic], ...]:
        """Everything that is allowed and likely to be a mistake."""
        return tuple(found for found in self._findings() if not found[1].error)

    def _findings(self) -> list[tuple[str, Diagnostic]]:
        return [(skill.location, finding) for skill in self.skills for finding in skill.diagnostics]


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

    def unread(error: OSError) -> None:
        place = Path(os.fsdecode(error.filename or ""))
        shown = place.relative_to(top).as_posix() if place.is_relative_to(top) else place.name
        notes.append(f"{line(shown)} cannot be read.")

    for current, folders, files in os.walk(top, onerror=unread, followlinks=False):
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
                f"{line((below / name).as_posix())} is not read; the file must be called SKILL.md."
                for name in near
            ]
            notes += [
                f"{line((below / name).as_posix())} is not read; a skill is a folder with a SKILL.md in it."
                for name in sorted(files)
                if Path(current).name == SHELF
                and is_stray(container, Place(top, (*below.parts, name)), 262_144)
            ]
            folders[:] = _entered(folders)
            continue
        if Path(current).name == SHELF:
            notes.append(
                f"{line((below / file).as_posix())} lies beside the folders of other skills; "
                "give it a folder of its own."
            )
            folders[:] = _entered(folders)
        else:
            folders.clear()
        shown = line(below.as_posix() if below.parts else top.name)
        skill = read_skill(
            container,
            Place(top, below.parts),
            shown=shown,
            source="project",
            file=file,
            folder=Path(current).name,
        )
        skills.append(skill if isinstance(skill, Broken) else _with_more(skill, Path(current), skills))
    return Checked(tuple(skills), tuple(notes))


def _entered(folders: list[str]) -> list[str]:
    return sorted(name for name in folders if name not in _PASSED and (name[0] != "." or name in _ENTERED))


def _with_more(skill: Skill, folder: Path, before: list[Skill | Broken]) -> Skill:
    """The skill, with what only shows beside its files and beside other skills."""
    more: list[Diagnostic] = []
    try:
        text = (folder / skill.file).read_text("utf-8")
        more += (*odd_references(folder, text), *odd_placeholders(text))
    except (OSError, UnicodeDecodeError):
        more.append(note("unreadable", "The file could not be read again."))
    other = next((s for s in before if not isinstance(s, Broken) and s.name == skill.name), None)
    if other is not None:
        sentence = f"The name is also that of {other.location}; only the nearer one of the two is used."
        more.append(note("same-name", sentence))
    return replace(skill, diagnostics=(*skill.diagnostics, *more))
