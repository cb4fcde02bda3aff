"""One directory of a walk, and what its ignore files, those above it and git's index say of the names in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from steward.workspace.engine import OPEN_DIRECTORY, OPEN_FILE, Engine
from steward.workspace.git import Git, Tracked
from steward.workspace.ignore import (
    IGNORE_FILES,
    MAX_IGNORE_BYTES,
    Chain,
    Governing,
    Verdict,
    as_bytes,
    parse,
    verdict,
)
from steward.workspace.values import Kind

Decision = Literal["kept", "tracked", "ignored"]
"""``kept``: by a rule. ``tracked``: rules ignore it, but git tracks it, or of a directory something in it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A directory that is not ignored, or of which only what git tracks is not."""

    parts: tuple[str, ...]
    chain: Chain = ()
    tracked_only: bool = False
    """Whether the directory is ignored; then the chain holds the steward's own rules alone."""
    noted: bool = False
    """Whether rules match it, or what is above it, although it is not ignored."""

    def governed(self, descriptor: int, listed: Mapping[str, Kind] | None = None) -> tuple[Place, int]:
        """The place with its own ignore files, and how many of these could not be applied.

        ``listed`` is what the directory holds, when that is known.
        """
        chain, refused = self.chain, 0
        for name in IGNORE_FILES[1:] if self.tracked_only else IGNORE_FILES:
            kind = "file" if listed is None else listed.get(name)
            if kind == "file":
                data = _read(lambda name=name: os.open(name, OPEN_FILE, dir_fd=descriptor))
                if data is None:
                    refused += 1
                elif (rules := parse(data, steward=name == ".stewardignore")).rules:
                    chain = (Governing(rules, len(self.parts)), *chain)
            elif kind == "link":
                refused += 1
        return (self if chain is self.chain else replace(self, chain=chain)), refused

    def decisions(
        self,
        names: list[str],
        listed: Mapping[str, Kind],
        joined: str,
        tracked: Callable[[], Tracked],
        *,
        others: bool = True,
    ) -> dict[str, Decision]:
        """What is said of those of ``names`` of which anything is said.

        ``joined`` is all of them, or more, with a slash before and after each. ``others``: there may be more than
        files among them.
        """
        decided: dict[str, Decision] = {}
        if self.tracked_only:
            for name in names:
                decision = self.decision(name, listed[name] == "directory", tracked)
                if decision is not None:
                    decided[name] = decision
            return decided
        if not self.chain:
            return decided
        below = [name for name in names if listed[name] == "directory"] if others else []
        rest = [name for name in names if listed[name] != "directory"] if below else names
        for group, directories in ((rest, False), (below, True)):
            for name, said in self.verdicts(group, directories, joined).items():
                if said == "git":
                    decided[name] = self._exempted(name, directories, tracked)
                else:
                    decided[name] = "kept" if said == "kept" else "ignored"
        return decided

    def verdicts(self, names: list[str], directories: bool, joined: str) -> dict[str, Verdict]:
        """What the rules alone say of those of ``names`` that one matches; see ``decisions``."""
        if not names:
            return {}
        plain: dict[str, str] | None = None
        if not joined.isascii():
            joined = as_bytes(joined)
            plain = {as_bytes(name): name for name in names}
            names = list(plain)
        found: dict[str, Verdict] = {}
        for governing in reversed(self.chain):
            found.update(governing.rules.verdicts(names, directories, joined, self._above(governing)))
        return found if plain is None else {plain[name]: said for name, said in found.items()}

    def _above(self, governing: Governing) -> str:
        place = self.parts[governing.depth :]
        return as_bytes("/".join((*place, ""))) if place else ""

    def decision(self, name: str, directory: bool, tracked: Callable[[], Tracked]) -> Decision | None:
        """What is said of one name in the directory."""
        parts = (*self.parts, name)
        found = verdict(self.chain, parts, directory)
        if found == "steward":
            return "ignored"
        if found != "git" and not self.tracked_only:
            return found
        return self._exempted(name, directory, tracked)

    def _exempted(self, name: str, directory: bool, tracked: Callable[[], Tracked]) -> Decision:
        """What becomes of a name that git's rules ignore, or that stands in an ignored directory."""
        parts = (*self.parts, name)
        own = tuple(g for g in self.chain if g.rules.steward)
        if own and verdict(own, parts, directory) == "steward":
            return "ignored"
        index, path = tracked(), "/".join(parts)
        if index.holds(path):
            return "kept" if directory else "tracked"
        return "tracked" if directory and index.holds_below(path) else "ignored"

    def below(self, name: str, decision: Decision | None, noted: bool = False) -> Place:
        """The place of a directory in this one."""
        chain = self.chain
        if decision == "tracked" and not self.tracked_only:
            chain = tuple(g for g in chain if g.rules.steward)
        return Place((*self.parts, name), chain, decision == "tracked", noted)


def top(git: Git) -> Place:
    """The workspace's own directory under the rules that stand in no directory."""
    rules = (parse(git.exclude()), parse(git.users_excludes()))
    return Place((), tuple(Governing(found, 0) for found in rules if found.rules))


def place_of(engine: Engine, git: Git, parts: tuple[str, ...]) -> Place | None:
    """The directory at ``parts`` under the rules above it, without its own; ``None`` when it is ignored."""
    place = top(git)
    for name in parts:
        try:
            descriptor = engine.open(place.parts, OPEN_DIRECTORY)
        except OSError:
            return Place(parts, place.chain)
        try:
            place, _ = place.governed(descriptor)
        finally:
            os.close(descriptor)
        decision = place.decision(name, True, git.tracked)
        if decision == "ignored":
            return None
        place = place.below(name, decision)
    return place


def _read(opened: Callable[[], int]) -> bytes | None:
    """The bytes of an ignore file; ``None`` when it is missing, a link, too large, unreadable or not a file."""
    try:
        descriptor = opened()
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_IGNORE_BYTES:
            return None
        return os.read(descriptor, MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
