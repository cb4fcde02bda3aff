"""Searching file by file: which files are looked at and in which order; ripgrep tells which can be passed over."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal, Protocol

from steward.errors import PathRefused
from steward.tools.overlay import Overlay
from steward.tools.ripgrep import Ripgrep
from steward.tools.search_look import FileHits, Looks, look, passing_over
from steward.tools.search_query import Query, RanAway
from steward.tools.sieve_pattern import sieve_pattern
from steward.workspace import LeftOut, RepoPath, TreeWalk
from steward.workspace.glob import Glob

Stopped = Literal["", "cancelled", "time", "ran-away"]

ALONE = 0.001
"""Seconds after which a search is worth a run of ripgrep."""
HEAD_START = 0.005
"""Seconds for which files are looked at one after the other all the same; common words are found by then."""


@dataclass(slots=True)
class Tally(Looks):
    """What a search did, counted while it runs."""

    special: int = 0
    walk: LeftOut = field(default_factory=LeftOut)
    asked_for_ignored: bool = False
    stopped: Stopped = ""
    stopped_at: RepoPath | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to search: files at or beneath ``path`` that ``glob`` means. ``deadline`` is on the monotonic clock."""

    query: Query
    path: RepoPath
    glob: Glob | None
    deadline: float
    stop: Callable[[], bool]


class SearchEngine(Protocol):
    """Gives hits file by file: in order of paths what is on disk, then what is pending; read through the overlay."""

    def search(self, overlay: Overlay, request: Request, tally: Tally) -> Generator[FileHits, None, None]:
        """Raises ``PathRefused`` when ``request.path`` itself cannot be searched."""
        ...


class _Stop(Exception):
    """The search is over: it was cancelled, or its time has run out."""


class Engine:
    """Walks the tree and looks at every file, with ripgrep only at those it names.

    ``ripgrep`` is where ``rg`` is; ``None`` does without. The answer is the same either way, except that with ripgrep
    files are passed over in which a regular expression would run away without a match. ``alone`` and ``head_start``
    are in seconds.
    """

    def __init__(
        self, ripgrep: str | None = None, *, alone: float = ALONE, head_start: float = HEAD_START
    ) -> None:
        self._ripgrep = ripgrep
        self._alone = alone
        self._head_start = head_start

    def search(self, overlay: Overlay, request: Request, tally: Tally) -> Generator[FileHits, None, None]:
        try:
            yield from self._search(_Search(overlay, request, tally))
        except RanAway:
            tally.stopped = "ran-away"
        except _Stop:
            tally.stopped = "cancelled" if request.stop() else "time"

    def _search(self, search: _Search) -> Iterator[FileHits]:
        overlay, request, tally = search.overlay, search.request, search.tally
        start = request.path
        overlay.workspace.allowed(start)
        if start.text in overlay.pending:
            overlay.read(start)
            yield from _one(search.look(start, walked=False))
            return
        found = overlay.workspace.stat(start)
        if found is not None and found.kind == "file":
            yield from _one(search.look(start, walked=False))
            return
        written = [path for path, _ in overlay.written(start)]
        try:
            walk = overlay.workspace.walk(start, stop=search.ended)
        except PathRefused as refusal:
            if refusal.kind != "missing" or not written:
                raise overlay.hinted(refusal, start) from None
        else:
            tally.walk = walk.left_out
            tally.asked_for_ignored = walk.asked_for_ignored
            yield from self._walked(search, walk)
        for path in written:
            if request.glob is None or request.glob.matches(path, start):
                yield from _one(search.look(path, walked=False))

    def _walked(self, search: _Search, walk: TreeWalk) -> Iterator[FileHits]:
        runs = search.runs(walk)
        began = time.monotonic()
        sieve: Ripgrep | None = None
        wanted = self._ripgrep is not None
        try:
            for run in runs:
                passed = time.monotonic() - began
                if wanted and passed > self._alone:
                    wanted = False
                    sieve = self._sieve(search, walk)
                if sieve is not None and passed > self._head_start:
                    yield from search.sifted([run, *runs], sieve)
                    break
                yield from search.each(*run[:2])
        finally:
            if sieve is not None:
                sieve.close()

    def _sieve(self, search: _Search, walk: TreeWalk) -> Ripgrep | None:
        request = search.request
        source = request.query.source
        found = sieve_pattern(source.text, regex=source.regex, ignore_case=source.ignore_case)
        if self._ripgrep is None or found is None:
            return None
        pattern, fixed = found
        try:
            return Ripgrep(
                self._ripgrep,
                search.overlay.workspace,
                request.path,
                pattern,
                fixed=fixed,
                left_out=walk.simple_rules,
                endings=request.glob.endings if request.glob else (),
            )
        except OSError:
            return None


