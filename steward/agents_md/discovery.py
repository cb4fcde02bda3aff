"""Walks from the boundary down to a target and chooses one document in each directory on the way."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from dataclasses import dataclass, field

from steward.agents_md.document import Document, Kind, Note, Skipped
from steward.agents_md.files import FileSystem, Folder
from steward.agents_md.near import NearMisses, is_file
from steward.agents_md.reading import Oversized, inside, load
from steward.agents_md.settings import DOCUMENT, OVERRIDE, Settings

_GITFILE_BYTES = 65_536
_POINTER_CHARACTERS = 512


@dataclass(slots=True)
class Look:
    """What one directory holds."""

    directory: str
    repository: bool
    document: Document | None = None
    oversized: bool = False
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    notes: list[Note] = field(default_factory=list[Note])


@dataclass(slots=True)
class Discovery:
    """What the directories above a target hold, broadest first."""

    boundary: str
    """Absolute path of the directory where discovery stopped."""
    looks: list[Look] = field(default_factory=list[Look])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    too_deep: bool = False
    """Whether directories were left out because the target lies too deep."""


class Discoverer:
    """Discovers for one workspace; keeps nothing but the listings that near misses were looked for in."""

    def __init__(self, files: FileSystem, root: str, settings: Settings) -> None:
        self._files = files
        self._root = root
        self._settings = settings
        self._names = settings.names
        self._near = NearMisses(settings.names)

    def discover(self, target: str, *, directory: bool) -> Discovery:
        """The documents for an absolute, normalised ``target``; ``directory`` says that it is one if absent."""
        top, folder, known = self._top()
        try:
            if not inside(target, top):
                reason = Skipped(self.relative(target), "it is outside the repository", "outside")
                return Discovery(top, skipped=[reason])
            walk = _Walk(self, top, folder, target, directory, known)
        finally:
            if folder is not None:
                folder.close()
        if walk.moved is None:
            return walk.result()
        folder = self._open(top)  # once more along the real path, for a directory on the way was a link
        try:
            return _Walk(self, top, folder, walk.moved, directory, known).result()
        finally:
            if folder is not None:
                folder.close()

    def relative(self, path: str) -> str:
        """An absolute path as people see it: relative to the workspace, ``..`` leading above it."""
        root = self._root
        if path == root:
            return "."
        if inside(path, root):
            return path[len(root.rstrip("/")) + 1 :]
        return posixpath.relpath(path, root)

    def _top(self) -> tuple[str, Folder | None, bool | None]:
        """Where discovery may begin at most, opened: a repository that holds the workspace, else the workspace.

        The last value tells whether it is a repository, ``None`` when that was not looked at.
        """
        nearest = self._settings.boundary == "nearest"
        folder = self._open(self._root)
        if nearest and folder is not None and is_repository(folder):
            return self._root, folder, True
        found, at = "", self._root
        while (parent := posixpath.dirname(at)) != at:
            at = parent
            if self._holds_repository(at):
                found = at
                if nearest:
                    break
        if not found:
            return self._root, folder, False if nearest else None
        if folder is not None:
            folder.close()
        return found, self._open(found), True

    def _open(self, path: str) -> Folder | None:
        try:
            return self._files.open(path)
        except OSError:
            return None

    def _holds_repository(self, directory: str) -> bool:
        try:
            if self._files.stat(posixpath.join(directory, ".git")) is None:
                return False
        except OSError:
            return False
        folder = self._open(directory)
        if folder is None:
            return False
        try:
            return is_repository(folder)
        finally:
            folder.close()

    def look(self, folder: Folder, look: Look, within: str) -> None:
        """Choose the document of one directory and read it; links must end beneath ``within``."""
        listing = self._near.look(folder)
        names = [name for name in self._names if name in listing.exact] if listing.sure else self._names
        present = [(name, found) for name in names if (found := folder.stat(name)) is not None]
        if present and listing.whole and any(name not in listing.exact for name, _ in present):
            listing = self._near.look(
                folder, again=True
            )  # created just now, or case makes no difference here
            present = [(name, found) for name, found in present if name in listing.exact or not listing.whole]
        further = [name for name in listing.further if is_file(folder, name)] if not present else []
        if not (present or further or listing.near or listing.others or listing.local):
            return
        scope = self.relative(look.directory)
        prefix = "" if scope == "." else scope + "/"
        for place, (name, found) in enumerate(present):
            path = prefix + name
            if place:
                why = "replaced by" if present[0][0] == OVERRIDE else "not used beside"
                look.skipped.append(Skipped(path, f"{why} {present[0][0]} in the same directory", "replaced"))
                continue
            loaded = load(
                self._files, folder, look.directory, name, found,
                path=path, scope=scope, kind=_kind(name), within=within, most=self._settings.max_document_bytes,
            )  # fmt: skip
            match loaded:
                case Document():
                    look.document = loaded
                    self._note_pointer(loaded, look, within)
                case Oversized(skipped):
                    look.oversized = True
                    look.skipped.append(skipped)
                case Skipped(_, reason, cause):
                    if len(present) > 1:
                        reason += f"; it still replaces {present[1][0]}"
                    look.skipped.append(Skipped(path, reason, cause))
        for name in listing.near:
            reason = f"the name is not {self._meant(name)}; it was not loaded"
            look.skipped.append(Skipped(prefix + name, reason, "name"))
        for name in listing.local:
            reason = f"a person's own instructions are read from {OVERRIDE}; it was not loaded"
            look.skipped.append(Skipped(prefix + name, reason, "name"))
        for name in () if present else (*listing.others, *further):
            setting = "files" if "/" in name else "fallback_names"
            reason = f"it is meant for another program; instructions.{setting} in your settings can name it"
            look.skipped.append(Skipped(prefix + name, reason, "name"))

    def _meant(self, name: str) -> str:
        folded = name.casefold()
        exact = next((known for known in self._names if known.casefold() == folded), None)
        return exact or (OVERRIDE if "override" in folded else DOCUMENT)

    def _note_pointer(self, document: Document, look: Look, within: str) -> None:
        """Git writes a symbolic link as a text file that holds its target where links are switched off."""
        text = document.text
        if len(text) > _POINTER_CHARACTERS or text.split() != [text] or not ("/" in text or "." in text):
            return
        end = posixpath.normpath(posixpath.join(look.directory, text))
        try:
            points = inside(end, within) and self._files.stat(end) is not None
        except (OSError, ValueError):
            return
        if points:
            what = (
                f"it holds only the path {text}, as Git leaves a symbolic link where links are switched off"
            )
            look.notes.append(
                Note(
                    document.path,
                    f"{what}; the file it names was not loaded",
                    f"It holds only the path of another file, {self.relative(end)}, which was not loaded: read that.",
                )
            )


class _Walk:
    """One way down from the top to a target."""

    def __init__(
        self,
        owner: Discoverer,
        top: str,
        folder: Folder | None,
        target: str,
        directory: bool,
        known: bool | None,
    ) -> None:
        self._owner = owner
        self._files = owner._files  # pyright: ignore[reportPrivateUsage]
        self._settings = owner._settings  # pyright: ignore[reportPrivateUsage]
        self._top = top
        self._within = top
        self._skipped: list[Skipped] = []
        self._looks: list[Look] = []
        self.moved: str | None = None
        """Where the target really is, when a directory on the way turned out to be a link."""
        self._steps = [step for step in target[len(top) :].split("/") if step]
        self._is_directory = directory or not self._steps
        self._closest = len(self._steps) - self._settings.max_depth
        if folder is None:
            self._skipped.append(Skipped(owner.relative(top), "the directory cannot be opened", "absent"))
        else:
            self._down(folder, known)

    def _down(self, top: Folder, known: bool | None) -> None:
        at = self._top
        folder = top
        try:
            self._visit(folder, at, known)
            for number, step in enumerate(self._steps):
                following = self._enter(folder, at, step, number)
                if following is None:
                    return
                if folder is not top:
                    folder.close()
                folder = following
                at = f"{at}/{step}" if at != "/" else f"/{step}"
                self._visit(folder, at, None)
            self._is_directory = True
        finally:
            if folder is not top:
                folder.close()

    def _enter(self, folder: Folder, at: str, step: str, number: int) -> Folder | None:
        """The next directory; ``None`` when it is absent, a file, or a link (which is then looked into)."""
        try:
            following = folder.enter(step)
            if following is not None:
                return following
            found = folder.stat(step)
        except OSError:
            if not any(item.cause == "unreadable" for item in self._looks[-1].skipped):
                path = self._owner.relative(posixpath.join(at, step))
                self._skipped.append(Skipped(path, "the directory could not be opened", "unreadable"))
            return None
        if found is None or not stat.S_ISLNK(found.st_mode):
            return None
        link = posixpath.join(at, step)
        last = number == len(self._steps) - 1
        try:
            end = self._files.real(link)
            if last and not self._leads_to_directory(end):
                return None
        except (OSError, ValueError):
            return None
        if inside(end, self._top):
            self.moved = posixpath.join(end, *self._steps[number + 1 :])
        else:
            path = self._owner.relative(link)
            self._skipped.append(
                Skipped(path, "the directory is a link that leads out of the repository", "link")
            )
        return None

    def _leads_to_directory(self, end: str) -> bool:
        found = self._files.stat(end)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def _visit(self, folder: Folder, at: str, known: bool | None) -> None:
        look = Look(at, False)
        self._looks.append(look)
        try:
            look.repository = is_repository(folder) if known is None else known
            if look.repository and (self._settings.boundary == "nearest" or not self._any_repository()):
                self._within = at
            if len(self._looks) > self._closest:
                self._owner.look(folder, look, self._within)
        except OSError as error:
            denied = error.errno in (errno.EACCES, errno.EPERM)
            why = "permission denied" if denied else errno.errorcode.get(error.errno or 0, "unknown error")
            look.skipped.append(
                Skipped(self._owner.relative(at), f"the directory could not be searched: {why}", "unreadable")
            )

    def _any_repository(self) -> bool:
        return any(look.repository for look in self._looks[:-1])

    def result(self) -> Discovery:
        """The looks that count, those beyond the boundary turned into reports."""
        repositories = [number for number, look in enumerate(self._looks) if look.repository]
        nearest = self._settings.boundary == "nearest"
        first = repositories[-1 if nearest else 0] if repositories else 0
        found = Discovery(self._looks[first].directory if self._looks else self._top)
        for look in self._looks[:first]:
            if look.document is not None and inside(look.directory, self._owner._root):  # pyright: ignore[reportPrivateUsage]
                reason = "it is beyond the boundary, the repository that holds the target"
                found.skipped.append(Skipped(look.document.path, reason, "boundary"))
        directories = len(self._steps) + (1 if self._is_directory else 0)
        shallowest = max(first, directories - self._settings.max_depth)
        found.too_deep = shallowest > first
        found.looks = self._looks[shallowest:]
        found.skipped += self._skipped
        return found


def is_repository(folder: Folder) -> bool:
    """Whether a directory holds a real ``.git``: a directory with ``HEAD``, or a file that names one."""
    try:
        found = folder.stat(".git")
        if found is None:
            return False
        if stat.S_ISREG(found.st_mode):
            data, _ = folder.read(".git", _GITFILE_BYTES)
            return data.startswith(b"gitdir:")
        if stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode):
            head = folder.stat(".git/HEAD")
            return head is not None and not stat.S_ISDIR(head.st_mode)
    except OSError:
        return False
    return False


def absolute(root: str, target: str | os.PathLike[str]) -> tuple[str, bool]:
    """``target`` as a normalised absolute path, and whether its spelling says that it is a directory."""
    text = os.fspath(target)
    if "\0" in text:
        raise ValueError("A target cannot hold a NUL character.")
    path = posixpath.normpath(posixpath.join(root, text))
    if path.startswith("//"):
        path = path[1:]
    return path, text.endswith("/") or posixpath.basename(text) in (".", "..")


def _kind(name: str) -> Kind:
    if name == OVERRIDE:
        return "override"
    return "agents" if name == DOCUMENT else "fallback"
