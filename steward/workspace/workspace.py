"""The bounded directory: everything in it is reached through one descriptor, and nothing outside of it is."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from steward.errors import PathRefused, UsageError
from steward.workspace.engine import OPEN_DIRECTORY, OPEN_FILE, OPEN_PATH, Engine, EngineName, choose
from steward.workspace.git import Git, is_repository
from steward.workspace.ignore import Chain, Governing, ignored, parse
from steward.workspace.path import ROOT, RepoPath, quoted
from steward.workspace.place import place_of
from steward.workspace.policy import Area, Policy, all_plain, area_of, folded
from steward.workspace.reading import read_all
from steward.workspace.refusal import explain, inside
from steward.workspace.values import Entry, FileContent, FileStat, kind_of
from steward.workspace.walk import TreeWalk, WalkOptions


class Workspace:
    """A directory opened once; has no method that writes. May be used from several threads."""

    def __init__(self, descriptor: int, root: Path, policy: Policy, engine: Engine) -> None:
        self._descriptor = descriptor
        self._engine = engine
        self.root = root
        """Its real path."""
        self.policy = policy
        self.identity = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        """16 hex digits over the real path: device numbers change at a reboot, and a new clone is no other place."""
        self._state = _beneath(policy.state_dir, root)
        denied = parse("\n".join(policy.denied).encode()) if policy.denied else None
        self._denied = None if denied is None else (Governing(denied, 0),)
        self._git = Git(engine, root, policy.git_environment)

    @classmethod
    def open(
        cls,
        root: Path,
        policy: Policy | None = None,
        engine: Literal["auto", "openat2", "walk"] = "auto",
    ) -> Workspace:
        """The workspace at ``root``, a directory the person named; links in that path are followed.

        Raises ``UsageError`` when it is not a directory that can be opened.
        """
        try:
            real = root.resolve(strict=True)
            descriptor = os.open(real, OPEN_DIRECTORY)
        except OSError as error:
            raise UsageError(
                f"The workspace {quoted(root.name or str(root))} cannot be opened: {os.strerror(error.errno or 0)}."
            ) from None
        try:
            return cls(descriptor, real, policy or Policy(), choose(descriptor, engine))
        except OSError as error:
            os.close(descriptor)
            raise UsageError(f"openat2 does not work here: {os.strerror(error.errno or 0)}.") from None
        except BaseException:
            os.close(descriptor)
            raise

    @property
    def name(self) -> str:
        """The last name of its path."""
        return self.root.name or "/"

    @property
    def engine(self) -> EngineName:
        """How paths are opened here."""
        return self._engine.name

    def outside(self) -> tuple[Path, ...]:
        """What is read outside of it for the sake of ignore rules: git's configuration, and its directory elsewhere."""
        return tuple(self._git.outside())

    def close(self) -> None:
        """Give the descriptor back; whoever still uses the workspace is told that nothing is there."""
        if self._descriptor >= 0:
            self._engine.close()
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def area(self, path: RepoPath) -> Area | None:
        """Whether the path is out of bounds by its name alone; ``None`` when the tools may touch it."""
        found: Area | None = None
        for name in path.parts:
            area = area_of(name)
            if area == "protected":
                return area
            found = found or area
        if self._state is not None and _folded(path)[: len(self._state)] == self._state:
            return "protected"
        if self._denied is not None and any(
            ignored(self._denied, path.parts[:end], directory)
            for end in range(1, len(path.parts) + 1)
            for directory in (True, False)
        ):
            return "protected"
        return None if self.policy.secrets_allowed else found

    @property
    def denied(self) -> Chain:
        """The policy's own patterns; whatever they match is out of bounds."""
        return self._denied or ()

    def plain(self, above: tuple[str, ...], names: str) -> bool:
        """Whether no name of ASCII in the directory ``above`` can be out of bounds by itself; see ``all_plain``."""
        state = self._state
        if state is not None and len(above) < len(state) and _folded(RepoPath(above)) == state[: len(above)]:
            return False
        return all_plain(names)

    def allowed(self, path: RepoPath) -> None:
        """Raise ``PathRefused`` of kind ``protected`` or ``secret`` when the path is out of bounds by its name."""
        match self.area(path):
            case "protected":
                raise PathRefused(
                    "protected",
                    path.text,
                    f"{quoted(path.text)} is in a protected area; the tools do not touch it.",
                )
            case "secret":
                raise PathRefused(
                    "secret",
                    path.text,
                    f"{quoted(path.text)} usually holds secrets; only the user's own settings open it to the tools.",
                )
            case None:
                pass

    def read(self, path: RepoPath, limit: int | None = None) -> FileContent:
        """All bytes of a regular file of at most ``limit`` bytes (the policy's limit when not given).

        Raises ``PathRefused``.
        """
        self.allowed(path)
        self._regular(path)
        data, found = self._read(path, self.policy.max_file_bytes if limit is None else limit)
        return FileContent(data, FileStat.of(found))

    def read_walked(self, path: RepoPath) -> bytes:
        """All bytes of a file that a walk has just given, so that its name is in bounds. Raises ``PathRefused``."""
        return self._read(path, self.policy.max_file_bytes)[0]

    def sift(
        self, directory: RepoPath, names: Iterable[str], may_skip: Callable[[bytes], bool]
    ) -> Generator[str]:
        """Those of these files, which a walk has just given, that are worth a ``read``, as far as their bytes tell.

        ``may_skip`` is asked whether a file of these bytes may be passed over. What cannot be read, or is too large, is
        never passed over. What else is mounted over a file is not noticed here, so that nothing of the bytes is to be
        shown.
        """
        most = self.policy.max_file_bytes
        try:
            above = self._engine.open(directory.parts, OPEN_DIRECTORY)
        except OSError:
            yield from names
            return
        try:
            for name in names:
                data = _glanced(name, above, most)
                if data is None or not may_skip(data):
                    yield name
        finally:
            os.close(above)

    def pieces(self, path: RepoPath, size: int = 1 << 20) -> Iterator[bytes]:
        """The bytes of a regular file of any size, at most ``size`` of them at a time. Raises ``PathRefused``."""
        self.allowed(path)
        self._regular(path)
        descriptor = self._opened(path, OPEN_FILE)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _not_a_file(path, found.st_mode)
            while piece := os.read(descriptor, size):
                yield piece
        except OSError as error:
            raise self._explain(path, error) from None
        finally:
            os.close(descriptor)

    def stat(self, path: RepoPath) -> FileStat | None:
        """What is at the path, without opening it; a link there is a ``link``, nothing there is ``None``.

        Raises ``PathRefused`` for a link or something else on the way, and when it is out of bounds.
        """
        self.allowed(path)
        try:
            descriptor = self._engine.open(path.parts, OPEN_PATH)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._explain(path, error) from None
        try:
            return FileStat.of(os.fstat(descriptor))
        finally:
            os.close(descriptor)

    def entries(self, path: RepoPath) -> list[Entry]:
        """What a directory holds, by name, without what is protected; secrets are among them."""
        descriptor = self.open_directory(path)
        found: list[Entry] = []
        try:
            with os.scandir(descriptor) as listed:
                for item in listed:
                    below = path.child(item.name)
                    if self.area(below) == "protected":
                        continue
                    try:
                        result = item.stat(follow_symlinks=False)
                        kind = kind_of(result.st_mode)
                        where = os.readlink(item.name, dir_fd=descriptor) if kind == "link" else None
                    except FileNotFoundError:
                        continue
                    target = None if where is None else inside(below, where, str(self.root))
                    found.append(Entry(item.name, kind, result.st_size, target.text if target else None))
        except OSError as error:
            raise self._explain(path, error) from None
        finally:
            os.close(descriptor)
        return sorted(found, key=lambda entry: entry.name)

    def target(self, path: RepoPath) -> RepoPath | None:
        """Where the link at ``path`` points, when that is inside; ``None`` too when there is no link any more."""
        descriptor = self.open_directory(path.parent)
        try:
            return inside(path, os.readlink(path.name, dir_fd=descriptor), str(self.root))
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def open_directory(self, path: RepoPath) -> int:
        """A descriptor of the directory, opened for reading; the caller closes it. Raises ``PathRefused``."""
        self.allowed(path)
        return self._opened(path, OPEN_DIRECTORY)

    def walk(
        self,
        path: RepoPath = ROOT,
        *,
        depth: int | None = None,
        ignore: bool = True,
        secrets: bool = False,
        stop: Callable[[], bool] | None = None,
    ) -> TreeWalk:
        """Everything beneath a directory as ``(path, kind)``, except what is ignored, protected or secret.

        Links are given and not followed; other mounts are not entered. ``depth`` 1 is the directory's own
        entries. ``secrets`` gives the names of secret files too. What was left out is counted in the walk's
        ``left_out``. Raises ``PathRefused`` when the directory itself cannot be opened.
        """
        os.close(self.open_directory(path))
        return TreeWalk(self._engine, self._git, self, path, WalkOptions(depth, ignore, secrets, stop))

    def ignored(self, path: RepoPath) -> bool:
        """Whether ignore files leave the path out of lists and searches; it can be read by name all the same."""
        if not path.parts:
            return False
        place = place_of(self._engine, self._git, path.parent.parts)
        if place is None:
            return True
        descriptor = self.open_directory(path.parent)
        try:
            place, _ = place.governed(descriptor)
        finally:
            os.close(descriptor)
        found = self.stat(path)
        directory = found is not None and found.kind == "directory"
        return place.decision(path.name, directory, self._git.tracked) == "ignored"

    def files(self, limit: int | None = None, stop: Callable[[], bool] | None = None) -> list[str]:
        """Paths of the files that are not ignored, in order, at most ``limit``; for completion."""
        found: list[str] = []
        for above, names, kind, _ in self.walk(stop=stop).runs():
            if kind == "file":
                found += [above + name for name in names] if above else names
                if limit is not None and len(found) >= limit:
                    break
        return found[:limit]

    def _regular(self, path: RepoPath) -> None:
        """Refuse what is not a regular file before it is opened, so that no pipe or device notices."""
        descriptor = self._opened(path, OPEN_PATH)
        try:
            mode = os.fstat(descriptor).st_mode
        finally:
            os.close(descriptor)
        if stat.S_ISLNK(mode):
            raise self._explain(path, OSError(errno.ELOOP, ""))
        if not stat.S_ISREG(mode):
            raise _not_a_file(path, mode)

    def _read(self, path: RepoPath, most: int) -> tuple[bytes, os.stat_result]:
        """All bytes of a regular file of at most ``most`` bytes, whose name is in bounds, and its ``fstat``."""
        descriptor = self._opened(path, OPEN_FILE)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _not_a_file(path, found.st_mode)
            if found.st_size > most:
                raise _too_large(path, found.st_size, most)
            data = read_all(descriptor, found.st_size, most)
        except OSError as error:
            raise self._explain(path, error) from None
        finally:
            os.close(descriptor)
        if len(data) > most:
            raise _too_large(path, len(data), most)
        return data, found

    def _opened(self, path: RepoPath, flags: int) -> int:
        try:
            return self._engine.open(path.parts, flags)
        except OSError as error:
            raise self._explain(path, error) from None

    def _explain(self, path: RepoPath, error: OSError) -> PathRefused:
        if self._descriptor < 0:
            return PathRefused("unreadable", path.text, "The workspace is closed.")
        return explain(self._descriptor, str(self.root), path, error)


