"""What git's own files say of the workspace: the user's ignore files, and which paths are tracked. Git is never run."""

from __future__ import annotations

import os
import re
import stat
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from steward.workspace.engine import OPEN_FILE, Engine
from steward.workspace.ignore import MAX_IGNORE_BYTES

MAX_INDEX_BYTES = 256 * 1024 * 1024
MAX_CONFIG_BYTES = 1024 * 1024
MAX_INCLUDES = 10
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


class Tracked:
    """The paths in git's index, as a sorted list of their bytes."""

    def __init__(self, names: list[bytes]) -> None:
        self._names = names

    def holds(self, path: str) -> bool:
        """Whether the file at ``path`` is tracked."""
        wanted = os.fsencode(path)
        at = bisect_left(self._names, wanted)
        return at < len(self._names) and self._names[at] == wanted

    def holds_below(self, directory: str) -> bool:
        """Whether a file beneath ``directory`` is tracked."""
        wanted = os.fsencode(directory) + b"/"
        at = bisect_left(self._names, wanted)
        return at < len(self._names) and self._names[at].startswith(wanted)


NOTHING = Tracked([])


class Git:
    """Git's files for one workspace, read when they are needed.

    ``environment`` gives ``HOME``, ``XDG_CONFIG_HOME`` and ``GIT_CONFIG_*``, as git would see them; without ``HOME``
    and ``XDG_CONFIG_HOME`` the user's and the system's configuration are not read. Conditional includes in them
    are not followed.
    """

    def __init__(self, engine: Engine, root: Path, environment: Mapping[str, str]) -> None:
        self._engine = engine
        self._root = root
        self._environment = environment
        self._lock = threading.Lock()
        self._stamp: tuple[int, ...] = ()
        self._tracked = NOTHING

    def exclude(self) -> bytes:
        """``info/exclude`` of the repository."""
        return self._own("info/exclude", MAX_IGNORE_BYTES, shared=True)

    def users_excludes(self) -> bytes:
        """The ignore file that ``core.excludesFile`` names, else the one at git's default place."""
        home = self._environment.get("HOME", "")
        base = self._environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
        named: str | None = None
        for text, directory in self._configurations(home, base):
            for found in _settings(text, directory, "core.excludesfile", home, MAX_INCLUDES):
                named = found
        if named is None:
            named = f"{base}/git/ignore" if base else ""
        if not named:
            return b""
        return _read(lambda: os.open(self._root / _expanded(named, home), OPEN_FILE), MAX_IGNORE_BYTES)

    def tracked(self) -> Tracked:
        """What the index holds; nothing when it is missing, larger than 256 MiB, split, or of an unknown kind."""
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
                        data = _all(descriptor, found.st_size)
                    self._tracked = Tracked(index_names(data, self._digest()))
                    self._stamp = stamp
            except OSError:
                return NOTHING
            finally:
                os.close(descriptor)
            return self._tracked

    def _digest(self) -> int:
        """The bytes of an object's name."""
        own = self._own("config", MAX_CONFIG_BYTES, shared=True).decode("utf-8", "surrogateescape")
        return 32 if [*_settings(own, "", "extensions.objectformat", "", 0)][-1:] == ["sha256"] else 20

    def _configurations(self, home: str, base: str) -> Iterator[tuple[str, str]]:
        """The texts of git's configuration files, the weakest first, each with its directory."""
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
        for place in filter(None, places):
            yield _text(place), os.path.dirname(place)  # noqa: PTH120 -- strings all the way
        yield self._own("config", MAX_CONFIG_BYTES, shared=True).decode("utf-8", "surrogateescape"), ""

    def _own(self, name: str, most: int, *, shared: bool) -> bytes:
        return _read(lambda: self._opened(name, shared=shared), most)

    def _opened(self, name: str, *, shared: bool = False) -> int:
        """A descriptor of a file in git's directory, which a ``.git`` file may place outside of the workspace."""
        try:
            return self._engine.open((".git", *name.split("/")), OPEN_FILE)
        except NotADirectoryError:
            pass
        text = _read(lambda: self._engine.open((".git",), OPEN_FILE), MAX_CONFIG_BYTES)
        if not text.startswith(b"gitdir:"):
            raise FileNotFoundError
        directory = os.path.join(os.fsencode(self._root), text[7:].strip())
        if not os.path.isfile(os.path.join(directory, b"HEAD")):  # noqa: PTH113
            raise FileNotFoundError
        if shared:
            common = _read(
                lambda: os.open(os.path.join(directory, b"commondir"), OPEN_FILE), MAX_CONFIG_BYTES
            )
            directory = os.path.join(directory, common.strip())
        return os.open(os.path.join(directory, name.encode()), OPEN_FILE)


