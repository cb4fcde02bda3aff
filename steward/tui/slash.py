"""Commands as they are typed: the name, what follows it, and what may have been meant."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steward.service.commands import COMMANDS, Command, find

_SHAPE = re.compile(r"/([A-Za-z][A-Za-z-]*)(?:[ \t]+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Given:
    """A command with what followed its name."""

    command: Command
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that looks like a command and is none."""

    name: str
    near: str

    @property
    def sentence(self) -> str:
        """What the person is told."""
        hint = f" Did you mean /{self.near}?" if self.near else " /help lists them."
        return f"There is no command /{self.name}.{hint}"


def parse(text: str) -> Given | Unknown | None:
    """What was typed, ``None`` when it is no command but something to ask (``/usr/bin …`` is such)."""
    match = _SHAPE.fullmatch(text.strip())
    if match is None:
        return None
    name, argument = match[1].lower(), (match[2] or "").strip()
    command = find(name)
    if command is not None:
        return Given(command, argument)
    if argument and not _near(name, 70):
        return None
    return Unknown(name, _near(name, 50))


def _near(name: str, least: float) -> str:
    from rapidfuzz import fuzz, process

    found = process.extractOne(name, [command.name for command in COMMANDS], scorer=fuzz.WRatio)
    return found[0] if found[1] >= least else ""
