"""A disk in memory that knows what survives a power cut: what was synced, and any part of what was not.

The model is more hostile than a journalling file system: of the changes to one directory since it was last synced
any subset may survive, each change on its own being atomic; a file not synced since it was written holds its old
bytes, its new ones, none, a part, zeros, or new ones up to somewhere and old ones from there on. Renaming, linking
and exchanging are changes of directories; syncing a file does not sync its name.
"""

from __future__ import annotations

import errno
import os
import random
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steward.errors import PathRefused
from steward.proposals.disk import Disk, Ground
from steward.workspace import RepoPath
from tests.proposals.platter import Change, Choice, Node, choices

Snapshot = dict[str, tuple[str, int, bytes]]
"""Path to kind, mode (0 for a directory) and bytes."""


Names = Callable[[Node], "dict[str, tuple[str, Node]]"]
Content = Callable[[Node], bytes]


@dataclass
class _Open:
    node: Node
    position: int = 0


class ModelDisk(Disk):
    """The whole of a small machine; the workspace lies at ``/ws``, the state directory at ``/state``."""

    def __init__(self, *, ignore_case: bool = False) -> None:
        self._inodes = 0
        self._next_fd = 1000
        self._open: dict[int, _Open] = {}
        self._locks: dict[int, int] = {}
        self._nonces = 0
        self.ignore_case = ignore_case
        self.missing: frozenset[str] = frozenset()
        """Operations that this file system does not have: ``exchange``, ``rename_new``, ``link``."""
        self.version = 0
        """Counts every change, so that a visitor need not look twice at one state."""
        self.root = self._node(stat.S_IFDIR, 0o755)
        for name in ("ws", "state"):
            self.mkdir("/" + name, 0o755)
        self.settle()

    # What a test does with the machine

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file of the workspace and its directories, as another program would, into memory."""
        *parents, name = path.split("/")
        directory = self._lookup("/ws")
        for parent in parents:
            below = directory.names.get(self._key(parent))
            if below is None:
                self._change(directory, ("bind", parent, self._node(stat.S_IFDIR, 0o755)))
                below = directory.names[self._key(parent)]
            directory = below[1]
        there = directory.names.get(self._key(name))
        if there is not None and not there[1].directory:
            there[1].data, there[1].mode = data, mode
            self.version += 1
        else:
            node = self._node(stat.S_IFREG, mode)
            node.data = data
            self._change(directory, ("bind", name, node))

    def replace(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Put another file in the place of what is at the path, as an editor that renames does."""
        node = self._node(stat.S_IFREG, mode)
        node.data = data
        directory, name = self._split(f"/ws/{path}")
        self._change(directory, ("bind", name, node))

    def remove(self, path: str) -> None:
        """Remove a file of the workspace when it is there."""
        directory, name = self._split(f"/ws/{path}")
        if self._key(name) in directory.names:
            self._change(directory, ("unbind", name, ""))

    def snapshot(self, at: str = "/ws") -> Snapshot:
        """Everything beneath a directory."""
        found: Snapshot = {}

        def walk(node: Node, prefix: str) -> None:
            for name, child in node.names.values():
                path = prefix + name
                found[path] = ("directory", 0, b"") if child.directory else ("file", child.mode, child.data)
                if child.directory:
                    walk(child, path + "/")

        walk(self._lookup(at), "")
        return found

    def settle(self) -> None:
        """Make all there is durable."""
        for node in self._nodes():
            node.durable = (node.data, node.mode)
            node.durable_names = dict(node.names)
            node.pending.clear()

    def kill(self) -> ModelDisk:
        """The machine after its processes were killed: memory and platter as they are."""
        return self._copy(lambda node: node.data, lambda node: dict(node.names), keep=True)

    def cut(self, choice: Choice) -> ModelDisk:
        """The machine after a power cut with one choice of what survived."""

        def data(node: Node) -> bytes:
            if choice.kept(node):
                return node.data
            return choice.remains.get(node.ino, node.durable[0])

        def names(node: Node) -> dict[str, tuple[str, Node]]:
            bound = dict(node.durable_names)
            for number, change in enumerate(node.pending):
                if choice.kept(node, number):
                    self._bind(bound, change)
            return bound

        return self._copy(data, names, keep=False)

    def choices(self, samples: int, random_: random.Random) -> Iterator[Choice]:
        """What may survive a power cut now; see ``platter.choices``."""
        return choices(self._nodes(), samples, random_)

    # The seam

    def enter(self, ground: Ground, path: RepoPath) -> int:
        try:
            node = self._lookup("/".join(("/ws", *path.parts)))
        except FileNotFoundError:
            raise PathRefused("missing", path.text, f"There is no {path.text} in the workspace.") from None
        except NotADirectoryError:
            raise PathRefused("not-a-directory", path.text, f"{path.text} is not a directory.") from None
        if not node.directory:
            raise PathRefused("not-a-directory", path.text, f"{path.text} is not a directory.")
        return self._descriptor(node)

    def open(self, name: str, flags: int, mode: int = 0o600, *, at: int | None = None) -> int:
        directory, last = self._split(name, at)
        there = directory.names.get(self._key(last)) if last else ("/", self.root)
        if there is None:
            if not flags & os.O_CREAT:
                raise _error(errno.ENOENT)
            node = self._node(stat.S_IFREG, mode & ~0o022)
            self._change(directory, ("bind", last, node))
            return self._descriptor(node)
        if flags & os.O_EXCL and flags & os.O_CREAT:
            raise _error(errno.EEXIST)
        if flags & os.O_DIRECTORY and not there[1].directory:
            raise _error(errno.ENOTDIR)
        return self._descriptor(there[1])

    def close(self, fd: int) -> None:
        opened = self._open.pop(fd)
        if self._locks.get(opened.node.ino) == fd:
            del self._locks[opened.node.ino]

    def read(self, fd: int, size: int) -> bytes:
        opened = self._open[fd]
        piece = opened.node.data[opened.position : opened.position + size]
        opened.position += len(piece)
        return piece

    def write(self, fd: int, data: bytes | memoryview) -> int:
        opened = self._open[fd]
        node = opened.node
        node.data = node.data[: opened.position] + bytes(data) + node.data[opened.position + len(data) :]
        opened.position += len(data)
        self.version += 1
        return len(data)

    def fsync(self, fd: int) -> None:
        node = self._open[fd].node
        if node.dirty:
            self.version += 1
        node.durable = (node.data, node.mode)
        node.durable_names = dict(node.names)
        node.pending.clear()

    def datasync(self, fd: int) -> None:
        node = self._open[fd].node
        if node.durable[0] != node.data:
            self.version += 1
        node.durable = (node.data, node.durable[1])

    def stat(self, name: str, *, at: int) -> os.stat_result:
        directory, last = self._split(name, at)
        there = directory.names.get(self._key(last))
        if there is None:
            raise _error(errno.ENOENT)
        return _stat(there[1])

    def fstat(self, fd: int) -> os.stat_result:
        return _stat(self._open[fd].node)

    def writable(self, name: str, *, at: int) -> bool:
        return True

    def chmod(self, fd: int, mode: int) -> None:
        self._open[fd].node.mode = mode
        self.version += 1

    def chown(self, fd: int, uid: int, gid: int) -> None:
        raise AssertionError("all files of the model have one owner")

    def listxattr(self, fd: int) -> list[str]:
        return []

    def listdir(self, fd: int) -> list[str]:
        return [name for name, _ in self._open[fd].node.names.values()]

    def mkdir(self, name: str, mode: int = 0o777, *, at: int | None = None) -> None:
        directory, last = self._split(name, at)
        if self._key(last) in directory.names:
            raise _error(errno.EEXIST)
        self._change(directory, ("bind", last, self._node(stat.S_IFDIR, mode & ~0o022)))

    def rmdir(self, name: str, *, at: int) -> None:
        directory, last = self._split(name, at)
        there = directory.names.get(self._key(last))
        if there is None:
            raise _error(errno.ENOENT)
        if there[1].names:
            raise _error(errno.ENOTEMPTY)
        self._change(directory, ("unbind", last, ""))

    def unlink(self, name: str, *, at: int) -> None:
        directory, last = self._split(name, at)
        there = directory.names.get(self._key(last))
        if there is None:
            raise _error(errno.ENOENT)
        there[1].links -= 1
        self._change(directory, ("unbind", last, ""))

    def link(self, old: str, new: str, *, at: int) -> None:
        if "link" in self.missing:
            raise _error(errno.EPERM)
        directory = self._open[at].node
        if self._key(new) in directory.names:
            raise _error(errno.EEXIST)
        node = self._bound(directory, old)
        node.links += 1
        self._change(directory, ("bind", new, node))

    def rename(self, old: str, new: str, *, at: int) -> None:
        directory = self._open[at].node
        self._bound(directory, old)
        self._change(directory, ("move", old, new))

    def rename_new(self, old: str, new: str, *, at: int) -> None:
        if "rename_new" in self.missing:
            raise _error(errno.EINVAL)
        directory = self._open[at].node
        self._bound(directory, old)
        if self._key(new) in directory.names:
            raise _error(errno.EEXIST)
        self._change(directory, ("move", old, new))

    def exchange(self, one: str, other: str, *, at: int) -> None:
        if "exchange" in self.missing:
            raise _error(errno.EINVAL)
        directory = self._open[at].node
        self._bound(directory, one)
        self._bound(directory, other)
        self._change(directory, ("swap", one, other))

    def lock(self, fd: int) -> bool:
        holder = self._locks.setdefault(self._open[fd].node.ino, fd)
        return holder == fd

    def nonce(self) -> str:
        self._nonces += 1
        return f"{self._nonces:016x}"

    # Inside

    def _key(self, name: str) -> str:
        return name.casefold() if self.ignore_case else name

    def _node(self, kind: int, mode: int) -> Node:
        self._inodes += 1
        return Node(self._inodes, kind, mode)

    def _descriptor(self, node: Node) -> int:
        self._next_fd += 1
        self._open[self._next_fd] = _Open(node)
        return self._next_fd

    def _lookup(self, path: str) -> Node:
        node = self.root
        for name in path.split("/"):
            if name:
                if not node.directory:
                    raise _error(errno.ENOTDIR)
                node = self._bound(node, name)
        return node

    def _split(self, path: str, at: int | None = None) -> tuple[Node, str]:
        parent, _, name = path.rpartition("/")
        return (self._lookup(parent) if at is None else self._open[at].node), name

    def _bound(self, directory: Node, name: str) -> Node:
        there = directory.names.get(self._key(name))
        if there is None:
            raise _error(errno.ENOENT)
        return there[1]

    def _change(self, directory: Node, change: Change) -> None:
        self._bind(directory.names, change)
        directory.pending.append(change)
        self.version += 1

    def _bind(self, names: dict[str, tuple[str, Node]], change: Change) -> None:
        match change:
            case ("bind", name, Node() as node):
                names[self._key(name)] = (name, node)
            case ("unbind", name, _):
                names.pop(self._key(name), None)
            case ("move", old, str() as new):
                if self._key(old) in names:
                    names[self._key(new)] = (new, names.pop(self._key(old))[1])
            case ("swap", one, str() as other):
                left, right = names.get(self._key(one)), names.get(self._key(other))
                if left and right:
                    names[self._key(one)], names[self._key(other)] = (one, right[1]), (other, left[1])
            case _:
                raise AssertionError(change)

    def _nodes(self) -> list[Node]:
        """Every node that memory or platter can reach."""
        seen: dict[int, Node] = {}
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node.ino in seen:
                continue
            seen[node.ino] = node
            waiting += [child for _, child in (*node.names.values(), *node.durable_names.values())]
            waiting += [change[2] for change in node.pending if isinstance(change[2], Node)]
        return sorted(seen.values(), key=lambda node: node.ino)

    def _copy(self, data: Content, names: Names, *, keep: bool) -> ModelDisk:
        other = ModelDisk.__new__(ModelDisk)
        other._inodes, other._next_fd, other._nonces = self._inodes, 1000, self._nonces + 1000
        other._open, other._locks = {}, {}
        other.ignore_case, other.missing, other.version = self.ignore_case, self.missing, 0
        copies: dict[int, Node] = {}

        def copied(bound: dict[str, tuple[str, Node]]) -> dict[str, tuple[str, Node]]:
            return {key: (name, copy(node)) for key, (name, node) in bound.items()}

        def copy(node: Node) -> Node:
            there = copies.get(node.ino)
            if there is not None:
                return there
            mine = copies[node.ino] = Node(node.ino, node.kind, node.mode, data(node), links=node.links)
            mine.names = copied(names(node)) if node.directory else {}
            if keep:
                mine.durable = node.durable
                mine.durable_names = copied(node.durable_names)
                mine.pending = [
                    (what, name, copy(value) if isinstance(value, Node) else value)
                    for what, name, value in node.pending
                ]
            else:
                mine.mode = node.mode if mine.data == node.data else node.durable[1]
                mine.durable = (mine.data, mine.mode)
                mine.durable_names = dict(mine.names)
            return mine

        other.root = copy(self.root)
        return other


class ModelGround:
    """The workspace of the model."""

    identity = "0123456789abcdef"

    def allowed(self, path: RepoPath) -> None:
        """Everything is."""

    def open_directory(self, path: RepoPath) -> int:
        """The model's disk enters by itself."""
        raise AssertionError(path)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _stat(node: Node) -> os.stat_result:
    size = len(node.data)
    return os.stat_result((node.kind | node.mode, node.ino, 1, node.links, 0, 0, size, 0, 0, 0))
