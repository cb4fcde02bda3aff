"""Names that look like an instruction document and are none, found without reading large directories to their end."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable

from steward.agents_md.files import Folder

_ALIKE = (
    "agent.md",
    "agents",
    "agents.markdown",
    "agents.md.txt",
    "agents.mdx",
    "agents.txt",
    "agents-override.md",
    "agents_override.md",
    "agent.override.md",
    "agents.overrides.md",
    "override.agents.md",
)
_OTHERS = frozenset(
    (
        ".clinerules", ".cursorrules", ".goosehints", ".rules", ".windsurfrules",
        "copilot-instructions.md", "crush.md", "gemini.md", "opencode.md", "qwen.md", "warp.md",
    )
)  # fmt: skip
_FURTHER = (".claude/CLAUDE.md", ".github/copilot-instructions.md")
_LOCAL = frozenset(("agents.local.md", "claude.local.md"))
_PROBED = ("agents.md", "Agents.md", "AGENTS.MD", "AGENT.md", "agent.md", "Agent.md", "agents.override.md")
_SHORTEST = len("notes.md")
"""Characters of a document's name from which on a name with a slip in it is taken for that name."""
_MOST_NAMES = 2048
_MOST_DIRECTORIES = 4096
_MILLISECOND_NS = 1_000_000
"""Times of change that are no multiple of it come from a clock that ticks finely."""
_SETTLED_NS = 100_000_000
"""A listing is kept only when the directory had been quiet for so long: its clock may tick slowly."""


class Listing:
    """What a look at one directory's names showed."""

    __slots__ = ("exact", "further", "local", "near", "others", "sure", "whole")

    def __init__(
        self,
        exact: frozenset[str],
        near: tuple[str, ...],
        whole: bool,
        others: tuple[str, ...] = (),
        further: tuple[str, ...] = (),
        local: tuple[str, ...] = (),
    ) -> None:
        self.exact = exact
        """Documents' names that are there in exactly this spelling."""
        self.near = near
        """Near misses: other spellings of a document's name first, then names that are merely alike."""
        self.others = others
        """Names under which other programs keep their instructions."""
        self.further = further
        """Paths of instructions for other programs whose directory is there; they are to be looked for."""
        self.local = local
        """Names under which a person keeps instructions of their own for other programs."""
        self.whole = whole
        """Whether every name of the directory was looked at."""
        self.sure = False
        """Whether the directory is known not to have changed since: a document not in ``exact`` is not there."""


class NearMisses:
    """Looks for near misses, at most once for each state of a directory."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._exact = frozenset(self._names)
        self._folded = frozenset(name.casefold() for name in self._names)
        self._alike = frozenset(_ALIKE)
        self._meant = tuple(name for name in self._folded if len(name) >= _SHORTEST)
        self._kept: dict[tuple[int, int], tuple[tuple[int, int], Listing]] = {}

    def look(self, folder: Folder, *, again: bool = False) -> Listing:
        """The listing of ``folder``; ``again`` looks at the disk even when nothing seems to have changed."""
        state = folder.stat("")
        if state is None:
            return Listing(frozenset(), (), False)
        key = (state.st_dev, state.st_ino)
        stamp = (state.st_mtime_ns or 0, state.st_ctime_ns or 0)  # a stat made by hand has none of the two
        kept = self._kept.get(key)
        if kept is not None and not again and kept[0] == stamp:
            return kept[1]
        now = time.time_ns()
        listing = self._list(folder)
        if 0 < max(stamp) < now - _SETTLED_NS:
            if len(self._kept) >= _MOST_DIRECTORIES:
                self._kept.clear()
            listing.sure = listing.whole and stamp[1] % _MILLISECOND_NS != 0
            self._kept[key] = (stamp, listing)
        return listing

    def _list(self, folder: Folder) -> Listing:
        try:
            names = folder.names(_MOST_NAMES + 1)
        except OSError:  # it can be searched but not listed
            names = list(_PROBED)
            whole = False
        else:
            whole = len(names) <= _MOST_NAMES
            if not whole:
                names = list(dict.fromkeys((*names, *_PROBED)))
        spelled: list[str] = []
        alike: list[str] = []
        others: list[str] = []
        local: list[str] = []
        for name in names:
            folded = name.casefold()
            if folded in self._folded:
                if name not in self._exact:
                    spelled.append(name)
            elif folded in _OTHERS:
                others.append(name)
            elif folded in _LOCAL:
                local.append(name)
            elif folded in self._alike or any(_slipped(folded, meant) for meant in self._meant):
                alike.append(name)
        exact = self._exact.intersection(names)
        near, other, own = (
            tuple(name for name in found if is_file(folder, name))
            for found in ((*sorted(spelled), *sorted(alike)), sorted(others), sorted(local))
        )
        further = tuple(path for path in _FURTHER if path.partition("/")[0] in names)
        return Listing(exact, near, whole, other, further, own)


def _slipped(name: str, meant: str) -> bool:
    """Whether the name is the one that was meant but for one letter, or for the order of its letters."""
    if abs(len(name) - len(meant)) > 1 or not name.endswith(meant[-3:]):
        return False
    if len(name) == len(meant):
        wrong = [(a, b) for a, b in zip(name, meant, strict=True) if a != b]
        return len(wrong) == 1 or sorted(name) == sorted(meant)
    short, long = sorted((name, meant), key=len)
    at = next((i for i, letter in enumerate(short) if letter != long[i]), len(short))
    return short[at:] == long[at + 1 :]


def is_file(folder: Folder, name: str) -> bool:
    """Whether something is there and is no directory."""
    try:
        found = folder.stat(name)
    except OSError:
        return False
    return found is not None and not stat.S_ISDIR(found.st_mode)
