"""The files of one skill: its instructions as they are now, their list, and single references, all contained."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from steward.skills.contain import Container, Leaves, NotRegular, Place, TooLarge
from steward.skills.frontmatter import parse

if TYPE_CHECKING:
    from steward.skills.skill import Loaded, Skill

MAX_SKILL_BYTES = 262_144
MAX_REFERENCE_BYTES = 1_048_576
MAX_FILES = 100
MAX_DEPTH = 4
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})


class Unreadable(ValueError):
    """A file of a skill that is not given out; the message is one sentence without absolute paths."""


def load(skill: Skill) -> Loaded:
    """The instructions and the list of files as they are on disk now; raises ``Unreadable``."""
    from steward.skills.skill import Loaded

    place = _place(skill)
    try:
        # The folder's real place was found when the skill was; from there on no link is followed except for
        # the SKILL.md itself, which discovery had allowed.
        container = skill.container or Container((place.root,))
        data, _ = container.read(place.child(skill.file), MAX_SKILL_BYTES)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise Unreadable(f"The skill {skill.name!r} can no longer be read from {skill.location}.") from None
    front = parse(text)
    if front.fatal:
        reason = next(d.sentence for d in front.diagnostics if d.level == "fatal")
        raise Unreadable(f"The skill {skill.name!r} is broken now: {reason}")
    files, left_out = listing(skill)
    return Loaded(front.body.strip("\n"), files, left_out, hashlib.sha256(data).hexdigest())


def listing(skill: Skill) -> tuple[tuple[str, ...], bool]:
    """Paths of the skill's files below its folder, at most ``MAX_FILES``, and whether there are more.

    Hidden files, links, caches and whatever is not a regular file are not listed.
    """
    place = _place(skill)
    container = Container((place.root,))
    files: list[str] = []
    todo: list[tuple[str, ...]] = [()]
    while todo:
        parts = todo.pop(0)
        try:
            with container.directory(place.child(*parts), follow=False) as (descriptor, _):
                names = sorted(os.listdir(descriptor))
                for name in names:
                    if name.startswith(".") or name in _LEFT_OUT or (not parts and name == skill.file):
                        continue
                    mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
                    if stat.S_ISDIR(mode) and len(parts) < MAX_DEPTH:
                        todo.append((*parts, name))
                    elif stat.S_ISREG(mode):
                        if len(files) == MAX_FILES:
                            return tuple(files), True
                        files.append("/".join((*parts, name)))
        except OSError:
            continue
    return tuple(files), False


def read_reference(skill: Skill, path: str) -> str:
    """The text of one file of a skill; raises ``Unreadable``. Nothing outside the skill's folder is opened."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    named = f"{skill.name}/{path}"
    if not parts or ".." in parts or "\0" in path or path.startswith("/"):
        raise Unreadable(f"{named!r} does not name a file inside the skill's folder.")
    if any(part.startswith(".") for part in parts):
        raise Unreadable(f"{named!r} is a hidden file; hidden files of skills are not given out.")
    place = _place(skill)
    try:
        data, _ = Container((place.root,)).read(place.child(*parts), MAX_REFERENCE_BYTES, follow=False)
    except Leaves:
        raise Unreadable(f"{named!r} is or goes through a link; links of skills are not followed.") from None
    except NotRegular:
        raise Unreadable(f"{named!r} is not a regular file.") from None
    except TooLarge:
        raise Unreadable(f"{named!r} is larger than {MAX_REFERENCE_BYTES // 1024} KiB.") from None
    except FileNotFoundError:
        raise Unreadable(f"The skill {skill.name!r} has no file {path!r}.") from None
    except (OSError, UnicodeEncodeError):
        raise Unreadable(f"{named!r} cannot be read.") from None
    if b"\0" in data:
        raise Unreadable(f"{named!r} is a binary file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{named!r} is not UTF-8 (byte {error.start}).") from None


def _place(skill: Skill) -> Place:
    if skill.place is None:
        raise Unreadable(f"The skill {skill.name!r} has no folder on this machine.")
    return skill.place
