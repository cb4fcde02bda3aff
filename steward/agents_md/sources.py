"""Documents that no directory walk finds: the user's own, configured ones, those named for one run."""

from __future__ import annotations

import fnmatch
import os
import posixpath
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from steward.agents_md.document import Document, Kind, Note, Skipped
from steward.agents_md.files import FileSystem, Folder
from steward.agents_md.reading import Oversized, inside, parse, read_link, unreadable
from steward.agents_md.remote import Remote, load_remote
from steward.agents_md.settings import DOCUMENT, Settings, is_url

_GLOB_SECONDS = 2.0
_GLOB_DIRECTORIES = 4096
_GLOB_NAMES = 65_536
_DIRECTORY_FILES = 256
_FORGOTTEN = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"))


@dataclass(slots=True)
class Gathered:
    """Documents from sources other than discovery, broadest first, and what was left out of them."""

    documents: list[Document] = field(default_factory=list[Document])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    notes: list[Note] = field(default_factory=list[Note])
    oversized: bool = False

    def take(self, loaded: Document | Skipped | Oversized) -> None:
        """Put what was loaded where it belongs."""
        match loaded:
            case Document():
                self.documents.append(loaded)
            case Oversized(skipped):
                self.oversized = True
                self.skipped.append(skipped)
            case Skipped():
                self.skipped.append(loaded)