class _Search:
    """One search while it runs."""

    def __init__(self, overlay: Overlay, request: Request, tally: Tally) -> None:
        self.overlay = overlay
        self.request = request
        self.tally = tally
        self._may_skip = passing_over(request.query, tally, self.check)

    def ended(self) -> bool:
        return self.request.stop() or time.monotonic() > self.request.deadline

    def check(self) -> None:
        if self.ended():
            raise _Stop

    def runs(self, walk: TreeWalk) -> Iterator[_Run]:
        """The files on disk that are meant."""
        pending, glob, depth = self.overlay.pending, self.request.glob, len(self.request.path.parts)
        for above, names, kind, noted in walk.runs():
            if kind == "directory":
                continue
            if pending:
                names = [name for name in names if above + name not in pending]
            if glob is not None:
                names = [name for name in names if glob.matches_text(above + name, depth)]
            if kind == "file":
                yield above, names, noted
            elif kind == "link":
                self.tally.links += len(names)
            else:
                self.tally.special += len(names)
        self.check()

    def each(self, above: str, names: list[str]) -> Iterator[FileHits]:
        """Look at the files of one directory that may hold what is searched for."""
        self.check()
        with closing(self.overlay.workspace.sift(_directory(above), names, self._may_skip)) as worth:
            for name in worth:
                found = self.look(_path(above + name))
                if found is not None:
                    yield found

    def sifted(self, runs: list[_Run], sieve: Ripgrep) -> Iterator[FileHits]:
        """Look at the files that ripgrep names or may not have seen; at all when it failed."""
        while not sieve.wait(0.01):
            if self.ended():
                sieve.close()
                yield from self._last(runs, sieve.so_far())
                raise _Stop
        named = sieve.named()
        passed = 0
        for above, names, noted in runs:
            if named is not None and not noted and above not in named:
                passed += len(names)
                continue
            self.tally.searched += passed
            passed = 0
            if noted or named is None:
                yield from self.each(above, names)
            else:
                yield from self._named(above, names, named[above])
        self.tally.searched += passed

    def _named(self, above: str, names: list[str], named: set[str]) -> Iterator[FileHits]:
        """Look at the files of one directory that ripgrep ``named``; the others count as searched."""
        at = 0
        for name in _worth(names, named):
            # Files are counted in their order, so that the count is right wherever the search ends.
            index = names.index(name, at)
            self.tally.searched += index - at
            at = index + 1
            found = self.look(_path(above + name))
            if found is not None:
                yield found
        self.tally.searched += len(names) - at

    def _last(self, runs: list[_Run], named: Mapping[str, set[str]]) -> Iterator[FileHits]:
        """What ripgrep had named when the time ran out."""
        for above, names, _ in runs:
            for name in _worth(names, named.get(above)):
                if self.request.stop():
                    return
                path = _path(above + name)
                found = look(self.overlay, path, self.request.query, self.tally, self.ended)
                if found is not None:
                    yield found

    def look(self, path: RepoPath, *, walked: bool = True) -> FileHits | None:
        self.check()
        try:
            return look(self.overlay, path, self.request.query, self.tally, self.ended, walked=walked)
        except RanAway:
            self.tally.stopped_at = path
            raise


_Run = tuple[str, list[str], bool]
"""Files of one directory: where they stand (see ``TreeWalk.runs``), names, whether ripgrep may not have seen them."""


def _worth(names: list[str], named: set[str] | None) -> list[str]:
    return [name for name in names if name in named] if named else []


def _one(found: FileHits | None) -> tuple[FileHits, ...]:
    return () if found is None else (found,)


def _directory(above: str) -> RepoPath:
    return _path(above[:-1]) if above else RepoPath()


def _path(text: str) -> RepoPath:
    return RepoPath(tuple(text.split("/")))
