"""Completes paths of the workspace as they are typed, from a list that is made once and made anew behind the scenes."""

from __future__ import annotations

import re
import threading
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Protocol

from steward.errors import StewardError

FRESH_SECONDS = 5.0
SHARE = 20
"""A list that took a second to make is not made again for so many seconds."""
MOST = 200_000
FEW = 2_000


class Files(Protocol):
    """What is asked of a workspace."""

    def files(self, limit: int | None = None, stop: Callable[[], bool] | None = None) -> list[str]:
        """Paths of the files that are not ignored, at most ``limit``, until ``stop`` says so."""
        ...


class PathIndex:
    """The workspace's files that are not ignored. Everything here blocks; run it in a thread."""

    def __init__(self, workspace: Files) -> None:
        self._workspace = workspace
        self._listing: _Listing | None = None
        self._lock = threading.Lock()
        self._again: threading.Thread | None = None
        self._due = 0.0
        self._closed = threading.Event()
        self._unwanted = threading.Event()

    @property
    def listed(self) -> bool:
        """Whether there is a list already, so that completing takes milliseconds."""
        return self._listing is not None

    def begin(self) -> None:
        """Make the first list, if there is none; ``stop`` ends that without one."""
        with self._lock:
            if self._listing is None:
                self._unwanted.clear()
                self._make()

    def stop(self) -> None:
        """Make no list for now."""
        self._unwanted.set()

    def complete(self, text: str, limit: int) -> tuple[str, ...]:
        """At most ``limit`` paths that fit ``text``, best first.

        First come paths that begin with it, then names that begin with it, names and paths that hold it, those that
        hold its words in any order, those that hold its letters in order (first where a piece of them begins the
        name or a word of it), and names that are nearly it; among equals the ones nearer to the top.
        """
        found: dict[str, None] = {}
        for path in self._listed().matches(text.casefold(), limit):
            found[path] = None
            if len(found) == limit:
                break
        return tuple(found)

    def close(self) -> None:
        """Stop making lists."""
        self._closed.set()
        again = self._again
        if again is not None:
            again.join()

    def _listed(self) -> _Listing:
        """The list as it is; when it is old a new one is begun, which a later call will give."""
        with self._lock:
            if self._listing is None:
                self._make()
            elif time.monotonic() > self._due and (self._again is None or not self._again.is_alive()):
                self._again = threading.Thread(target=self._make_again, name="paths", daemon=True)
                self._again.start()
            return self._listing or _Listing([])

    def _make_again(self) -> None:
        with suppress(StewardError):
            self._make()

    def _stopped(self) -> bool:
        return self._closed.is_set() or self._unwanted.is_set()

    def _make(self) -> None:
        began = time.monotonic()
        files = self._workspace.files(MOST, self._stopped)
        if not self._stopped():
            self._listing = _Listing(files)
        took = time.monotonic() - began
        self._due = began + took + max(FRESH_SECONDS, SHARE * took)