class Sources:
    """Reads the sources that do not depend on the target."""

    def __init__(
        self, files: FileSystem, root: str, settings: Settings, *,
        remote: Remote | None, home: str, relative: Callable[[str], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._files = files
        self._root = root
        self._settings = settings
        self._remote = remote
        self._home = home
        self._relative = relative
        self._clock = clock
        self._globs: dict[str, tuple[float, list[str], bool]] = {}

    def gather(self, within: str) -> Gathered:
        """All of them; links from entries beneath the workspace must end beneath ``within``."""
        found = Gathered()
        settings = self._settings
        for path in settings.user_documents:
            self._file(str(path), "user", found, within=None, absent=False)
        for entry in settings.files:
            if is_url(entry):
                loaded, note = load_remote(entry, self._remote, scope=".", most=settings.max_document_bytes)
                found.take(loaded)
                if note is not None and isinstance(loaded, Document):
                    found.notes.append(note)
            else:
                self._configured(entry, within, found)
        for path in settings.read_files:
            self._named(self.absolute(str(path)), found)
        return found

    def location(self, path: Path) -> Gathered:
        """The document at an explicit location; ``FileNotFoundError`` when nothing is there."""
        place = self.absolute(str(path))
        state = self._stat(place)
        if state is not None and stat.S_ISDIR(state.st_mode):
            place = posixpath.join(place, DOCUMENT)
            state = self._stat(place)
        if state is None:
            raise FileNotFoundError(f"There is no instruction document at the location {self.shown(place)}.")
        found = Gathered()
        self._file(place, "location", found, within=None, absent=True)
        return found

    def shown(self, path: str) -> str:
        """An absolute path as people see it: relative within the workspace, else from ``~``, else as it is."""
        if inside(path, self._root):
            return self._relative(path)
        home = self._home
        if home and home != "/" and inside(path, home):
            return "~" + path[len(home) :]
        return path

    def absolute(self, path: str) -> str:
        """The normalised absolute path: a relative one counts from the workspace, ``~`` is the home directory."""
        if path == "~" or path.startswith("~/"):
            path = self._home + path[1:]
        return posixpath.normpath(posixpath.join(self._root, path))

    def _stat(self, path: str) -> os.stat_result | None:
        """What is at ``path``, links followed."""
        try:
            return self._files.stat(self._files.real(path))
        except (OSError, ValueError):
            return None

    def _file(self, path: str, kind: Kind, found: Gathered, *, within: str | None, absent: bool) -> None:
        """One document at an absolute path; links must end beneath ``within`` (``None``: anywhere).

        ``absent`` says whether one that does not exist is worth a report.
        """
        most = self._settings.max_document_bytes
        shown = self.shown(path)
        try:
            if self._files.stat(path) is None:
                if absent:
                    found.skipped.append(Skipped(shown, "it does not exist", "absent"))
                return
            data, state = read_link(self._files, path, within, most)
        except OSError as error:
            found.take(unreadable(shown, error, most))
            return
        found.take(parse(data, path=shown, scope=".", kind=kind, device=state.st_dev, inode=state.st_ino))

    def _named(self, path: str, found: Gathered) -> None:
        state = self._stat(path)
        if state is None or not stat.S_ISDIR(state.st_mode):
            self._file(path, "read", found, within=None, absent=True)
            return
        folder = self._files.open(self._files.real(path))
        if folder is None:
            found.skipped.append(Skipped(self.shown(path), "the directory could not be opened"))
            return
        try:
            names = sorted(name for name in folder.names(_DIRECTORY_FILES + 1) if not name.startswith("."))
        except OSError:
            found.skipped.append(Skipped(self.shown(path), "the directory could not be listed"))
            return
        finally:
            folder.close()
        if len(names) > _DIRECTORY_FILES:
            found.skipped.append(
                Skipped(self.shown(path), f"it holds more than {_DIRECTORY_FILES} files", "limit")
            )
            return
        for name in names:
            place = posixpath.join(path, name)
            state = self._stat(place)
            if state is None or not stat.S_ISDIR(state.st_mode):
                self._file(place, "read", found, within=None, absent=True)

    def _configured(self, entry: str, within: str, found: Gathered) -> None:
        if posixpath.isabs(entry) or entry == "~" or entry.startswith("~/"):
            if any(char in entry for char in "*?[") and self._stat(self.absolute(entry)) is None:
                reason = "patterns are matched in the workspace alone; name each file outside of it"
                found.skipped.append(Skipped(entry, reason, "absent"))
                return
            self._file(self.absolute(entry), "configured", found, within=None, absent=True)
            return
        pattern = posixpath.normpath(entry)
        if pattern == ".." or pattern.startswith("../"):
            found.skipped.append(
                Skipped(entry, "it leads out of the workspace; write an absolute path for that", "outside")
            )
            return
        if not any(char in pattern for char in "*?["):
            state = self._stat(self.absolute(pattern))
            if state is not None and stat.S_ISDIR(state.st_mode):
                reason = f"it is a directory; {pattern}/* names the files in it, {pattern}/** all beneath it"
                found.skipped.append(Skipped(entry, reason, "special"))
                return
            if state is None and "{" in pattern:
                reason = "it does not exist; braces mean themselves, so write an entry for each file"
                found.skipped.append(Skipped(entry, reason, "absent"))
                return
            self._file(self.absolute(pattern), "configured", found, within=within, absent=True)
            return
        paths, whole = self._expand(pattern)
        if not whole:
            found.skipped.append(Skipped(entry, "the glob was given up: it looks at too much", "glob"))
        elif not paths:
            found.skipped.append(Skipped(entry, "the glob matches no file", "glob"))
        for path in paths:
            self._file(posixpath.join(self._root, path), "configured", found, within=within, absent=False)

    def _expand(self, pattern: str) -> tuple[list[str], bool]:
        """Files that match; a pattern with ``**`` is expanded anew at most every other second."""
        deep = "**" in pattern.split("/")
        kept = self._globs.get(pattern)
        if deep and kept is not None and self._clock() - kept[0] < _GLOB_SECONDS:
            return kept[1], kept[2]
        budget = _Budget()
        folder = self._files.open(self._root)
        try:
            paths = sorted(set(_match(folder, "", pattern.split("/"), budget))) if folder is not None else []
        finally:
            if folder is not None:
                folder.close()
        self._globs[pattern] = (self._clock(), paths, not budget.spent)
        return paths, not budget.spent


class _Budget:
    """How much one glob may still look at."""

    def __init__(self) -> None:
        self.directories = _GLOB_DIRECTORIES
        self.names = _GLOB_NAMES

    @property
    def spent(self) -> bool:
        return self.directories <= 0 or self.names <= 0


def _match(folder: Folder, prefix: str, pattern: list[str], budget: _Budget) -> Iterator[str]:
    budget.directories -= 1
    if budget.spent:
        return
    head, rest = pattern[0], pattern[1:]
    if head == "**":
        yield from _match(folder, prefix, rest or ["*"], budget)
        rest = pattern
    try:
        names = sorted(folder.names(max(budget.names, 0) + 1))
    except OSError:
        return
    budget.names -= len(names)
    for name in names:
        if name in _FORGOTTEN or (name.startswith(".") and not head.startswith(".")):
            continue
        if head != "**" and not fnmatch.fnmatchcase(name, head):
            continue
        if not rest:
            state = folder.stat(name)
            if state is not None and not stat.S_ISDIR(state.st_mode):
                yield prefix + name
            continue
        try:
            following = folder.enter(name)
        except OSError:
            continue
        if following is not None:
            try:
                yield from _match(following, f"{prefix}{name}/", rest, budget)
            finally:
                following.close()