def find_root(start: Path) -> Path:
    """The repository that holds ``start``: the nearest directory with a real ``.git``, else ``start`` itself.

    Real is a directory with ``HEAD`` in it, or a file that begins with ``gitdir:``. For a file, the search
    begins at its directory.
    """
    real = start.resolve()
    if not real.is_dir():
        real = real.parent
    for directory in (real, *real.parents):
        if is_repository(directory / ".git"):
            return directory
    return real


def _beneath(state: Path | None, root: Path) -> tuple[str, ...] | None:
    """The folded names of the state directory from the workspace down, when it lies inside."""
    if state is None:
        return None
    try:
        parts = state.resolve().relative_to(root).parts
    except (ValueError, OSError):
        return None
    return _folded(RepoPath(parts)) if parts else None


def _folded(path: RepoPath) -> tuple[str, ...]:
    return tuple(folded(name)[0] for name in path.parts)


def _glanced(name: str, above: int, most: int) -> bytes | None:
    """The bytes of a file in the directory ``above``, quickly; ``None`` when it takes a closer look to have them."""
    try:
        descriptor = os.open(name, OPEN_FILE, dir_fd=above)
        try:
            # Much quicker than ``fstat``; a pipe has no end and is not read.
            size = os.lseek(descriptor, 0, os.SEEK_END)
            if size > most:
                return None
            data = os.pread(descriptor, size + 1, 0)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    # One that grows or shrinks meanwhile is read with more patience.
    return data if len(data) == size else None


def _not_a_file(path: RepoPath, mode: int) -> PathRefused:
    name = quoted(path.text)
    if stat.S_ISDIR(mode):
        return PathRefused("not-a-file", path.text, f"{name} is a directory, not a file.")
    what = (
        "a named pipe"
        if stat.S_ISFIFO(mode)
        else "a socket"
        if stat.S_ISSOCK(mode)
        else "a device"
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
        else "not a regular file"
    )
    return PathRefused("special", path.text, f"{name} is {what}; only regular files are read.")


def _too_large(path: RepoPath, size: int, most: int) -> PathRefused:
    return PathRefused(
        "too-large", path.text, f"{quoted(path.text)} has {size:,} bytes; at most {most:,} are read."
    )
