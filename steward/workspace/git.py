"""What git's own files say of the workspace: the user's ignore files, and which paths are tracked. Git is never run."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from steward.workspace.engine import OPEN_FILE, Engine
from steward.workspace.git_config import Around, expanded, included, is_true, settings
from steward.workspace.git_index import NOTHING, Tracked, index_names
from steward.workspace.ignore import MAX_IGNORE_BYTES
from steward.workspace.reading import read_all, read_small

MAX_INDEX_BYTES = 256 * 1024 * 1024
MAX_CONFIG_BYTES = 1024 * 1024
_HEAD = "ref: refs/heads/"


class Git:
    """Git's files for one workspace, read when they are needed.

    ``environment`` gives ``HOME``, ``XDG_CONFIG_HOME`` and ``GIT_CONFIG_*``, as git would see them; without ``HOME``
    and ``XDG_CONFIG_HOME`` the user's and the system's configuration are not read. Files that the repository's own
    configuration includes are not read.
    """

    def __init__(self, engine: Engine, root: Path, environment: Mapping[str, str]) -> None:
        self._engine = engine
        self._root = root
        self._environment = environment
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] = ()
        self._tracked = NOTHING

    @cached_property
    def above(self) -> tuple[str, ...]:
        """The way from the repository's directory down to the workspace; empty when they are the same.

        As git does, it is not looked for on another device.
        """
        if is_repository(self._root / ".git"):
            return ()
        try:
            device = os.stat(self._root).st_dev
            for directory in self._root.parents:
                if os.stat(directory).st_dev != device:
                    break
                if is_repository(directory / ".git"):
                    return self._root.relative_to(directory).parts
        except OSError:
            pass
        return ()

    @property
    def _top(self) -> Path:
        """The repository's directory: the workspace, or one above it."""
        return self._root.parents[len(self.above) - 1] if self.above else self._root

    def exclude(self) -> bytes:
        """``info/exclude`` of the repository."""
        return self._own("info/exclude", MAX_IGNORE_BYTES, shared=True)

    def users_excludes(self) -> bytes:
        """The ignore file that ``core.excludesFile`` names, else the one at git's default place."""
        place = self._users_excludes_at()
        return _read(lambda: os.open(place, OPEN_FILE), MAX_IGNORE_BYTES) if place else b""

    def ignore_file_above(self, depth: int) -> bytes:
        """The ``.gitignore`` of the directory that is ``depth`` names below the repository's, above the workspace."""
        place = self._top.joinpath(*self.above[:depth], ".gitignore")
        return _read(lambda: os.open(place, OPEN_FILE), MAX_IGNORE_BYTES)

    def ignores_case(self) -> bool:
        """Whether ignore files match names in any case (``core.ignoreCase``)."""
        return is_true(self._last("core.ignorecase") or "")

    def outside(self) -> Iterator[Path]:
        """What is read outside of the workspace: configuration, the user's ignore file, git's directory, and above."""
        around = self._around()
        for place in self._places():
            yield Path(place)
            yield from map(Path, included(_text(place), place, around))
        if (excludes := self._users_excludes_at()) is not None:
            yield excludes
        for depth in range(len(self.above)):
            yield self._top.joinpath(*self.above[:depth], ".gitignore")
        if self.above:
            yield self._top / ".git"
        try:
            own = self._elsewhere()
            common = self._elsewhere(shared=True)
        except OSError:
            return
        yield Path(os.fsdecode(own))
        yield from (Path(os.fsdecode(common), name) for name in ("HEAD", "config", "info"))

    def tracked(self) -> Tracked:
        """What the index holds; nothing when it is missing, larger than 256 MiB, or of an unknown kind."""
        with self._lock:
            try:
                descriptor = self._opened("index")
            except OSError:
                return NOTHING
            try:
                found = os.fstat(descriptor)
                stamp = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
                if stamp != self._stamp:
                    data = b""
                    if stat.S_ISREG(found.st_mode) and found.st_size <= MAX_INDEX_BYTES:
                        data = read_all(descriptor, found.st_size, MAX_INDEX_BYTES)
                    names = index_names(data, self._digest(), self._shared_index)
                    if self.above:
                        prefix = os.fsencode("/".join((*self.above, "")))
                        names = [name[len(prefix) :] for name in names if name.startswith(prefix)]
                    self._tracked = Tracked(names, fold=self.ignores_case())
                    self._stamp = stamp
            except OSError:
                return NOTHING
            finally:
                os.close(descriptor)
            return self._tracked

    def _shared_index(self, name: str) -> bytes:
        return self._own(name, MAX_INDEX_BYTES, shared=False)

    def _digest(self) -> int:
        """The bytes of an object's name."""
        found = [value for key, value in settings(self._own_config(), "", _NOWHERE) if key == _FORMAT]
        return 32 if found[-1:] == ["sha256"] else 20

    def _homes(self) -> tuple[str, str]:
        """The home directory and that of configurations, empty where there is none."""
        home = self._environment.get("HOME", "")
        return home, self._environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")

    def _users_excludes_at(self) -> Path | None:
        home, base = self._homes()
        named = self._last("core.excludesfile")
        if named is None:
            named = f"{base}/git/ignore" if base else ""
        return self._top / expanded(named, home) if named else None

    def _last(self, wanted: str) -> str | None:
        """The value of a setting that is in force."""
        found: str | None = None
        around = self._around()
        texts = [(_text(place), place) for place in self._places()]
        for text, place in (*texts, (self._own_config(), "")):
            for key, value in settings(text, place, around):
                if key == wanted:
                    found = value
        return found

    def _around(self) -> Around:
        try:
            head = _decoded(self._own("HEAD", MAX_CONFIG_BYTES, shared=False)).strip()
            directory = os.fsdecode(self._elsewhere())
        except OSError:
            head, directory = "", ""
        own = settings(self._own_config(), "", _NOWHERE)
        return Around(
            self._homes()[0],
            _text,
            directory,
            head.removeprefix(_HEAD) if head.startswith(_HEAD) else "",
            tuple(value for key, value in own if key.startswith("remote.") and key.endswith(".url")),
        )

    def _own_config(self) -> str:
        return _decoded(self._own("config", MAX_CONFIG_BYTES, shared=True))

    def _places(self) -> list[str]:
        """Where git's configuration outside of the repository stands, the weakest first."""
        home, base = self._homes()
        environment = self._environment
        places: list[str] = []
        if home or base:
            if environment.get("GIT_CONFIG_NOSYSTEM", "0").lower() in ("", "0", "false", "no", "off"):
                places.append(environment.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))
            chosen = environment.get("GIT_CONFIG_GLOBAL")
            if chosen is not None:
                places.append(chosen)
            else:
                places += [f"{base}/git/config" if base else "", f"{home}/.gitconfig" if home else ""]
        return [place for place in places if place]

    def _own(self, name: str, most: int, *, shared: bool) -> bytes:
        return _read(lambda: self._opened(name, shared=shared), most)

    def _opened(self, name: str, *, shared: bool = False) -> int:
        """A descriptor of a file in git's directory, which may lie outside of the workspace."""
        if not self.above:
            try:
                return self._engine.open((".git", *name.split("/")), OPEN_FILE)
            except NotADirectoryError:
                pass
        return os.open(os.path.join(self._elsewhere(shared=shared), name.encode()), OPEN_FILE)

    def _elsewhere(self, *, shared: bool = False) -> bytes:
        """The path of git's directory; ``shared``: of what worktrees have in common. Raises ``OSError``."""
        directory = os.path.join(os.fsencode(self._top), b".git")
        if not os.path.isdir(directory):  # noqa: PTH112 -- bytes all the way
            text = _read(lambda: os.open(directory, OPEN_FILE), MAX_CONFIG_BYTES)
            if not text.startswith(b"gitdir:"):
                raise FileNotFoundError
            directory = os.path.join(os.fsencode(self._top), text[7:].strip())
        if not os.path.isfile(os.path.join(directory, b"HEAD")):  # noqa: PTH113
            raise FileNotFoundError
        if shared:
            place = os.path.join(directory, b"commondir")
            common = _read(lambda: os.open(place, OPEN_FILE), MAX_CONFIG_BYTES)
            directory = os.path.join(directory, common.strip()) if common.strip() else directory
        return directory


def is_repository(git: Path) -> bool:
    """Whether a ``.git`` is real: a directory with ``HEAD`` in it, or a file that begins with ``gitdir:``."""
    try:
        if git.is_dir():
            return (git / "HEAD").is_file()
        if not git.is_file():
            return False
        with git.open("rb") as file:
            return file.read(7) == b"gitdir:"
    except OSError:
        return False


def _text(place: str) -> str:
    """The text of a configuration file."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    return _decoded(_read(lambda: os.open(place, flags), MAX_CONFIG_BYTES))


_NOWHERE = Around("", _text)
_FORMAT = "extensions.objectformat"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _read(opened: Callable[[], int], most: int) -> bytes:
    """The bytes of a small file; none for what ``read_small`` does not read."""
    return read_small(opened, most) or b""