class _Listing:
    """Paths from the top downwards, and what is needed to find among them without a loop in Python."""

    def __init__(self, files: list[str]) -> None:
        self._files = sorted(files, key=_place)
        # One object for both where the letters are small already.
        self._folded = [path if (folded := path.casefold()) == path else folded for path in self._files]
        self._names = [path[path.rfind("/") + 1 :] for path in self._folded]
        self._sorted = sorted(range(len(self._folded)), key=self._folded.__getitem__)
        self._all_paths = _Text(self._folded)
        self._all_names = _Text(self._names)

    def matches(self, wanted: str, limit: int) -> Iterator[str]:
        """Paths that fit, best first; the same one more than once."""
        if not wanted:
            yield from self._files[:limit]
            return
        steps: tuple[Callable[[], Iterable[int]], ...] = (
            lambda: self._beginning(wanted, limit),
            lambda: self._all_names.holding("\n" + wanted),
            lambda: self._all_names.holding(wanted),
            lambda: self._all_paths.holding(wanted),
            lambda: self._worded(wanted),
            lambda: self._scattered(wanted, limit),
            lambda: self._nearly(wanted, limit),
        )
        for step in steps:
            yield from (self._files[number] for number in step())

    def _beginning(self, wanted: str, limit: int) -> Iterable[int]:
        """Paths that begin with it. Where they are very many they are not sorted, but met one after the other."""
        folded = self._folded.__getitem__
        low = bisect_left(self._sorted, wanted, key=folded)
        high = bisect_right(self._sorted, wanted + "\U0010ffff", key=folded)
        if high - low > FEW:
            return self._all_paths.holding("\n" + wanted)
        return sorted(self._sorted[low:high])[:limit]

    def _worded(self, wanted: str) -> list[int]:
        """Paths that hold all its words, whatever their order, those first whose name begins with one."""
        words = [word for word in wanted.split(" ") if word]
        if len(words) < 2:
            return []
        longest = max(words, key=len)
        found = [
            number
            for number in self._all_paths.holding(longest)
            if all(word in self._folded[number] for word in words)
        ]
        begun = tuple(words)
        return sorted(found, key=lambda number: not self._names[number].startswith(begun))

    def _scattered(self, wanted: str, limit: int) -> list[int]:
        """Paths that hold its letters in order: by the piece that begins a word of the name, then by closeness."""
        from rapidfuzz import fuzz, process

        letters = wanted.replace(" ", "")
        near = {number: self._folded[number] for number in self._all_paths.scattered(letters)}
        pieces = {
            number: piece for number, path in near.items() if (piece := self._piece(number, path, letters))
        }
        best = sorted(pieces, key=pieces.__getitem__, reverse=True)[:limit]
        if len(best) < limit:
            rest = {number: path for number, path in near.items() if number not in pieces}
            best += [
                number
                for _, _, number in process.extract(letters, rest, scorer=fuzz.partial_ratio, limit=limit)
            ]
        return best

    def _piece(self, number: int, path: str, letters: str) -> int:
        """How well the letters' longest end that begins a word of the name fits; 0 where less than two letters do.

        What is before it must be scattered over the directories, and fits best as the beginning of one of them.
        """
        name = self._names[number]
        above = path[: len(path) - len(name)]
        for at in range(len(letters) - 1):
            end = letters[at:]
            begins = name.startswith(end)
            if (begins or f"_{end}" in name or f"-{end}" in name) and _in_order(letters[:at], above):
                start = letters[:at]
                fits = 2 * len(end) + begins
                return fits + (
                    2 * len(start) if f"/{start}" in f"/{above}" else f"/{above}".count(f"/{start[:1]}") > 0
                )
        return 0

    def _nearly(self, wanted: str, limit: int) -> list[int]:
        """Names that differ in few letters."""
        from rapidfuzz import fuzz, process

        name = wanted[wanted.rfind("/") + 1 :]
        found = process.extract(name, self._names, scorer=fuzz.ratio, score_cutoff=65, limit=limit)
        found.sort(key=lambda near: (-near[1], not near[0].startswith(name)))
        return [number for _, _, number in found]


class _Text:
    """Many names as one text, to be looked through at once."""

    def __init__(self, names: list[str]) -> None:
        self._text = "\n" + "\n".join(names)
        starts = array("L", [0])
        at = 1
        for name in names:
            at += len(name) + 1
            starts.append(at - 1)
        self._starts = starts

    def holding(self, wanted: str) -> Iterator[int]:
        """The numbers of the names that hold it, in order; one that begins with a line break begins the name."""
        return islice(self._holding(wanted), FEW)

    def scattered(self, letters: str) -> Iterator[int]:
        """The numbers of the names that hold the letters in this order, whatever stands between them."""
        if not letters or "\n" in letters:
            return
        # Each letter is looked for from the one before up to its first occurrence: nothing is tried twice.
        steps = (f"[^\n{(one := re.escape(letter))}]*+{one}" for letter in letters)
        for match in islice(re.finditer("\n" + "".join(steps), self._text), FEW):
            yield bisect_right(self._starts, match.start() + 1) - 1

    def _holding(self, wanted: str) -> Iterator[int]:
        if not wanted.strip("\n") or "\n" in wanted[1:]:
            return
        at = self._text.find(wanted)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield number
            at = self._text.find(wanted, self._starts[number + 1])


def _place(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _in_order(letters: str, text: str) -> bool:
    """Whether the text holds the letters in this order."""
    left = iter(text)
    return all(letter in left for letter in letters)