def index_names(index: bytes, digest: int = 20) -> list[bytes]:
    """The paths of an index of version 2, 3 or 4, in its order, which is that of their bytes.

    ``digest`` is the size of the repository's object names. An index that keeps a part of itself in another file
    gives nothing.
    """
    if index[:4] != b"DIRC" or len(index) < 12:
        return []
    version = int.from_bytes(index[4:8], "big")
    count = int.from_bytes(index[8:12], "big")
    if version not in (2, 3, 4):
        return []
    names: list[bytes] = []
    at, flags, size = 12, 40 + digest, len(index)
    name = b""
    for _ in range(count):
        if at + flags + 3 > size:
            return []
        high = index[at + flags]
        start = at + flags + (4 if high & 0x40 else 2)
        if version == 4:
            start, drop = _drop(index, start)
            end = index.find(b"\0", start)
            name = name[: len(name) - drop] + index[start:end]
            at = end + 1
        else:
            length = (high & 0x0F) << 8 | index[at + flags + 1]
            end = start + length if length < 0xFFF else index.find(b"\0", start)
            name = index[start:end]
            at += (end - at + 8) & ~7
        if end < 0:
            return []
        names.append(name)
    while at + 8 + digest <= size:
        if index[at : at + 4] == b"link":
            return []
        at += 8 + int.from_bytes(index[at + 4 : at + 8], "big")
    return names


def _drop(index: bytes, at: int) -> tuple[int, int]:
    """Where the rest of a name begins in version 4, and how many bytes of the name before it are dropped."""
    drop = index[at] & 0x7F
    while index[at] & 0x80 and at + 1 < len(index):
        at += 1
        drop = ((drop + 1) << 7) | (index[at] & 0x7F)
    return at + 1, drop


def _settings(text: str, directory: str, wanted: str, home: str, includes: int) -> Iterator[str]:
    """The values that a configuration file gives for ``wanted``, in order, those of what it includes among them."""
    section = ""
    for line in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        found = _SECTION.match(line)
        if found is not None:
            section = found[1].lower() if found[2] is None else f"{found[1].lower()}.{found[2]}"
            line = line[found.end() :]
        named = _SETTING.match(line)
        if named is None:
            continue
        key = f"{section}.{named[1].lower()}"
        if key == wanted:
            yield _value(line[named.end() :])
        elif key == "include.path" and directory and includes:
            place = os.path.join(directory, _expanded(_value(line[named.end() :]), home))
            yield from _settings(_text(place), os.path.dirname(place), wanted, home, includes - 1)  # noqa: PTH120


def _value(text: str) -> str:
    """A value without its quotes, escapes, comment and the space around it."""
    out: list[str] = []
    solid = 0
    quoted = False
    characters = iter(text.lstrip())
    for char in characters:
        if char == "\\":
            escaped = next(characters, "")
            out.append(_ESCAPES.get(escaped, escaped))
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out.append(char)
            if char.isspace() and not quoted:
                continue
        solid = len(out)
    return "".join(out[:solid])


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path.startswith("~/") and home else path


def _text(place: str) -> str:
    return _read(lambda: os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), MAX_CONFIG_BYTES).decode(
        "utf-8", "surrogateescape"
    )


def _read(opened: Callable[[], int], most: int) -> bytes:
    """The bytes of a small file; none when it is missing, larger than ``most``, or not a regular file."""
    try:
        descriptor = opened()
    except (OSError, ValueError):
        return b""
    try:
        found = os.fstat(descriptor)
        return (
            _all(descriptor, found.st_size) if stat.S_ISREG(found.st_mode) and found.st_size <= most else b""
        )
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _all(descriptor: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
