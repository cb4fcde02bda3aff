"""Skills that a person keeps elsewhere and has linked into one of their own folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

NAMES = ("SKILL.md", "skill.md")
"""What the file of a skill may be called; the first one there is taken."""

MOST = 2_000
"""Links of one folder that are looked at."""


def linked(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Links in ``folder`` that lead out of it to one skill, each with the real folder of that skill.

    A link to anything else, as to a folder of skills, is none of these: it could open any number of directories.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_symlink() and entry.name[0] != ".")
    except OSError:
        return
    for name in islice(names, MOST):
        target = Path(os.path.realpath(folder / name))
        if not target.is_relative_to(folder) and _is_skill(target):
            yield folder / name, target


def _is_skill(folder: Path) -> bool:
    try:
        return any((folder / name).is_file() for name in NAMES)
    except OSError:
        return False
