"""One directory of a walk, and what its ignore files, those above it and git's index say of the names in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Literal, NamedTuple

from steward.workspace.engine import OPEN_DIRECTORY, OPEN_FILE, Engine
from steward.workspace.git import Git
from steward.workspace.git_index import Tracked
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
from steward.workspace.reading import read_small
from steward.workspace.values import Kind

Decision = Literal["kept", "tracked", "ignored"]
"""``kept``: by a rule. ``tracked``: rules ignore it, but git tracks it, or of a directory something in it."""


_BOTH = f"/{'/'.join(IGNORE_FILES)}/"
_NOTHING: Mapping[str, Kind] = {}


class Place(NamedTuple):
    """A directory that is not ignored, or of which only what git tracks is not.

    A tuple, since a walk makes one for every directory, and a frozen dataclass takes more than twice as long to make.
    """

    parts: tuple[str, ...]
    chain: Chain = ()
    tracked_only: bool = False
    """Whether the directory is ignored; then the chain holds the steward's own rules alone."""
    noted: bool = False
    """Whether rules match it, or what is above it, although it is not ignored."""
    fold: bool = False
    """Whether rules match names in any case."""

    def governed(
        self, descriptor: int, joined: str = _BOTH, others: Mapping[str, Kind] = _NOTHING
    ) -> tuple[Place, int]:
        """The place with its own ignore files, and how many of these could not be applied.

        ``joined`` is what the directory holds, when that is known, with a slash before and after each name;
        ``others`` is what of it is not a file.
        """
        if "/." not in joined:
            return self, 0
        chain, refused = self.chain, 0
        for name in IGNORE_FILES[1:] if self.tracked_only else IGNORE_FILES:
            if f"/{name}/" not in joined:
                continue
            kind = others.get(name)
            if kind is None:
                data = read_small(
                    lambda name=name: os.open(name, OPEN_FILE, dir_fd=descriptor), MAX_IGNORE_BYTES
                )
                if data is None:
                    refused += 1
                elif (rules := parse(data, steward=name == ".stewardignore", fold=self.fold)).rules:
                    chain = (Governing(rules, len(self.parts)), *chain)
            elif kind == "link":
                refused += 1
        return (self if chain is self.chain else self._replace(chain=chain)), refused

    def decisions(
        self,
        names: list[str],
        others: Mapping[str, Kind],
        joined: str,
        above: str,
        tracked: Callable[[], Tracked],
    ) -> dict[str, Decision]:
        """What is said of those of ``names`` of which anything is said.

        ``joined`` is all of them, or more, with a slash before and after each; ``others`` is what of it is not a file;
        ``above`` is the place's own path: empty, or with a slash at its end.
        """
        directories = {name for name, kind in others.items() if kind == "directory"} if others else ()
        if self.tracked_only:
            decided: dict[str, Decision] = {}
            for name in names:
                decision = self.decision(name, name in directories, tracked)
                if decision is not None:
                    decided[name] = decision
            return decided
        if not self.chain:
            return {}
        found = self.verdicts(names, directories, joined, above)
        if not found:
            return {}
        decided = {name: "kept" if said == "kept" else "ignored" for name, said in found.items()}
        by_git = [name for name, said in found.items() if said == "git"]
        if by_git and not (index := tracked()).empty:
            own = tuple(g for g in self.chain if g.rules.steward)
            for name in by_git:
                decided[name] = self._exempted(name, name in directories, index, own)
        return decided

    def verdicts(
        self, names: list[str], directories: Collection[str], joined: str, above: str
    ) -> dict[str, Verdict]:
        """What the rules alone say of those of ``names`` that one matches; see ``decisions``."""
        plain: dict[str, str] | None = None
        if not joined.isascii():
            joined = as_bytes(joined)
            plain = {as_bytes(name): name for name in names}
            names = list(plain)
            directories = {as_bytes(name) for name in directories}
        found: dict[str, Verdict] = {}
        for governing in reversed(self.chain):
            at = governing.path((*self.parts, "")) if governing.depth or governing.above else as_bytes(above)
            found.update(governing.rules.verdicts(names, directories, joined, at))
        return found if plain is None else {plain[name]: said for name, said in found.items()}

    def decision(self, name: str, directory: bool, tracked: Callable[[], Tracked]) -> Decision | None:
        """What is said of one name in the directory."""
        parts = (*self.parts, name)
        found = verdict(self.chain, parts, directory)
        if found == "steward":
            return "ignored"
        if found != "git" and not self.tracked_only:
            return found
        own = tuple(g for g in self.chain if g.rules.steward)
        return self._exempted(name, directory, tracked(), own)

    def _exempted(self, name: str, directory: bool, index: Tracked, own: Chain) -> Decision:
        """What becomes of a name that git's rules ignore, or that stands in an ignored directory.

        ``own`` are the steward's own rules of the chain.
        """
        parts = (*self.parts, name)
        if own and verdict(own, parts, directory) == "steward":
            return "ignored"
        path = "/".join(parts)
        if index.holds(path):
            return "kept" if directory else "tracked"
        return "tracked" if directory and index.holds_below(path) else "ignored"

    def below(self, name: str, decision: Decision | None, noted: bool = False) -> Place:
        """The place of a directory in this one."""
        chain = self.chain
        if decision == "tracked" and not self.tracked_only:
            chain = tuple(g for g in chain if g.rules.steward)
        return Place((*self.parts, name), chain, decision == "tracked", noted, self.fold)


def top(git: Git) -> Place | None:
    """The workspace's own directory under the rules that stand elsewhere; ``None`` when they ignore all of it.

    Where the workspace is a directory of a larger repository, that is what its ignore files further up say of it.
    """
    fold = git.ignores_case()
    # As the repository sees it; the nearest rules come first.
    found = (parse(git.exclude(), fold=fold), parse(git.users_excludes(), fold=fold))
    place = Place((), tuple(Governing(rules, 0) for rules in found if rules.rules), fold=fold)
    for depth, name in enumerate(git.above):
        rules = parse(git.ignore_file_above(depth), fold=fold)
        chain = (Governing(rules, depth), *place.chain) if rules.rules else place.chain
        said = verdict(chain, (*place.parts, name), True)
        if said == "git":
            if git.tracked().empty:
                return None
            return Place((), tracked_only=True, noted=True, fold=fold)
        place = Place((*place.parts, name), chain, fold=fold)
    below = ["/".join((*git.above[depth:], "")) for depth in range(len(git.above) + 1)]
    return Place(
        (), tuple(replace(each, depth=0, above=below[each.depth]) for each in place.chain), fold=fold
    )


def place_of(engine: Engine, git: Git, parts: tuple[str, ...]) -> Place | None:
    """The directory at ``parts`` under the rules above it, without its own; ``None`` when it is ignored."""
    place = top(git)
    for name in parts if place is not None else ():
        assert place is not None
        try:
            descriptor = engine.open(place.parts, OPEN_DIRECTORY)
        except OSError:
            return Place(parts, place.chain, fold=place.fold)
        try:
            place, _ = place.governed(descriptor)
        finally:
            os.close(descriptor)
        decision = place.decision(name, True, git.tracked)
        if decision == "ignored":
            return None
        place = place.below(name, decision)
    return place
